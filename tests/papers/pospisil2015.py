"""Pospisil et al. 2015: MPRGP on a bed of spheres that a large ball hits."""
from lab import contacts_of

BODIES, STEPS = 2000, 1000
FRICTIONLESS = ("--friction", "frictionless")


def chapter(lab):
    lab.say("## pospisil2015: MPRGP while a ball hits a bed of spheres\n")
    path = lab.freeze("ball-drop", BODIES, 0.24, *FRICTIONLESS)
    r = lab.iterates(path, "frictionless", "mprgp", "mprgp", (1,))[0]["speed_before"]
    tolerance = 1e-4 * r
    lab.say(f"{BODIES} spheres (the paper: 32,810) and the ball, which enters at 0.3 s; h = 0.0008 s, without friction, mprgp in every step from "
            f"the impulses of the step before. The paper ends a solve at 1e-4 of |r|; a run here has one tolerance, so it is that of the bed "
            f"at 0.24 s, |r| = {r:.3g} m/s with {contacts_of(path)} contacts.\n")
    run = lab.run("ball-drop", BODIES, STEPS, "--solver", "mprgp", *FRICTIONLESS, "--iterations", 3000, "--tolerance", tolerance, "--precision",
                  "double")
    rows = []
    for t in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.78):
        near = [s for s in run if abs(s["time_s"] - t) < 0.02]

        def mean(key):
            return sum(s[key] for s in near) / len(near)

        rows.append([t, f"{mean('bodies'):.0f}", f"{mean('contacts'):.0f}", f"{mean('iterations'):.0f}", f"{max(s['iterations'] for s in near):.0f}",
                     f"{mean('solve_ms'):.1f}", f"{sum(s['status'] == 'solved' for s in near)} of {len(near)}"])
    lab.table(["time (s)", "bodies", "contacts", "products, mean", "most", "ms a solve", "solved"], rows)
    lab.say("The paper's figures have no numbers in their text: its products with N grow with the contacts as the heap forms.\n")
    lab.sheet("pospisil2015", "pospisil2015, Fig. 1 and 2", [
        ("time;s;linear", "contacts;;linear", [("mprgp", "mprgp", [(s["time_s"], s["contacts"]) for s in run[::5]])]),
        ("time;s;linear", "products with N in a step;;linear", [("mprgp", "mprgp", [(s["time_s"], s["iterations"]) for s in run[::5]])])])
