# SPDX-License-Identifier: MIT
"""What the model of tests/bench/scaling rests on, measured here: ghosts counted, and the model against runs of two ranks."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

from scaling_model import (CROSSING, EXTRA_EXCHANGES, EXTRA_REDUCTIONS, GHOST_DEPTH, Cluster, Device, Link, exchange_times,
                           reduction_time, shell, widest_part, work_time)

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "mpi"))
from mpirun import environment  # noqa: E402, of the tests of several processes

HOURGLASS_SECTION = 1.4  # of the falling sand across z, over that of a cube: from the ghosts of two ranks, 1.29 to 1.36 N^(2/3)
FALLEN = 60              # steps until the sand has fallen together, and ghosts are counted
WARMUP = 30              # steps before iterations are timed


def output(command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(environment(), OMPI_MCA_mpi_yield_when_idle="1"))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with status {done.returncode}: {done.stderr.strip()[-400:]}")
    return done.stdout


def on_ranks(count, *command):
    return output(["mpirun", "--bind-to", "none", "-n", count, *command])


def bench(program, ranks, bodies, steps, iterations=50, warmup=WARMUP):
    """Figures of the falling hourglass on so many ranks of one thread."""
    return json.loads(on_ranks(ranks, program, "bench", "hourglass", "--bodies", bodies, "--start", "lattice", "--warmup", warmup,
                               "--steps", steps, "--iterations", iterations, "--backend", "mpi", "--threads", 1, "--json"))


# --- ghosts --------------------------------------------------------------------------------------------------


def slab_rows(program):
    """Ghosts of all ranks as the program counts them, beside those of slabs of equal size."""
    for bodies in (3000, 6000, 25000):
        for ranks in (2, 4, 8):
            counted = bench(program, ranks, bodies, 1, 20, FALLEN)
            part = widest_part(bodies, [1, 1, ranks], [1, 1, ranks], section=HOURGLASS_SECTION)
            modeled = part.ghosts / min(2, ranks - 1) * 2 * (ranks - 1)  # the outer two have one neighbor
            yield bodies, ranks, counted["ghosts"], modeled, counted["messages"] / counted["exchanges"]


def exported(program, bodies):
    """Positions of the bodies and pairs that touch, after the steps of `bench` above."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "sand.csv"
        output([program, "export", "hourglass", "--bodies", bodies, "--start", "lattice", "--seconds", FALLEN / 100, "--iterations", 20,
                "--export-rate", 100 / FALLEN, "--export-contacts", "--export-columns", "position", "--out", file])
        with open(file) as lines, open(file.with_name("sand-contacts.csv")) as contact_lines:
            frames = list(csv.DictReader(lines))
            last = frames[-1]["step"]
            positions = {row["body"]: [float(row[f"position_{axis}"]) for axis in "xyz"] for row in frames if row["step"] == last}
            return positions, [(row["a"], row["b"]) for row in csv.DictReader(contact_lines)
                               if row["step"] == last and row["a"] in positions and row["b"] in positions]


def bisect(positions, bodies, halvings):
    """Recursive bisection across the longest axis: 2^halvings lists of bodies."""
    if halvings == 0:
        return [bodies]
    extent = [max(positions[i][k] for i in bodies) - min(positions[i][k] for i in bodies) for k in range(3)]
    axis = extent.index(max(extent))
    bodies = sorted(bodies, key=lambda i: positions[i][axis])
    half = len(bodies) // 2
    return bisect(positions, bodies[:half], halvings - 1) + bisect(positions, bodies[half:], halvings - 1)


def cut(positions, pairs, halvings):
    """(ghosts of each part, neighbors of each part, contacts across borders) of compact parts."""
    parts = bisect(positions, list(positions), halvings)
    owner = {body: part for part, bodies in enumerate(parts) for body in bodies}
    ghosts, neighbors, crossing = [set() for _ in parts], [set() for _ in parts], 0
    for a, b in pairs:
        if owner[a] != owner[b]:
            crossing += 1
            for own, other in ((a, b), (b, a)):
                ghosts[owner[own]].add(other)
                neighbors[owner[own]].add(owner[other])
    return [len(found) for found in ghosts], [len(found) for found in neighbors], crossing


def block_rows(program, bodies=25000):
    """Ghosts of the compact part with the most of them, beside those of a cube with neighbors on all sides."""
    positions, pairs = exported(program, bodies)
    for halvings in range(4, 8):
        ghosts, neighbors, crossing = cut(positions, pairs, halvings)
        own = len(positions) / 2 ** halvings
        yield 2 ** halvings, own, max(ghosts), shell([own ** (1 / 3)] * 3, [2 * GHOST_DEPTH] * 3), max(neighbors), \
            2 * crossing / sum(ghosts)


def print_ghosts(program):
    print("slabs, counted by the program\nbodies  ranks  ghosts  modeled  messages an exchange")
    for bodies, ranks, ghosts, modeled, messages in slab_rows(program):
        print(f"{bodies:6,} {ranks:6} {ghosts:7,} {modeled:8,.0f} {messages:9.0f}", flush=True)
    print("compact parts, cut from exported contacts\nparts  bodies  most ghosts  modeled  most neighbors  contacts across a ghost")
    for parts, own, ghosts, modeled, neighbors, crossing in block_rows(program):
        print(f"{parts:5} {own:7,.0f} {ghosts:12,} {modeled:8,.0f} {neighbors:15} {crossing:10.2f}   (modeled {CROSSING})")


# --- two ranks -----------------------------------------------------------------------------------------------


def measured_link():
    """Messages between two ranks of this machine."""
    with tempfile.TemporaryDirectory() as folder:
        output(["mpicc", "-O2", HERE / "pingpong.c", "-o", f"{folder}/pingpong"])
        figures = json.loads(on_ranks(2, f"{folder}/pingpong"))
        return Link(figures["message_us"], figures["gb_s"])


def fastest(program, bodies, repeat):
    """Figures of one rank and of two, the fastest of several runs in turn: other work comes and goes."""
    runs = [(bench(program, 1, bodies, 10), bench(program, 2, bodies, 10)) for _ in range(repeat)]
    return [min(figures, key=lambda found: found["iteration_us"]) for figures in zip(*runs)]


def predicted_iteration(cluster, bodies, ranks, contacts, iterations):
    """Microseconds of an iteration on ranks, slabs of the hourglass, with the exchanges and reductions of the start and the end."""
    part = widest_part(bodies, [1, 1, ranks], [1, 1, ranks], section=HOURGLASS_SECTION)
    return work_time(cluster, part, contacts / ranks) + \
        sum(exchange_times(cluster, part)) * (iterations + EXTRA_EXCHANGES) / iterations + \
        reduction_time(cluster, ranks) * (iterations + EXTRA_REDUCTIONS) / iterations


def print_validation(program, repeat=5):
    """Predicts iterations of two ranks from those of one rank and the link between them, and runs them."""
    link = measured_link()
    print(f"messages between two ranks: {link.us:.2f} us, {link.gb_s:.1f} GB/s", flush=True)
    runs = [fastest(program, bodies, repeat) for bodies in (300, 600, 1500, 3000, 6000, 12000, 25000)]
    points = tuple((one["contacts"], one["iteration_us"]) for one, _ in runs)
    cluster = Cluster(Device(iteration=points, phases=(), contacts=()), inside=link, launch_us=0, slabs=True)
    print("us an iteration\nbodies   one rank  two predicted  two measured  measured over predicted")
    for one, two in runs[1:]:
        predicted = predicted_iteration(cluster, one["bodies"], 2, one["contacts"], one["iterations"])
        print(f"{one['bodies']:6,} {one['iteration_us']:10,.0f} {predicted:14,.0f} {two['iteration_us']:13,.0f} "
              f"{two['iteration_us'] / predicted:10.2f}", flush=True)
