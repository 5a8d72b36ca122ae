# SPDX-License-Identifier: MIT
"""Balls and walls with closed forms: bounce, oblique impact, sliding to rolling, ball between walls, ball in a groove.

A step changes velocities before positions, and an impact falls inside a step: the contact acts at the beginning of that step, up
to h |u| early. So there are two closed forms. That of the scheme includes the step, and has to be met to GATE; that of the
continuous motion is approached as h shrinks, and the table shows how fast. The point of a contact that acts early is in the middle
of its gap, so that arms are longer than radii by half the gap.
"""

import math

GATE = 1e-6
STEPS = (0.01, 0.005, 0.0025)
RADIUS, LARGE, SPIN, G = 0.1, 0.15, 10, 9.81
MU, E = 0.3, 0.7  # of impacts
FLOOR = "  - {name: floor, shape: plane}"


def chapter(lab):
    lab.say("## two_bodies: closed forms\n")
    lab.say(
        "An impact falls inside a step, and acts at its beginning, up to h |u| early. *Scheme* is the largest relative error against the "
        f"closed form of the time stepping, which is held to {GATE:g}; the others are relative to the continuous motion, and shrink with h.\n"
    )
    parts = (bounce, oblique, two_balls, slide, between_walls, groove)
    rows, curves = [], []
    for part in parts:
        for name, scheme, errors in part(lab):
            order = math.log2(errors[0] / errors[-1]) / math.log2(STEPS[0] / STEPS[-1]) if min(errors) > 1e-10 else None
            rows.append([name, f"{scheme:.1e}", *(f"{e:.1e}" for e in errors), f"{order:.2f}" if order else "exact"])
            curves += [(name, "", list(zip(STEPS, errors)))] if order else []
            lab.verdict(name, "closed form", "mechanics", f"{scheme:.1e}", scheme < GATE)
    lab.table(["quantity", "scheme", *(f"h = {h:g} s" for h in STEPS), "order in h"], rows)
    lab.sheet("two_bodies", "two bodies, distance from the continuous motion", [("time step;s;log", "relative error;;log", curves)])


def ball(name, position, velocity=(0, 0, 0), spin=(0, 0, 0), radius=RADIUS):
    return (
        f"  - {{name: {name}, shape: sphere, radius: {radius}, position: {list(position)}, velocity: {list(velocity)}, spin: {list(spin)}}}"
    )


def paths(lab, bodies, seconds, boundaries=FLOOR, gravity=-G, mu=0, restitution=0, friction="coulomb", forces=()):
    """A run for each step; every body, in the order of `bodies`, has the path b0, b1, ..."""
    probes = [f"  - {{name: {name}, kind: path, body: {name}}}" for name in (text.split("name: ")[1].split(",")[0] for text in bodies)]
    probes += [f"  - {{name: {name}, kind: force, boundary: {name}}}" for name in forces]
    scenes = [
        lab.scene(
            "two_bodies",
            step=h,
            seconds=seconds,
            gravity=gravity,
            friction=friction,
            mu=mu,
            restitution=restitution,
            boundaries=boundaries,
            bodies="\n".join(bodies),
            probes="\n".join(probes),
        )
        for h in STEPS
    ]
    solver = ("--solver", "apgd") if friction == "cone" else ()  # ngs-newton solves the law alone
    return lab.runs([(scene, "--precision", "double", *solver) for scene in scenes])


def relative(a, b):
    return abs(a - b) / max(abs(b), 1e-300)


def bounce(lab):
    """Heights and times of the apexes of a ball that falls from 1 m."""
    for e in (0.5, 0.9):
        scheme, heights, times = 0, [], []
        runs = paths(lab, [ball("b0", (0, 0, 1 + RADIUS))], 3, restitution=e)
        for h, run in zip(STEPS, runs):
            found = apexes(run.probe("b0"), h)[:4]
            scheme = max(scheme, max(relative(z, e ** (2 * n) * (1 + G * h * h / 8)) for n, (_, z) in enumerate(found)))
            heights.append(max(relative(z, e ** (2 * n)) for n, (_, z) in enumerate(found)))
            times.append(max(relative(t, apex_time(n, e)) for n, (t, _) in enumerate(found) if n))
        yield f"bounce, e = {e}: height of the first bounces", scheme, heights
        lab.say(
            f"e = {e}: the times of the apexes differ by {', '.join(f'{t:.1e}' for t in times)} of themselves at h = "
            f"{', '.join(f'{h:g}' for h in STEPS)} s, since a bounce begins a part of a step early.\n"
        )


def apexes(path, h):
    """(time, height) of the tops of the parabolas through the samples; a step is on the parabola with speed v - g h / 2."""
    tops = [path[0]] + [b for a, b in zip(path, path[1:]) if a["velocity_z_m_s"] < 0 < b["velocity_z_m_s"]]
    speeds = [row["velocity_z_m_s"] - G * h / 2 for row in tops]
    return [(row["time_s"] + w / G, row["z_m"] - RADIUS + w * w / (2 * G)) for row, w in zip(tops, speeds)]


def apex_time(n, e):
    return math.sqrt(2 / G) * (1 + 2 * sum(e**k for k in range(1, n)) + e**n)


def hard_impact(u_n, u_t, mu, e, turn):
    """Impulses (normal, tangential) over the reduced mass of Coulomb's impact: it sticks or slides throughout. `turn` is the
    inverse inertia across the normal over that along it, 3.5 for solid spheres that touch."""
    normal = (1 + e) * u_n
    return normal, math.copysign(min(abs(u_t) / turn, mu * normal), u_t)


def distance(ours, truth):
    return max(abs(a - b) / (1 + abs(b)) for a, b in zip(ours, truth))


def oblique(lab):
    """Impacts on a floor at angles from steep to grazing, with spins, without gravity."""
    cases = [(vx, wy) for vx in (0.1, 0.5, 1, 2, 5) for wy in (-20, 0, 20)]
    bodies = [ball(f"b{k}", (0, k, RADIUS + 0.0597), (vx, 0, -1), (0, wy, 0)) for k, (vx, wy) in enumerate(cases)]
    scheme, errors = 0, []
    for run in paths(lab, bodies, 0.2, gravity=0, mu=MU, restitution=E):
        worst = 0
        for k, case in enumerate(cases):
            path = run.probe(f"b{k}")
            before = [row["z_m"] for row in path if row["velocity_z_m_s"] < 0][-1]
            ours = [path[-1][key] for key in ("velocity_x_m_s", "velocity_z_m_s", "spin_y_rad_s")]
            scheme = max(scheme, distance(ours, floor_impact(*case, (RADIUS + before) / 2)))
            worst = max(worst, distance(ours, floor_impact(*case, RADIUS)))
        errors.append(worst)
    yield "oblique impact: velocity and spin after it, 15 cases, sliding and sticking", scheme, errors


def floor_impact(vx, wy, arm):
    """(vx, vz, spin) after an impact at 1 m/s down whose point is `arm` below the center."""
    normal, tangential = hard_impact(1, vx - arm * wy, MU, E, 1 + 2.5 * (arm / RADIUS) ** 2)
    return vx - tangential, normal - 1, wy + 2.5 * tangential * arm / RADIUS**2


def two_balls(lab):
    """A ball hits a larger one that rests, off center and spinning; the normal of the scheme is that at the beginning of the step."""
    offset = 0.1
    bodies = [ball("b0", (-0.5288, offset, 1), (1, 0, 0), (0, 0, SPIN)), ball("b1", (0, 0, 1), radius=LARGE)]
    scheme, errors = 0, []
    for run in paths(lab, bodies, 0.6, gravity=0, mu=MU, restitution=E):
        small, big = run.probe("b0"), run.probe("b1")
        hit = next(k for k, row in enumerate(big) if row["velocity_x_m_s"])
        early = [big[hit - 1][key] - small[hit - 1][key] for key in ("x_m", "y_m")]
        ours = [small[-1][key] for key in ("velocity_x_m_s", "velocity_y_m_s", "spin_z_rad_s")]
        scheme = max(scheme, distance(ours, pair_impact(*early)))
        errors.append(distance(ours, pair_impact(math.sqrt((RADIUS + LARGE) ** 2 - offset**2), -offset)))
    yield "two balls off center: velocity and spin after it", scheme, errors


def pair_impact(x, y):
    """Velocity and spin of the smaller ball (1 m/s along x, SPIN about z) after the impact, with (x, y) from center to center."""
    length = math.hypot(x, y)
    nx, ny, half = x / length, y / length, (length - RADIUS - LARGE) / 2
    share = LARGE**3 / (RADIUS**3 + LARGE**3)  # reduced mass over that of the smaller ball
    arm = RADIUS + half
    turn = 1 + 2.5 * (share * (arm / RADIUS) ** 2 + (1 - share) * ((LARGE + half) / LARGE) ** 2)
    normal, tangential = hard_impact(nx, SPIN * arm - ny, MU, E, turn)
    jx, jy = -share * (normal * nx - tangential * ny), -share * (normal * ny + tangential * nx)
    return 1 + jx, jy, SPIN - share * tangential * 2.5 * arm / RADIUS**2


def slide(lab):
    """A ball starts at 1 m/s without spin, slides, and rolls at 5/7 of it; its speed, and its way after 1 s."""
    mu = 0.2
    bodies = [ball("b0", (0, 0, RADIUS), (1, 0, 0))]
    truth = slide_way(1, mu)
    for model in ("coulomb", "cone"):
        speed, scheme, ways = 0, 0, []
        for h, run in zip(STEPS, paths(lab, bodies, 1, mu=mu, friction=model)):
            last = run.probe("b0")[-1]
            speed = max(speed, relative(last["velocity_x_m_s"], 5 / 7), relative(last["spin_y_rad_s"], 5 / 7 / RADIUS))
            scheme = max(scheme, relative(last["x_m"], stepped_way(h, mu)))
            ways.append(relative(last["x_m"], truth))
        if model == "coulomb":
            yield "sliding to rolling: speed and spin at the end", speed, [speed] * 3
            yield "sliding to rolling: way after 1 s", scheme, ways
        else:
            lab.say(
                f"The associated cone in place of Coulomb's law ends at the same speed (to {speed:.0e}); its way after 1 s differs by "
                f"{', '.join(f'{w:.1e}' for w in ways)}: a contact that slides floats at h mu |u_T|, which vanishes with h.\n"
            )


def slide_way(time, mu):
    ends = 2 / (7 * mu * G)
    return ends - mu * G * ends**2 / 2 + 5 / 7 * (time - ends)


def stepped_way(h, mu):
    speed, way = 1.0, 0.0
    for _ in range(round(1 / h)):
        speed = max(speed - mu * G * h, 5 / 7)
        way += h * speed
    return way


def between_walls(lab):
    """A ball between two walls, without gravity: its speed after each bounce, and when the eighth comes."""
    e, gap = 0.9, 0.3141
    walls = "\n".join(
        [
            f"  - {{name: left, shape: plane, normal: [1, 0, 0], position: [{-RADIUS}, 0, 0]}}",
            f"  - {{name: right, shape: plane, normal: [-1, 0, 0], position: [{gap + RADIUS}, 0, 0]}}",
        ]
    )
    scheme, times = 0, []
    for run in paths(lab, [ball("b0", (0, 0, 0), (1, 0, 0))], 5, boundaries=walls, gravity=0, restitution=e):
        path = run.probe("b0")
        hits = [b for a, b in zip(path, path[1:]) if a["velocity_x_m_s"] * b["velocity_x_m_s"] < 0]
        scheme = max(scheme, max(relative(abs(row["velocity_x_m_s"]), e ** (n + 1)) for n, row in enumerate(hits)))
        times.append(relative(hits[7]["time_s"], gap * sum(e**-k for k in range(8))))
    yield "ball between walls: speed after each bounce", scheme, [scheme] * 3
    lab.say(
        f"Between walls the eighth bounce comes {', '.join(f'{t:.1e}' for t in times)} of its time away from the continuous one, at h = "
        f"{', '.join(f'{h:g}' for h in STEPS)} s.\n"
    )


def groove(lab):
    """A ball at rest between walls of 30 and 50 degrees without friction: what each of them carries."""
    a, b = math.radians(30), math.radians(50)
    walls = "\n".join(
        [
            f"  - {{name: gentle, shape: plane, normal: [{math.sin(a)}, 0, {math.cos(a)}]}}",
            f"  - {{name: steep, shape: plane, normal: [{-math.sin(b)}, 0, {math.cos(b)}]}}",
        ]
    )
    x = RADIUS * (math.cos(b) - math.cos(a)) / math.sin(a + b)
    z = RADIUS * (math.sin(a) + math.sin(b)) / math.sin(a + b)
    weight = 2500 * 4 / 3 * math.pi * RADIUS**3 * G
    errors = []
    for run in paths(lab, [ball("b0", (x, 0, z))], 0.2, boundaries=walls, forces=("gentle", "steep")):
        loads = [math.hypot(last["force_x_n"], last["force_z_n"]) for last in (run.probe(name)[-1] for name in ("gentle", "steep"))]
        errors.append(
            max(relative(loads[0], weight * math.sin(b) / math.sin(a + b)), relative(loads[1], weight * math.sin(a) / math.sin(a + b)))
        )
    yield "ball in a groove: forces on its walls", max(errors), errors
