# SPDX-License-Identifier: MIT
"""Heyn et al. 2012: Krylov and spectral methods against Jacobi, without friction."""
from lab import contacts_of, curve, reached

FRICTIONLESS = ("--friction", "frictionless")
METHODS = ("jacobi", "spg-fb", "gpminres", "kucera")


def chapter(lab):
    lab.say("## heyn2012: Krylov and spectral methods, without friction\n")
    lab.say("Spheres settle without friction, and one step is frozen, as in the paper. All methods start from zero; an iteration is "
            "one product with N. The paper does not print eta1 of rule 18; gpminres has 0.5 here, and the table below says what 0.1 does.\n")
    problem_1(lab)
    problem_2(lab)
    problem_3(lab)


def race_of(lab, path, solvers, iterations):
    return lab.race(path, ",".join(solvers), iterations, *FRICTIONLESS)


def iterates_of(lab, path, name, asked):
    return lab.iterates(path, "frictionless", "ipm-soc", name, asked)


def problem_1(lab):
    path = lab.freeze("cylinder", 1000, 5, *FRICTIONLESS)
    lab.say(f"### Test Problem 1: Table I, Fig. 4 and 5\n\n{contacts_of(path)} contacts between 1000 spheres (the paper: 3525). The last two "
            "columns compare how far the objective is from the best, as a part of it.\n")
    printed = (("gpminres", 1000, -2.9035, 7.7487, 6.70), ("gpminres", 10000, -2.9045, 8.2002, 61.07),
               ("gpminres-p", 100, -2.8854, 6.8551, 1675), ("jacobi", 1000, -2.5077, 4.4961, 3.66), ("jacobi", 10000, -2.8983, 7.4953, 24.66),
               ("jacobi", 43000, -2.9035, 7.9254, 95.41), ("jacobi", 100000, -2.9043, 8.0619, 231.7))
    found = {}
    for solver in ("gpminres", "gpminres-p", "jacobi"):
        asked = [n for name, n, *_ in printed if name == solver]
        found.update({(solver, n): p for n, p in zip(asked, iterates_of(lab, path, solver, asked))})
    best = min(p["objective"] for p in found.values())
    rows = []
    for solver, n, objective, largest, seconds in printed:
        p = found[solver, n]
        rows.append([solver, n, f"{p['objective']:.6f}", f"{p['impulses'][-1]:.4f}", f"{p['seconds']:.2f}", objective, largest, seconds,
                     f"{(p['objective'] - best) / -best:.1e}", f"{(objective + 2.9045) / 2.9045:.1e}"])
    lab.table(["method", "iterations", "objective (J)", "largest impulse", "s", "paper: objective", "largest", "s", "from the best", "paper"],
              rows)

    depth(lab, path)
    patience(lab, path, best)
    race = race_of(lab, path, ("gpminres", "gpminres-p"), 1000)
    race["jacobi"] = race_of(lab, path, ("jacobi",), 20000)["jacobi"]

    above = [(name, name, [(i, q - best) for i, q in curve(race[name], "objective", best)]) for name in race]
    sharper = [(f"{s} {n}", s if (s, n) in (("gpminres", 1000), ("gpminres-p", 100), ("jacobi", 1000)) else "",
                [(k, max(g, 0)) for k, g in enumerate(found[s, n]["impulses"])]) for s, n in found if n != 43000]
    lab.sheet("heyn2012_fig4", "heyn2012, Fig. 4: Test Problem 1", [("iteration;;log", "objective above the best;J;log", above)])
    lab.sheet("heyn2012_fig5", "heyn2012, Fig. 5: impulses, sorted", [
        ("part of the contacts;%;linear", "impulse;N s;linear", sharper),
        ("part of the contacts;%;linear", "impulse, the largest tenth;N s;linear", [(a, b, p[90:]) for a, b, p in sharper])])


def depth(lab, shallow):
    lab.say("Iterations of jacobi that reach the objective of gpminres after 300 and 1000, in the vessel and in narrower ones, where the same "
            "spheres lie deeper. *weights* is the largest impulse over that of one sphere's weight:\n")
    many, rows, paths = 100000, [], [(2, shallow)]
    for radius, columns in ((1.2, 11), (0.8, 7)):
        paths.append((radius, lab.freeze(lab.column(radius, columns), 1000, 6, *FRICTIONLESS, "--iterations", 100)))
    for radius, path in paths:
        race = race_of(lab, path, ("gpminres", "jacobi"), many)
        weights = iterates_of(lab, path, "ipm-soc", (100,))[0]["impulses"][-1] / (6.28 * 9.81 * 0.01)
        best = race["jacobi"]["objective"]
        far = (race["jacobi"]["curve"][10000]["objective"] - best) / -best
        row = [radius, contacts_of(path), f"{weights:.0f}", f"{far:.1e}"]
        for n in (300, 1000):
            p = reached(race["jacobi"], race["gpminres"]["curve"][n]["objective"], "objective")
            row += [p["iteration"], f"{p['iteration'] / n:.0f}"] if p else [f"> {many}", f"> {many // n}"]
        rows.append(row)
    lab.table(["radius (m)", "contacts", "weights", "jacobi after 10,000 from its end", "for 300", "factor", "for 1000", "factor"], rows)
    lab.say("The paper: 43,000 iterations of Jacobi for 1,000 of GPMINRES, a factor of 43; it counts the iterations of MINRES alone, here every "
            "product counts, those of projected gradients and searches too.\n")


def patience(lab, path, best):
    lab.say("What eta1 of rule 18 does, in the vessel of 2 m: how far the objective is from the best, as a part of it, and the residual:\n")
    rows = []
    for eta in (0.1, 0.25, 0.5, 0.9):
        curve = lab.race(path, "gpminres", 1000, *FRICTIONLESS, "--solver", "gpminres", "--set", f"eta1={eta}")["gpminres"]["curve"]
        rows.append([eta, *(f"{(curve[n]['objective'] - best) / -best:.1e}" for n in (100, 300, 1000)), f"{curve[1000]['residual']:.1e}"])
    lab.table(["eta1", "after 100", "300", "1000", "residual after 1000 (m/s)"], rows)


def problem_2(lab):
    lab.say("### Test Problem 2: Fig. 6 to 10\n")
    lab.say("Iterations to a part of the first residual:\n")
    rows, plots, paths, leads = [], [], {}, {}
    for bodies, printed in ((1000, 3634), (2000, 8507), (4000, 17161)):
        path = paths[bodies] = lab.freeze("cylinder", bodies, 5, *FRICTIONLESS)
        race = race_of(lab, path, METHODS, 1000)
        best = min(e["objective"] for e in race.values())
        for name, e in race.items():
            first = e["curve"][0]["residual"]
            at = [reached(e, goal * first) for goal in (0.3, 0.1, 1e-2, 1e-3, 1e-4)]
            rows.append([bodies, contacts_of(path), printed, name, *(p["iteration"] if p else "-" for p in at)])
            for goal, p in ((0.3, at[0]), (1e-4, at[-1])):
                if p and p["iteration"] < leads.get((goal, bodies), ("", 1e9))[1]:
                    leads[goal, bodies] = name, p["iteration"]
        title = f"{bodies} bodies, {contacts_of(path)} contacts"
        plots.append(("iteration;;log", f"objective above the best, {title};J;log",
                      [(n, n, [(i, q - best) for i, q in curve(e, "objective", best + 1e-14 * abs(best))]) for n, e in race.items()]))
        plots.append(("iteration;;log", f"residual, {title};m/s;log", [(n, n, curve(e, "residual", 0)) for n, e in race.items()]))
    lab.table(["bodies", "contacts", "paper's", "method", "0.3", "0.1", "1e-2", "1e-3", "1e-4"], rows)
    first, late = ([leads.get((goal, bodies), ("none",))[0] for bodies in paths] for goal in (0.3, 1e-4))
    lab.say("The paper: all three are far better than jacobi; spg-fb leads at first and tires sooner than gpminres. Here the first at 0.3 is "
            f"{', '.join(first)} for {', '.join(map(str, paths))} bodies, and the first at 1e-4 is {', '.join(late)}.\n")
    lab.sheet("heyn2012_fig6-8", "heyn2012, Fig. 6 to 8: Test Problem 2", plots)
    feasibility(lab, paths)
    active_sets(lab, paths)


def feasibility(lab, paths):
    lab.say("Fig. 9, `g_i (N g + r)_i` after 50 and 200 iterations on the problem of 1000 bodies; zero where solved:\n")
    rows = []
    for name in METHODS:
        for p in iterates_of(lab, paths[1000], name, (50, 200)):
            rows.append([name, p["iteration"], *(f"{p['feasibility_' + k]:.1e}" for k in ("mean", "deviation", "max"))])
    lab.table(["method", "iterations", "mean (J)", "deviation", "largest"], rows)


def active_sets(lab, paths):
    lab.say("Fig. 10, the size of the active set. *settled* is the last iteration at which it was more than a tenth off the one at 400; *way* is "
            "the sum of all changes of size after the 30th iteration:\n")
    rows, plots = [], []
    for bodies, path in paths.items():
        curves = []
        for name in ("gpminres", "kucera"):
            points = [(p["iteration"], p["active"]) for p in iterates_of(lab, path, name, range(4, 404, 4))]
            end = points[-1][1]
            settled = max((n for n, size in points if abs(size - end) > 0.1 * end), default=0)
            late = [size for n, size in points if n > 30]
            jumps = [abs(b - a) for a, b in zip(late, late[1:])]
            rows.append([bodies, name, end, settled, sum(jumps), max(jumps)])
            curves.append((name, name, points))
        plots.append(("iteration;;linear", f"contacts without impulse, {bodies} bodies;;linear", curves))
    lab.table(["bodies", "method", "size at 400", "settled", "way", "largest change in 4 iterations"], rows)
    pairs = list(zip(rows[::2], rows[1::2]))  # gpminres, kucera
    lab.say("The paper: Kucera's active set changes more, and GPMINRES settles on one sooner. Here Kucera's goes the longer way in "
            f"{sum(k[4] > g[4] for g, k in pairs)} of {len(pairs)} problems, and gpminres settles sooner in {sum(g[3] < k[3] for g, k in pairs)}.\n")
    lab.sheet("heyn2012_fig10", "heyn2012, Fig. 10: size of the active set", plots)


def problem_3(lab):
    lab.say("### Test Problem 3: Fig. 12 and 13, a heavy cylinder on 1000 spheres\n")
    goals, masses = (1e-1, 1e-3, 1e-6, 1e-8), (1000, 4000, 16000)
    lab.say("Iterations until the objective is within a part of the best:\n")
    objective, residual, needed = [], [], {}
    for mass in masses:
        path = lab.freeze("heavy", 0, 5, *FRICTIONLESS, "--set", f"mass={mass}")
        race = race_of(lab, path, METHODS, 3000)
        best = iterates_of(lab, path, "ipm-soc", (100,))[0]["objective"]
        for name, e in race.items():
            at = [reached(e, best * (1 - goal), "objective") for goal in goals]
            needed[name, mass] = [p["iteration"] if p else None for p in at]
        title = f"{mass} kg, {contacts_of(path)} contacts"
        objective.append(("iteration;;log", f"objective, 1 + normalized, {title};;log",
                          [(n, n, [(i, 1 - q / best) for i, q in curve(e, "objective", best * (1 - 1e-14))]) for n, e in race.items()]))
        residual.append(("iteration;;log", f"residual, {title};m/s;log", [(n, n, curve(e, "residual", 0)) for n, e in race.items()]))
    rows = [[name, *(n or "-" for mass in masses for n in needed[name, mass])] for name in METHODS]
    lab.table(["method", *(f"{m} kg, {goal:g}" for m in masses for goal in goals)], rows)
    ended = [name for name in METHODS if all(needed[name, mass][-1] for mass in masses)]
    early, late = ([min(ended, key=lambda name: needed[name, mass][k]) for mass in masses] for k in (0, -1))
    worse = ", ".join(f"{name} {needed[name, masses[-1]][-1] / needed[name, masses[0]][-1]:.2f}" for name in ended)
    lab.say("The paper (4295 contacts): GPMINRES is best for all three masses and suffers least from the mass. Here the first at 0.1 are "
            f"{', '.join(early)} for the three masses, and the first at 1e-8 {', '.join(late)}; from 1000 to 16000 kg the iterations to 1e-8 "
            f"grow by {worse}. The paper counts the iterations of MINRES alone, here every product counts.\n")
    lab.sheet("heyn2012_fig12-13", "heyn2012, Fig. 12 and 13: Test Problem 3", [p for pair in zip(objective, residual) for p in pair])
