// SPDX-License-Identifier: MIT
// Computing impulse, velocity and gap of each contact in its own frame, judging from them whether it is open, sticks or
// slides, and writing all as CSV.
#include "sim/solver/contact_result.h"

#include "sim/core/array.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *sand_contact_status_text(SandContactStatus status) {
    static const char *const names[] = {"open", "sticks", "slides", "joint"};
    return names[status];
}

void sand_contact_axes(const SandProblem *p, int i, SandVec3 axes[3]) {
    SandVec3 n = p->contacts[i].normal;
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    axes[0] = n;
    axes[1] = v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    axes[2] = v3_make(b, sign + n.y * n.y * a, -n.y);
    if (!p->matrix) return;
    axes[0] = v3_make(1, 0, 0);
    axes[1] = v3_make(0, 1, 0);
    axes[2] = v3_make(0, 0, 1);
}

double sand_contact_bias(const SandProblem *p, int i) {
    double gap = sand_recovery_gap(p->recovery, p->contacts[i].gap, p->step);
    return sand_recovery_bias(p->recovery, gap, p->step) - p->contacts[i].bounce;
}

SandVec3 sand_contact_impulse(const SandProblem *p, const SandSolution *s, int i) {
    return v3_madd(s->impulse[i], -p->contacts[i].pull, p->contacts[i].normal);
}

// Impulses that were read back from a device come without velocities.
static bool has_velocities(const SandProblem *p, const SandSolution *s) {
    return s->velocity_capacity >= (size_t)p->body_count && s->spin_capacity >= (size_t)p->body_count;
}

static SandVec3 relative_velocity(const SandProblem *p, const SandSolution *s, int i) {
    const SandContact *c = &p->contacts[i];
    if (!has_velocities(p, s)) return v3_make(NAN, NAN, NAN);
    const SandJointRows *joint = sand_problem_joint(p, i);
    if (joint && joint->angular) return v3_sub(s->spin[c->b], s->spin[c->a]);
    SandVec3 a = v3_add(s->velocity[c->a], v3_cross(s->spin[c->a], c->arm_a));
    SandVec3 b = v3_add(s->velocity[c->b], v3_cross(s->spin[c->b], c->arm_b));
    return v3_sub(b, a);
}

// What makes the velocity of a row zero where its impulse lies within its bounds.
static void add_bias(const SandProblem *p, int i, const SandVec3 *axes, SandContactResult *r) {
    const SandJointRows *joint = sand_problem_joint(p, i);
    if (!joint) r->velocity[0] += sand_contact_bias(p, i);
    if (!joint) return;
    for (int k = 0; k < 3; k++) r->velocity[k] += v3_dot(axes[k], joint->bias);
    r->velocity[0] += joint->compliance * r->impulse[0];
}

double sand_contact_least(const SandProblem *p, const SandSolution *s) {
    double largest = 0;
    for (int i = 0; i < p->contact_count; i++) largest = fmax(largest, sand_contact_normal_impulse(p, s, i));
    return 1e-9 * largest;
}

void sand_contact_results(const SandProblem *p, const SandSolution *s, SandContactResult *results) {
    double least = sand_contact_least(p, s);
    for (int i = 0; i < p->contact_count; i++) {
        SandContactResult *r = &results[i];
        SandVec3 axes[3], u = relative_velocity(p, s, i);
        sand_contact_axes(p, i, axes);
        for (int k = 0; k < 3; k++) {
            r->impulse[k] = v3_dot(axes[k], s->impulse[i]);
            r->velocity[k] = v3_dot(axes[k], u);
        }
        r->gap = p->matrix || sand_problem_joint(p, i) ? NAN : p->contacts[i].gap;
        r->gap_after = r->gap + p->step * r->velocity[0];
        add_bias(p, i, axes, r);
    }
    for (int i = 0; i < p->contact_count; i++) {
        SandContactResult *r = &results[i];
        double friction = hypot(r->impulse[1], r->impulse[2]);
        bool open = !(r->impulse[0] > least), slides = friction >= (1 - 1e-6) * p->contacts[i].mu * r->impulse[0];
        if (sand_problem_joint(p, i)) {
            r->status = SAND_CONTACT_JOINT;
            continue;
        }
        r->impulse[0] -= p->contacts[i].pull;
        r->status = open ? SAND_CONTACT_OPEN : slides ? SAND_CONTACT_SLIDES : SAND_CONTACT_STICKS;
    }
}

bool sand_solution_save_csv(const SandProblem *p, const SandSolution *s, const char *path, SandError *error) {
    SandContactResult *results = NULL;
    size_t capacity = 0;
    if (!SAND_GROW(results, capacity, p->contact_count + 1, "results", error)) return false;
    sand_contact_results(p, s, results);
    FILE *file = fopen(path, "w");
    bool ok = file || sand_fail(error, "%.200s: cannot write: %s", path, strerror(errno));
    if (ok)
        fprintf(file,
                "contact,a,b,mu,impulse n (N s),impulse t1,impulse t2,velocity n (m/s),velocity t1,velocity t2,gap (m),"
                "gap after (m),status\n");
    for (int i = 0; ok && i < p->contact_count; i++) {
        const SandContactResult *r = &results[i];
        const SandContact *c = &p->contacts[i];
        fprintf(file, "%d,%d,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,", i, c->a, c->b, c->mu, r->impulse[0],
                r->impulse[1], r->impulse[2], r->velocity[0], r->velocity[1], r->velocity[2]);
        if (isnan(r->gap))
            fprintf(file, ",,%s\n", sand_contact_status_text(r->status));
        else
            fprintf(file, "%.17g,%.17g,%s\n", r->gap, r->gap_after, sand_contact_status_text(r->status));
    }
    if (ok) {
        bool bad = ferror(file);
        ok = (fclose(file) == 0 && !bad) || sand_fail(error, "%.200s: cannot write: %s", path, strerror(errno));
    }
    sand_free(results);
    return ok;
}
