// SPDX-License-Identifier: MIT
// Blocks, products, residuals, projections and velocities of a problem by sums over all pairs of contacts.
#include "tests/lab/solver/dense.h"

#include <math.h>
#include <stdlib.h>

static bool one_row(const SandProblem *p, bool frictionless, int i) { return frictionless || p->contacts[i].mu == 0; }

static SandVec3 along(SandVec3 x, SandVec3 n) { return v3_scale(v3_dot(x, n), n); }

static SandVec3 turned(const SandProblemBody *b, SandVec3 t) {
    const double *m = b->inverse_inertia;
    return v3_make(m[0] * t.x + m[3] * t.y + m[4] * t.z, m[3] * t.x + m[1] * t.y + m[5] * t.z,
                   m[4] * t.x + m[5] * t.y + m[2] * t.z);
}

// The relative velocity at contact i caused by the impulses of others, and the sum of magnitudes of its terms.
typedef struct Effect {
    SandVec3 u;
    double size;
} Effect;

// Adds the velocity change at arm `at` of a body caused by impulse g at its arm `from`, times the sign.
static void through(const SandProblemBody *b, SandVec3 from, SandVec3 at, double sign, SandVec3 g, Effect *e) {
    SandVec3 w = turned(b, v3_cross(from, g));
    e->u = v3_madd(e->u, sign, v3_madd(v3_cross(w, at), b->inverse_mass, g));
    e->size += b->inverse_mass * v3_length(g) + v3_length(w) * v3_length(at);
}

// Block (i, j) of N, with all three rows, times g. It is zero where the contacts share no moving body.
static Effect block_product(const SandProblem *p, const SandContact *i, const SandContact *j, SandVec3 g) {
    Effect e = {{0, 0, 0}, 0};
    int moving = p->dynamic_count;
    if (i->a == j->a && i->a < moving) through(&p->bodies[i->a], j->arm_a, i->arm_a, +1, g, &e);
    if (i->a == j->b && i->a < moving) through(&p->bodies[i->a], j->arm_b, i->arm_a, -1, g, &e);
    if (i->b == j->a && i->b < moving) through(&p->bodies[i->b], j->arm_a, i->arm_b, -1, g, &e);
    if (i->b == j->b && i->b < moving) through(&p->bodies[i->b], j->arm_b, i->arm_b, +1, g, &e);
    return e;
}

SandVec3 dense_block(const SandProblem *p, int i, int j, SandVec3 g) {
    return block_product(p, &p->contacts[i], &p->contacts[j], g).u;
}

void dense_product(const SandProblem *p, bool frictionless, const SandVec3 *x, SandVec3 *y, double *size) {
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        double scale = 0;
        y[i] = v3_make(0, 0, 0);
        for (int j = 0; j < p->contact_count; j++) {
            const SandContact *d = &p->contacts[j];
            if (c->a != d->a && c->a != d->b && c->b != d->a && c->b != d->b) continue; // no body in common
            SandVec3 g = one_row(p, frictionless, j) ? along(x[j], d->normal) : x[j];
            Effect e = block_product(p, c, d, g);
            y[i] = v3_add(y[i], e.u);
            scale += e.size;
        }
        if (one_row(p, frictionless, i)) y[i] = along(y[i], c->normal);
        if (size) size[i] = scale;
    }
}

// A gap may close in a step. Of a penetration a fraction is undone down to a depth, and all of what is deeper, not faster
// than a fall from there.
static double bias(const SandProblem *p, double gap) {
    SandRecovery r = p->recovery;
    double undone = gap < -r.depth ? -gap - r.depth + r.fraction * r.depth : -r.fraction * gap;
    double most = gap < 0 && r.fall > 0 ? fmin(r.speed, sqrt(-2 * r.fall * gap)) : r.speed;
    return gap >= 0 ? gap / p->step : -fmin(undone / p->step, most);
}

void dense_r(const SandProblem *p, bool frictionless, SandVec3 *r) {
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        const SandProblemBody *a = &p->bodies[c->a], *b = &p->bodies[c->b];
        SandVec3 u =
            v3_sub(v3_add(b->velocity, v3_cross(b->spin, c->arm_b)), v3_add(a->velocity, v3_cross(a->spin, c->arm_a)));
        if (one_row(p, frictionless, i)) u = along(u, c->normal);
        r[i] = v3_madd(u, bias(p, c->gap), c->normal);
    }
}

SandVec3 dense_project(SandVec3 x, SandVec3 n, double mu) {
    double xn = v3_dot(x, n);
    SandVec3 t = v3_madd(x, -xn, n);
    double xt = v3_length(t);
    if (xn >= 0 && xt <= mu * xn) return x;
    if (mu * xt <= -xn) return v3_make(0, 0, 0);
    double normal = (xn + mu * xt) / (1 + mu * mu); // along the side of the cone
    return v3_madd(v3_scale(mu * normal / xt, t), normal, n);
}

static double block_trace(const SandProblem *p, bool frictionless, int i) {
    const SandContact *c = &p->contacts[i];
    if (one_row(p, frictionless, i)) return v3_dot(c->normal, block_product(p, c, c, c->normal).u);
    SandVec3 axes[3] = {v3_make(1, 0, 0), v3_make(0, 1, 0), v3_make(0, 0, 1)};
    double trace = 0;
    for (int k = 0; k < 3; k++) trace += v3_dot(axes[k], block_product(p, c, c, axes[k]).u);
    return trace / 3;
}

double dense_tau(const SandProblem *p, bool frictionless) {
    double sum = 0;
    for (int i = 0; i < p->contact_count; i++) sum += block_trace(p, frictionless, i);
    return p->contact_count / sum;
}

DenseMeasure dense_measure(const SandProblem *p, bool frictionless, const SandVec3 *x) {
    size_t n = (size_t)p->contact_count;
    SandVec3 *r = malloc((n + 1) * sizeof *r), *y = malloc((n + 1) * sizeof *y);
    dense_r(p, frictionless, r);
    dense_product(p, frictionless, x, y, NULL);
    double tau = dense_tau(p, frictionless), sum = 0;
    DenseMeasure m = {0};
    for (size_t i = 0; i < n; i++) {
        const SandContact *c = &p->contacts[i];
        double mu = frictionless ? 0 : c->mu;
        SandVec3 g = v3_add(y[i], r[i]);
        SandVec3 e = v3_sub(x[i], dense_project(v3_madd(x[i], -tau, g), c->normal, mu));
        sum += v3_dot(e, e);
        m.objective += 0.5 * v3_dot(x[i], y[i]) + v3_dot(x[i], r[i]);
        m.complementarity = fmax(m.complementarity, fabs(v3_dot(x[i], g)));
        m.outside = fmax(m.outside, v3_length(v3_sub(x[i], dense_project(x[i], c->normal, mu))));
        // With one row only the sign of g_n counts; with three the dual of the cone of slope mu is the cone of slope 1/mu.
        SandVec3 inside = g;
        if (mu > 0)
            inside = dense_project(g, c->normal, 1 / mu);
        else if (v3_dot(g, c->normal) < 0)
            inside = v3_make(0, 0, 0);
        m.inward = fmax(m.inward, v3_length(v3_sub(g, inside)));
    }
    m.residual = sqrt(sum) / tau;
    free(r);
    free(y);
    return m;
}

double dense_natural_map(const SandProblem *p, bool law, const SandVec3 *x, double t) {
    size_t n = (size_t)p->contact_count;
    SandVec3 *r = malloc((n + 1) * sizeof *r), *y = malloc((n + 1) * sizeof *y);
    dense_r(p, false, r);
    dense_product(p, false, x, y, NULL);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const SandContact *c = &p->contacts[i];
        SandVec3 u = v3_add(y[i], r[i]), tangential = v3_madd(u, -v3_dot(u, c->normal), c->normal);
        if (law) u = v3_madd(u, c->mu * v3_length(tangential), c->normal);
        SandVec3 e = v3_sub(x[i], dense_project(v3_madd(x[i], -t, u), c->normal, c->mu));
        sum += v3_dot(e, e);
    }
    free(r);
    free(y);
    return sqrt(sum);
}

void dense_velocities(const SandProblem *p, const SandVec3 *x, SandVec3 *velocity, SandVec3 *spin) {
    for (int k = 0; k < p->body_count; k++) {
        const SandProblemBody *b = &p->bodies[k];
        SandVec3 f = v3_make(0, 0, 0), t = v3_make(0, 0, 0);
        for (int i = 0; i < p->contact_count && k < p->dynamic_count; i++) {
            const SandContact *c = &p->contacts[i];
            if (c->a == k) {
                f = v3_sub(f, x[i]);
                t = v3_sub(t, v3_cross(c->arm_a, x[i]));
            }
            if (c->b == k) {
                f = v3_add(f, x[i]);
                t = v3_add(t, v3_cross(c->arm_b, x[i]));
            }
        }
        velocity[k] = v3_madd(b->velocity, b->inverse_mass, f);
        spin[k] = v3_add(b->spin, turned(b, t));
    }
}
