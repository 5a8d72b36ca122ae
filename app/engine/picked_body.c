// SPDX-License-Identifier: MIT
// Reads one body, and the contact forces on it from all contacts of the last step.
#include "app/engine/picked_body.h"

#include "sim/solver/contact_result.h"

#include <math.h>

// Keeps a force among the largest ones: a full list loses its smallest.
static void keep_force(PickedBody *picked, SandVec3 point, SandVec3 force) {
    int at = picked->force_count;
    if (at == PICKED_FORCES) {
        at = 0;
        for (int k = 1; k < PICKED_FORCES; k++)
            if (v3_length(picked->forces[k].force) < v3_length(picked->forces[at].force)) at = k;
        if (v3_length(picked->forces[at].force) >= v3_length(force)) return;
    } else {
        picked->force_count++;
    }
    picked->forces[at] = (PickedForce){point, force};
}

static void read_forces(const SandSimulation *sim, PickedBody *picked) {
    const SandProblem *problem = sand_simulation_problem(sim);
    const SandSolution *solution = sand_simulation_solution(sim);
    const int *number = sand_simulation_order(sim);
    for (int i = 0; i < sand_simulation_solved_contacts(sim); i++) {
        const SandContact *c = &problem->contacts[i];
        if (sand_problem_joint(problem, i)) continue;
        bool is_a = number[c->a] == picked->body, is_b = c->b < problem->dynamic_count && number[c->b] == picked->body;
        SandVec3 impulse = sand_contact_impulse(problem, solution, i);
        double force = is_a || is_b ? v3_length(impulse) / problem->step : 0;
        if (!(force > 0)) continue;
        picked->contacts++;
        picked->force_sum += force;
        picked->force_most = fmax(picked->force_most, force);
        // The impulse acts on b; a gets its opposite. Spheres have no arms in the problem: theirs are along the normal.
        SandVec3 on_body = v3_scale((is_b ? 1 : -1) / problem->step, impulse);
        SandVec3 outward = is_a ? c->normal : v3_neg(c->normal), arm = is_a ? c->arm_a : c->arm_b;
        if (problem->radial) arm = v3_scale(picked->radius, outward);
        keep_force(picked, v3_add(picked->center, arm), on_body);
    }
}

PickedBody picked_body_read(const SandSimulation *sim, int body) {
    const SandWorld *world = sand_simulation_world(sim);
    if (body < 0 || body >= world->body_count || world->gone[body]) return (PickedBody){.body = -1};
    const SandShape *shape = &world->shapes[world->shape[body]];
    PickedBody picked = {.body = body,
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
        picked.is_held = true;
        picked.held = v3_add(picked.center, q_rotate(picked.rotation, spring->point));
        picked.pulled_to = spring->target;
    }
    if (world->step_index > 0) read_forces(sim, &picked);
    return picked;
}
