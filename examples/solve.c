// SPDX-License-Identifier: MIT
// A contact problem given as arrays, solved by two methods and compared: two spheres in a stack on the ground, the upper one
// heavy and moving sideways. The problem is that of one step of 0.01 s:
//   minimize q(g) = 1/2 g'N g + r'g over impulses g in the friction cones, N = D' M^-1 D (docs/problem.md)
//   cc solve.c $(pkg-config --cflags --libs sandglass) -o solve
#include <sandglass/problem.h>
#include <stdio.h>

static SandProblemBody sphere(double mass, double radius, SandVec3 velocity) {
    double inverse_inertia = 1 / (0.4 * mass * radius * radius);
    return (SandProblemBody){.inverse_mass = 1 / mass,
                             .inverse_inertia = {inverse_inertia, inverse_inertia, inverse_inertia},
                             .velocity = velocity, // after the forces of the step, before contact
                             .radius = radius};
}

int main(void) {
    const double radius = 0.1, step = 0.01;
    const SandVec3 fall = {0, 0, -9.81 * 0.01}, up = {0, 0, 1};

    // Moving bodies come first; the ground is a body of infinite mass behind them. Contacts are sorted by their body a, and
    // the normal points from a to b.
    SandProblemBody bodies[3] = {
        sphere(1, radius, fall), sphere(2, radius, v3_add(fall, v3_make(0.5, 0, 0))), {.inverse_mass = 0}};
    SandContact contacts[2] = {
        {.a = 0, .b = 1, .normal = up, .arm_a = v3_scale(radius, up), .arm_b = v3_scale(-radius, up), .mu = 0.5},
        {.a = 0, .b = 2, .normal = v3_neg(up), .arm_a = v3_scale(-radius, up), .mu = 0.5},
    };
    SandVec3 start[2] = {{0, 0, 0}, {0, 0, 0}}; // a cold start
    SandProblem problem = {.body_count = 3,
                           .dynamic_count = 2,
                           .contact_count = 2,
                           .radial = true, // every moving body is a sphere and the ground does not spin
                           .step = step,
                           .recovery = {.speed = 1},
                           .bodies = bodies,
                           .contacts = contacts,
                           .start = start};

    SandError error;
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    if (!cpu) return fprintf(stderr, "solve: %s\n", error.text), 1;
    const char *methods[] = {"p-spg-fb", "gauss-seidel"};
    SandVec3 impulse[2][2];
    for (int m = 0; m < 2; m++) {
        SandSolution solution = {.want_metrics = true};
        SandSolveDef def = sand_default_solve();
        sand_solve_choose(&def, sand_solver_find(methods[m]));
        def.iterations = 20000;
        def.tolerance = 1e-10;
        if (!sand_cpu_solve(cpu, &problem, &def, &solution, &error)) return fprintf(stderr, "solve: %s\n", error.text), 1;
        printf("%-12s %s after %3d products, residual %.1e m/s; ground carries %.6f N s, upper sphere slides at %.6f m/s\n",
               methods[m], sand_status_text(solution.status), solution.iterations, solution.metrics.residual,
               -solution.impulse[1].z, solution.velocity[1].x);
        for (int i = 0; i < 2; i++) impulse[m][i] = solution.impulse[i];
        sand_solution_free(&solution);
    }
    sand_cpu_free(cpu);

    double apart = 0;
    for (int i = 0; i < 2; i++) apart = fmax(apart, v3_length(v3_sub(impulse[0][i], impulse[1][i])));
    printf("the impulses differ by at most %.1e N s\n", apart);
    return apart < 1e-6 ? 0 : 1;
}
