# SPDX-License-Identifier: MIT
"""Which method solves a step best? Freezes the contact problem of one step and gives it to every solver.

python compare.py [--scene NAME] [--bodies N] [--seconds S] [--iterations N] [--plot FILE]
"""

import argparse

import sandglass


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scene", default="cylinder")
    parser.add_argument("--bodies", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=2, help="of the run before the step")
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--plot", help="a picture of the curves; needs matplotlib")
    args = parser.parse_args()

    problem = sandglass.Simulation.load(args.scene, bodies=args.bodies).run(args.seconds).problem()
    print(problem)
    solutions = {}
    for solver in sandglass.solvers():
        if "cone" not in solver.friction:
            continue  # its friction model is another one, and so is its problem
        solutions[solver.name] = problem.solve(solver.name, iterations=args.iterations, curve=True)

    best = sorted(solutions.items(), key=lambda item: item[1].metrics.residual)
    print(f"{'solver':16} {'residual':>12} {'iterations':>11} {'ms':>8}  status")
    for name, solution in best:
        print(f"{name:16} {solution.metrics.residual:8.2e} m/s {solution.iterations:11d} {1e3 * solution.seconds:8.1f}"
              f"  {solution.status}")

    if args.plot:
        import matplotlib.pyplot as plt

        for number, (name, solution) in enumerate(best):
            plt.semilogy(solution.curve["iteration"], solution.curve["residual"], label=name, color=plt.cm.tab20(number))
        plt.xlabel("products with N")
        plt.ylabel("residual (m/s)")
        plt.legend(fontsize=7, ncol=2)
        plt.savefig(args.plot, dpi=120)
        print(f"drawn to {args.plot}")


if __name__ == "__main__":
    main()
