// Sums the contact forces on one body over all contacts of the last step.
#include "app/engine/probe.h"

#include <math.h>

Probe probe_read(const SandSimulation *sim, int body) {
    const SandWorld *world = sand_simulation_world(sim);
    if (body < 0 || body >= world->body_count || world->gone[body]) return (Probe){.body = -1};
    Probe probe = {.body = body,
                   .speed = v3_length(world->velocity[body]),
                   .mass = world->mass[body],
                   .radius = world->scale[body] * world->shapes[world->shape[body]].bound};
    if (world->step_index == 0) return probe; // no solve yet
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *number = sand_simulation_order(sim);
    for (int i = 0; i < sand_simulation_solved_contacts(sim); i++) {
        const SandContact *c = &problem->contacts[i];
        bool touches = number[c->a] == body || (c->b < problem->dynamic_count && number[c->b] == body);
        double force = touches ? v3_length(solution->impulse[i]) / problem->step : 0;
        if (!(force > 0)) continue;
        probe.contacts++;
        probe.force_sum += force;
        probe.force_most = fmax(probe.force_most, force);
    }
    return probe;
}
