// Reads one body, and the contact forces on it from all contacts of the last step.
#include "app/engine/probe.h"

#include "sim/solver/contact_result.h"

#include <math.h>

// Keeps a force among the largest ones: a full list loses its smallest.
static void keep_force(Probe *probe, SandVec3 point, SandVec3 force) {
    int at = probe->force_count;
    if (at == PROBE_FORCES) {
        at = 0;
        for (int k = 1; k < PROBE_FORCES; k++)
            if (v3_length(probe->forces[k].force) < v3_length(probe->forces[at].force)) at = k;
        if (v3_length(probe->forces[at].force) >= v3_length(force)) return;
    } else {
        probe->force_count++;
    }
    probe->forces[at] = (ProbeForce){point, force};
}

static void read_forces(const SandSimulation *sim, Probe *probe) {
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *number = sand_simulation_order(sim);
    for (int i = 0; i < sand_simulation_solved_contacts(sim); i++) {
        const SandContact *c = &problem->contacts[i];
        bool is_a = number[c->a] == probe->body, is_b = c->b < problem->dynamic_count && number[c->b] == probe->body;
        SandVec3 impulse = sand_contact_impulse(problem, solution, i);
        double force = is_a || is_b ? v3_length(impulse) / problem->step : 0;
        if (!(force > 0)) continue;
        probe->contacts++;
        probe->force_sum += force;
        probe->force_most = fmax(probe->force_most, force);
        // The impulse acts on b; a gets its opposite. Spheres have no arms in the problem: theirs are along the normal.
        SandVec3 on_body = v3_scale((is_b ? 1 : -1) / problem->step, impulse);
        SandVec3 outward = is_a ? c->normal : v3_neg(c->normal), arm = is_a ? c->arm_a : c->arm_b;
        if (problem->radial) arm = v3_scale(probe->radius, outward);
        keep_force(probe, v3_add(probe->center, arm), on_body);
    }
}

Probe probe_read(const SandSimulation *sim, int body) {
    const SandWorld *world = sand_simulation_world(sim);
    if (body < 0 || body >= world->body_count || world->gone[body]) return (Probe){.body = -1};
    const SandShape *shape = &world->shapes[world->shape[body]];
    Probe probe = {.body = body,
                   .speed = v3_length(world->velocity[body]),
                   .mass = world->mass[body],
                   .radius = world->scale[body] * shape->bound,
                   .kind = shape->kind,
                   .shape = world->shape[body],
                   .half = v3_scale(world->scale[body], shape->half),
                   .center = world->position[body],
                   .velocity = world->velocity[body],
                   .rotation = world->rotation[body]};
    const SandSpring *spring = &world->spring;
    if (spring->body == body) {
        probe.is_held = true;
        probe.held = v3_add(probe.center, q_rotate(probe.rotation, spring->point));
        probe.pulled_to = spring->target;
    }
    if (world->step_index > 0) read_forces(sim, &probe);
    return probe;
}
