// SPDX-License-Identifier: MIT
// The forces of contacts on bodies and boundaries: impulses over the step, in the order of the contacts.
#include "sim/step/contact_forces.h"

#include "sim/solver/contact_result.h"

// What one end of a contact adds up in.
typedef struct ForceSums {
    const SandProblem *problem;
    const SandSolution *solution;
    int first, end;
    const int *order;
    SandVec3 *force, *torque;
} ForceSums;

static void add_end(const ForceSums *s, int contact, int index, SandVec3 arm, double sign) {
    const SandProblem *p = s->problem;
    double rate = sign / p->step;
    if (index < s->first || index >= s->end) return;
    int at = s->order ? s->order[index] : index - s->first;
    SandVec3 impulse = sand_contact_impulse(p, s->solution, contact);
    s->force[at] = v3_madd(s->force[at], rate, impulse);
    if (!s->torque) return;
    SandVec3 turning = v3_cross(arm, impulse);
    if (p->rolls) turning = v3_add(turning, s->solution->impulse[p->contact_count + contact]);
    s->torque[at] = v3_madd(s->torque[at], rate, turning);
}

void sand_contact_forces_add(const SandProblem *problem, const SandSolution *solution, int contacts, int first, int end,
                             const int *order, SandVec3 *force, SandVec3 *torque) {
    ForceSums sums = {problem, solution, first, end, order, force, torque};
    for (int i = 0; i < contacts; i++) {
        if (sand_problem_joint(problem, i)) continue;
        const SandContact *c = &problem->contacts[i];
        add_end(&sums, i, c->a, c->arm_a, -1);
        add_end(&sums, i, c->b, c->arm_b, 1);
    }
}
