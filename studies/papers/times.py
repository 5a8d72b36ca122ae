# SPDX-License-Identifier: MIT
"""Time to 1e-4 of the first residual, for every solver of the table."""
import json

from lab import contacts_of, reached


def chapter(lab):
    lab.say("## Time to 1e-4 of the first residual\n")
    path = lab.freeze("cylinder", 2000, 3)
    lab.say(f"Settled `cylinder` with 2000 spheres, mu = 0.2, {contacts_of(path)} contacts, cold, double, one thread.\n")
    first = lab.race(path, "p-spg-fb", 1)["p-spg-fb"]["curve"][0]["residual"]
    entries = json.loads(lab.call("sandglass", "race", path, "--budget-ms", 10000, "--tolerance", 1e-4 * first, "--cold", "--threads", 1, "--json"))
    rows = []
    for e in entries:
        if not e["curve"]:
            continue
        p = reached(e, 1e-4 * first)
        rows.append((p["seconds"] if p else float("inf"), e["name"], p["iteration"] if p else "not in 10 s", e["residual"]))
    base = next(r[0] for r in rows if r[1] == "gauss-seidel")
    rows.sort()
    lab.table(["solver", "iterations", "ms", "against gauss-seidel", "residual at its end"],
              [[name, n, f"{1e3 * t:.0f}" if t < 1e9 else "-", f"{base / t:.1f}" if t < 1e9 and base < 1e9 else "-", f"{r:.1e}"]
               for t, name, n, r in rows])
