# SPDX-License-Identifier: MIT
"""Preclik et al. 2009: CPG against PGS and Newton."""
from lab import contacts_of, curve, reached, spread

PGS = ("--solver", "gauss-seidel", "--set", "order=sequential")
STRONG = """name: settling
about: Spheres settle in a box and are not yet at rest.
seconds: 5
step: 0.01
size: {bodies: 700}
solver: {name: p-spg-fb, iterations: 200}
materials:
  - {name: ball, density: 1500, mu: 0.8}
boundaries:
  - {name: floor, shape: plane, normal: [0, 0, 1]}
  - {name: left, shape: plane, normal: [1, 0, 0], position: [-1, 0, 0]}
  - {name: right, shape: plane, normal: [-1, 0, 0], position: [1, 0, 0]}
  - {name: front, shape: plane, normal: [0, 1, 0], position: [0, -1, 0]}
  - {name: back, shape: plane, normal: [0, -1, 0], position: [0, 1, 0]}
fills:
  - radius: 0.1
    lattice: {spacing: 0.22, jitter: 0.008, from: 0.15}
    region: {box: [1.8, 1.8], inside: true}
"""


def chapter(lab):
    lab.say("## preclik2009: CPG against PGS, and Newton\n")
    with open(lab.path("settling.yaml"), "w") as f:
        f.write(STRONG)
    path = lab.freeze(lab.path("settling.yaml"), 700, 1.5)
    lab.say(f"{contacts_of(path)} contacts between spheres that settle in a box (the paper: 1702), mu = 0.8. The paper plots largest norms; "
            "residuals here are 2-norms, velocity errors are the largest.\n")
    residuals(lab, path)
    errors(lab, path)
    active_sets(lab, path)


def share(a, b):
    return f"{a / b:.2g}" if "-" not in (a, b) else "an unknown number"


def residuals(lab, path):
    lab.say("Fig. 2, iterations to a part of the first residual:\n")
    rows, curves = [], []
    asked = (("frictionless", "cpg,gauss-seidel", "presolve"), ("box", "cpg,gauss-seidel", "presolve"),
             ("coulomb", "ngs", "presolve"), ("box", "cpg,gauss-seidel", "inside"))
    for model, solvers, bounds in asked:
        race = lab.race(path, solvers, 20000, "--friction", model, "--bounds", bounds, *PGS)
        for name, e in race.items():
            at = [reached(e, goal * e["curve"][0]["residual"]) for goal in (1e-2, 1e-4, 1e-8)]
            title = "pyramid, bounds adapted inside" if bounds == "inside" else model
            rows.append([title, name, *(p["iteration"] if p else "-" for p in at), f"{e['residual']:.1e}"])
            curves.append((f"{name}, {title}", "", curve(e, "residual", 1e-13)))
    lab.table(["friction", "solver", "1e-2", "1e-4", "1e-8", "residual at the end (m/s)"], rows)
    count = {(row[0], row[1]): row[4] for row in rows}  # to 1e-8
    ratio = {model: share(count[model, "cpg"], count[model, "gauss-seidel"]) for model in ("frictionless", "box")}
    lab.say("The paper: CPG needs half of PGS's iterations without friction and with the box, both three times as many with the box; with cones "
            f"both are far slower, CPG jitters, and all may fail where friction is strong. Here cpg needs {ratio['frictionless']} of "
            f"gauss-seidel's to 1e-8 without friction and {ratio['box']} with the box; with the box cpg needs "
            f"{share(count['box', 'cpg'], count['frictionless', 'cpg'])} and gauss-seidel "
            f"{share(count['box', 'gauss-seidel'], count['frictionless', 'gauss-seidel'])} times as many as without friction. gauss-seidel "
            "here is PGS in the order of the contacts; a product is what is counted, and cpg takes a second one after each projection.\n")
    lab.sheet("preclik2009_fig2", "preclik2009, Fig. 2", [
        ("iteration;;log", "residual of frictionless and box;m/s;log", [c for c in curves if "adapted" not in c[0] and "coulomb" not in c[0]]),
        ("iteration;;log", "residual of cones;m/s;log", [c for c in curves if "adapted" in c[0] or "coulomb" in c[0]])])


def errors(lab, path):
    lab.say("Fig. 3, residual and velocity error. newton has no box here, so it is shown without friction, with the others:\n")
    plots, rows = [], []
    for model, reference, solvers in (("box", "mprgp", ("gauss-seidel,order=sequential", "cpg")),
                                      ("frictionless", "ipm-soc", ("gauss-seidel,order=sequential", "cpg", "newton"))):
        residual, error = [], []
        for solver in solvers:
            name = solver.split(",")[0]
            points = lab.iterates(path, model, reference, solver, range(1, 16) if name == "newton" else spread(1000, 40))
            residual.append((name, name, [(p["iteration"], p["residual"]) for p in points if p["residual"] > 1e-13]))
            error.append((name, name, [(p["iteration"], p["velocity_error"]) for p in points if p["velocity_error"] > 1e-13]))
            for part in (1e-1, 1e-3, 1e-6):
                first = points[0]
                r = next((p["iteration"] for p in points if p["residual"] <= part * first["residual"]), "-")
                v = next((p["iteration"] for p in points if p["velocity_error"] <= part * first["velocity_error"]), "-")
                rows.append([model, name, f"{part:g}", r, v])
        plots += [("iteration;;log", f"residual, {model};m/s;log", residual), ("iteration;;log", f"velocity error, {model};m/s;log", error)]
    lab.table(["friction", "solver", "part of the first", "residual there at", "velocity error there at"], rows)
    lab.sheet("preclik2009_fig3", "preclik2009, Fig. 3", plots[2:] + plots[:2])
    lab.say("The paper: errors follow the residuals for PGS and CPG; Newton's barely falls until a sharp drop at the end. Without friction "
            "newton needs few steps here, presumably because they are regularized; that it is inferior does not come out.\n")


def active_sets(lab, path):
    lab.say("Fig. 4, contacts that change sides in an iteration, without friction (the paper: box):\n")
    rows, curves = [], []
    for solver, asked in (("gauss-seidel,order=sequential", range(1, 301)), ("cpg", range(1, 301)), ("newton", range(1, 16))):
        name = solver.split(",")[0]
        points = {p["iteration"]: p["changes"] for p in lab.iterates(path, "frictionless", "ipm-soc", solver, asked)}
        curves.append((name, name, [(n, c) for n, c in points.items() if c]))
        rows.append([name, *(points.get(n, "ended") for n in (2, 5, 10, 20, 50, 100, 200)), max((n for n, c in points.items() if c), default=0)])
    lab.table(["solver", "2", "5", "10", "20", "50", "100", "200", "last change"], rows)
    lab.say("The paper: the changes of PGS and CPG fall exponentially, Newton's only linearly. newton here is semismooth with a regularized "
            "step, and what is counted is its best iterate.\n")
    lab.sheet("preclik2009_fig4", "preclik2009, Fig. 4: changes of the active set", [
        ("iteration;;linear", "changes;;log", curves), ("iteration;;log", "changes;;log", curves)])
