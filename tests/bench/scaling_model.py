# SPDX-License-Identifier: MIT
"""A model of one step over many GPUs: what each computes, what it exchanges with its neighbors, what all of them reduce.

Space is a cube of sand, cut into one part for each GPU. A part is `sides` long, in bodies; along an axis it has 0, 1 or 2 sides
with a neighbor. Times of a GPU are those measured on one (tests/bench/results/step-h200.txt), times between GPUs follow from
latency and bandwidth of the wires. tests/bench/scaling prints the tables, docs/reports/2026-11-scaling.md says what is assumed.
"""
import dataclasses
import math
import pathlib
import re

RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "step-h200.txt"

# What is sent, counted by `bench --backend mpi --json` (docs/ranks.md, "What is sent").
GHOST_BYTES = 6 * 4         # velocity and spin of a ghost in float, once in an exchange
STATE_BYTES = 13 * 8        # position, rotation, velocity and spin of a ghost, once in a step, for its contacts to be found
SUM_BYTES = 8 * 8           # eight sums in double, of each chunk of contacts
CHUNKS = 64                 # of contacts, for the sums; at least one for each GPU
EXTRA_EXCHANGES = 2         # products of a solve beside those of its iterations: start and end
EXTRA_REDUCTIONS = 3        # of packing and start

# Ghosts, counted in the contacts of 100,000 spheres cut into 32 to 256 parts (tests/bench/results/scaling-ghosts.txt).
GHOST_DEPTH = 0.93          # layers of bodies beyond a border that touch something within it: 0.92 to 0.95
CROSSING = 2.6              # contacts across the border for each ghost: 2.4 to 2.7


@dataclasses.dataclass(frozen=True)
class Link:
    """What joins two GPUs."""
    us: float    # latency of a message
    gb_s: float  # bandwidth of a GPU, each way


@dataclasses.dataclass(frozen=True)
class Device:
    """What one GPU takes, measured: points to interpolate between, by size."""
    iteration: tuple          # (contacts, microseconds of an iteration)
    phases: tuple             # (bodies, milliseconds of a step outside its iterations)
    contacts: tuple           # (bodies, contacts)
    contact_bytes: float = 165      # of a contact in an iteration, counted by the GPU (step-h200.txt)
    copy_tb_s: float = 3.95         # of a plain copy, measured (step-h200.txt)
    body_bytes: float = 1423        # of GPU memory, measured at a hundred million (step-h200.txt)
    memory_gib: float = 139         # of an H200


@dataclasses.dataclass(frozen=True)
class Cluster:
    """GPUs in nodes. All but the device is assumed, none measured."""
    device: Device
    node: int = 8                          # GPUs of a node
    inside: Link = Link(3, 450)            # NVLink 4
    between: Link = Link(5, 50)            # 400 Gbit/s for each GPU
    post_us: float = 1                     # each message after the first: its pieces packed, its transfer posted
    launch_us: float = 10                  # of an iteration that ends to exchange: on one GPU all iterations are one launch
    overlap: bool = False                  # exchanges behind the work inside a part
    slabs: bool = False                    # parts are slabs along one axis in place of blocks


@dataclasses.dataclass(frozen=True)
class Part:
    """The part of the GPU with the most neighbors: what it has of others, and how much of that is in its node."""
    bodies: float
    ghosts: float
    ghosts_inside: float
    neighbors: int
    neighbors_inside: int


# --- measured ------------------------------------------------------------------------------------------------


def numbers(text):
    return [float(word.replace(",", "")) for word in text.split()]


def measured_rows(text):
    """Rows of the table "Steps" with all their columns: for each number of bodies the one with the most iterations."""
    rows = {}
    for line in text.split("== Steps ==")[1].split("\n== ")[0].splitlines():
        if re.match(r"[\d,]+(\s+[\d.,]+){9}", line):
            bodies, contacts, iterations, step, *_, us, _ = numbers(" ".join(line.split()[:10]))
            if iterations >= rows.get(bodies, [0, 0])[1]:
                rows[bodies] = [contacts, iterations, step, us]
    return rows


def smallest_iteration(text):
    """(contacts, us) of the smallest solve that was timed: what an iteration takes when there is next to nothing to do."""
    contacts, us = re.search(r"^p-spg-fb +cone +radial +(\d+) contacts.* ([\d.]+) us an iteration", text, re.M).groups()
    return float(contacts), float(us)


def measured_device(path=RESULTS):
    """An H200, from what was measured on one. What a step has beside its iterations is all the rest of it."""
    text = path.read_text()
    rows = sorted(measured_rows(text).items())
    iteration = [(row[0], row[3]) for _, row in rows]
    return Device(iteration=(smallest_iteration(text), *iteration),
                  phases=tuple((bodies, row[2] - row[1] * row[3] / 1e3) for bodies, row in rows),
                  contacts=tuple((bodies, row[0]) for bodies, row in rows))


def interpolate(points, x):
    """Between measured points along powers; below the first its value, since what is left is latency; above the last its ratio."""
    if x <= points[0][0]:
        return points[0][1]
    if x >= points[-1][0]:
        return points[-1][1] * x / points[-1][0]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x <= x1:
            return y0 * (y1 / y0) ** (math.log(x / x0) / math.log(x1 / x0))


def contact_count(device, bodies):
    first, contacts = device.contacts[0]
    return contacts * bodies / first if bodies < first else interpolate(device.contacts, bodies)


# --- parts ---------------------------------------------------------------------------------------------------


def blocks(count):
    """Parts along each axis: prime factors, the largest first, each for the axis that has the fewest parts so far."""
    axes, factor, factors = [1, 1, 1], 2, []
    while count > 1:
        while count % factor == 0:
            factors.append(factor)
            count //= factor
        factor += 1
    for factor in reversed(factors):
        axes[axes.index(min(axes))] *= factor
    return axes


def shell(sides, layers):
    """Bodies around a block of these sides, `layers` thick in all along each axis: edges and corners too."""
    return math.prod(s + t for s, t in zip(sides, layers)) - math.prod(sides)


def widest_part(bodies, grid, node_grid, depth=GHOST_DEPTH, section=1.0):
    """The part with the most neighbors. `section`: of the sand along its last axis, over that of a cube."""
    width = math.sqrt(section) * bodies ** (1 / 3)
    sides = [length / parts for length, parts in zip((width, width, bodies / width ** 2), grid)]
    reach = [math.ceil(depth / side) for side in sides]  # how many parts the layer of ghosts goes through
    near = [min(2 * r, p - 1) for r, p in zip(reach, grid)]
    near_inside = [n if p == q else min(r, q - 1) for n, p, q, r in zip(near, grid, node_grid, reach)]
    layers = [depth * min(2, p - 1) for p in grid]
    layers_inside = [t if p == q else depth * min(1, q - 1) for t, p, q in zip(layers, grid, node_grid)]
    own = bodies / math.prod(grid)
    ghosts = min(shell(sides, layers), bodies - own)
    return Part(own, ghosts, min(shell(sides, layers_inside), ghosts), math.prod(n + 1 for n in near) - 1,
                math.prod(n + 1 for n in near_inside) - 1)


def subdomain_of(cluster, bodies, gpus):
    cut = (lambda count: [1, 1, count]) if cluster.slabs else blocks
    return widest_part(bodies, cut(gpus), cut(min(gpus, cluster.node)))


# --- times, in microseconds ----------------------------------------------------------------------------------


def exchange_times(cluster, part, ghost_bytes=GHOST_BYTES):
    """(latency, bandwidth) of one message to each neighbor: all are posted, then waited for. The wires work side by side."""
    if not part.neighbors:
        return 0, 0
    outside = part.neighbors > part.neighbors_inside
    latency = (cluster.between if outside else cluster.inside).us + cluster.post_us * (part.neighbors - 1)
    inside = part.ghosts_inside * ghost_bytes / cluster.inside.gb_s
    between = (part.ghosts - part.ghosts_inside) * ghost_bytes / cluster.between.gb_s
    return latency, max(inside, between) / 1e3


def reduction_time(cluster, gpus):
    """Every GPU gets the sums of all chunks, by recursive doubling: first within the node, then between nodes."""
    inside = math.ceil(math.log2(min(gpus, cluster.node)))
    between = math.ceil(math.log2(max(gpus / cluster.node, 1)))
    wire = cluster.between if between else cluster.inside
    sent = max(CHUNKS, gpus) * SUM_BYTES * (1 - 1 / gpus)
    return inside * cluster.inside.us + between * cluster.between.us + sent / wire.gb_s / 1e3


def work_time(cluster, part, contacts):
    """An iteration over the contacts of this part's bodies; those across a border are computed on both sides."""
    return interpolate(cluster.device.iteration, contacts + CROSSING * part.ghosts / 2)


# --- predictions ---------------------------------------------------------------------------------------------


def predict(cluster, bodies, gpus, contacts, iterations):
    """Times of a step in milliseconds by what they are spent on, and what takes most of it."""
    part = subdomain_of(cluster, bodies, gpus)
    work = work_time(cluster, part, contacts / gpus)
    latency, bandwidth = exchange_times(cluster, part)
    exchanges = iterations + EXTRA_EXCHANGES
    state = sum(exchange_times(cluster, part, STATE_BYTES))
    spent = {"iterations": iterations * work, "phases": 1e3 * interpolate(cluster.device.phases, part.bodies + part.ghosts),
             "launches": iterations * cluster.launch_us if gpus > 1 else 0, "messages": exchanges * latency + state,
             "bandwidth": exchanges * bandwidth, "reductions": (iterations + EXTRA_REDUCTIONS) * reduction_time(cluster, gpus)}
    if cluster.overlap:  # what the inner work does not hide remains
        hidden = min(latency + bandwidth, work)
        share = 1 - hidden / (latency + bandwidth) if part.neighbors else 1
        spent["messages"] = exchanges * latency * share + state
        spent["bandwidth"] *= share
    spent = {name: us / 1e3 for name, us in spent.items()}
    return {"gpus": gpus, "bodies": bodies, "ghosts": part.ghosts, "neighbors": part.neighbors, "step": sum(spent.values()),
            "spent": spent, "binds": binding(cluster.device, spent, contacts / gpus, work),
            "fits": part.bodies * cluster.device.body_bytes <= cluster.device.memory_gib * 2 ** 30}


def binding(device, spent, contacts, work):
    """What takes the largest part of the step, by the resource that it waits for."""
    most = max(spent, key=spent.get)
    streaming = contacts * device.contact_bytes / (device.copy_tb_s * 1e6)
    words = {"iterations": "memory bandwidth" if streaming > work / 2 else "GPU latency", "phases": "other phases", "launches": "launches",
             "messages": "messages", "bandwidth": "link bandwidth", "reductions": "reductions"}
    return words[most]


def weak(cluster, bodies_a_gpu, counts, iterations):
    """The same number of bodies on each GPU: the efficiency is the time of one over that of many."""
    contacts = contact_count(cluster.device, bodies_a_gpu)
    rows = [predict(cluster, bodies_a_gpu * gpus, gpus, contacts * gpus, iterations) for gpus in (1, *counts)]
    return [dict(row, efficiency=rows[0]["step"] / row["step"]) for row in rows]


def strong(cluster, bodies, counts, iterations):
    """The same bodies on more and more GPUs: the efficiency is the time of one over the time of many, of all of them together."""
    contacts = contact_count(cluster.device, bodies)
    rows = [predict(cluster, bodies, gpus, contacts, iterations) for gpus in (1, *counts)]
    return [dict(row, efficiency=rows[0]["step"] / (row["gpus"] * row["step"])) for row in rows]
