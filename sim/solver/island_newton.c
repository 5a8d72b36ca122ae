// SPDX-License-Identifier: MIT
// The direct solve of one island: loading its bodies and contacts, projecting impulses, Newton's method on the augmented
// Lagrangian, and before it the try of a pile at rest, in which what bears a load holds.
#include "sim/solver/island_newton.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "sim/solver/contact_result.h"
#include "sim/solver/skyline.h"
#include "sim/solver/symmetric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// rho over the inverse mean diagonal of a contact: at first, where the start is far from the solution, by how much it grows
// with each update of the multipliers, and at last. Stiff contacts that slide have phases that Newton's method finds slowly.
#define SOFT 1e2
#define STIFFER 10
#define STIFF 1e7

// Of the residual that is asked for: up to where a start is taken as it is, far below, since the errors of many steps add
// up; at which Newton's method ends, and what it goes on to where that takes no factorization; the share that slop may have;
// and from where the start counts as near.
#define TOLERANCE 1e-3
#define ENOUGH 0.1
#define DEEP 1e-6
#define SLOP 0.5
#define NEAR 100

// A body, in the order of the factor.
typedef struct Member {
    double mass, inverse_mass;
    double inertia[6]; // world frame: xx, yy, zz, xy, xz, yz
    const double *inverse_inertia;
    SandVec3 velocity, spin; // free
} Member;

// What the derivative of the projection is like at a contact.
typedef enum Phase { OPEN, STICKS, SLIDES } Phase;

typedef struct Touch {
    int a, b; // members, or -1: it does not move, and is part of `given`
    SandVec3 n, arm_a, arm_b;
    SandVec3 given;      // m/s: what bodies that do not move and the gap add to the relative velocity
    double slop;         // m/s, what the gap asks for beyond that
    double mu, diagonal; // mean diagonal of N
    double rho;
} Touch;

typedef struct Motion {
    SandVec3 v, w;
} Motion;

struct SandIslandNewton {
    const SandProblem *problem;
    SandIslandGoal goal;
    SandIsland island;
    int members, touches;
    SAND_ARRAY(Member) member;
    SAND_ARRAY(Touch) touch;
    SandSkyline factor;
    SAND_ARRAY(Phase) phase; // of each contact in the factor
    double scale;            // m/s: what is asked of the residual of the island
    double stiffness;        // SOFT or STIFF
    bool useful; // the last step with the factor gained so much that another may, where the phases are still the same

    SAND_ARRAY(Motion) motion;         // velocities of the members
    SAND_ARRAY(Motion) trial, implied; // others: on the line of a search; those that impulses cause
    SAND_ARRAY(double) gradient, step; // minus that of the augmented Lagrangian; Newton's step
    SAND_ARRAY(double) work;
    SAND_ARRAY(SandVec3) multiplier;     // g
    SAND_ARRAY(SandVec3) projected;      // P_K(g - rho u)
    SAND_ARRAY(SandVec3) relative, same; // relative velocities u of a motion, and of the implied one
    SAND_ARRAY(double) bias;             // De Saxce's, along the normals
    SAND_ARRAY(SandVec3) best;

    SandIslandOrder order; // of the members in the factor
};

SandIslandNewton *sand_island_newton_create(SandError *error) {
    SandIslandNewton *m = calloc(1, sizeof *m);
    if (!m) sand_fail(error, "out of memory for a solver");
    return m;
}

void sand_island_newton_free(SandIslandNewton *m) {
    if (!m) return;
    SAND_FREE_ARRAYS(&m->member, &m->touch, &m->phase, &m->motion, &m->trial, &m->implied, &m->gradient, &m->step,
                     &m->multiplier, &m->projected, &m->relative, &m->same, &m->bias, &m->work, &m->best);
    sand_island_order_free(&m->order);
    sand_skyline_free(&m->factor);
    free(m);
}

// --- the island -------------------------------------------------------------------------------------------

static bool reserve(SandIslandNewton *m, SandError *error) {
    static const char *const what = "an island";
    size_t bodies = (size_t)m->members + 1, contacts = (size_t)m->touches + 1;
    return SAND_RESERVE(m->member, bodies, what, error) && SAND_RESERVE(m->touch, contacts, what, error) &&
           SAND_RESERVE(m->phase, contacts, what, error) && SAND_RESERVE(m->motion, bodies, what, error) &&
           SAND_RESERVE(m->trial, bodies, what, error) && SAND_RESERVE(m->implied, bodies, what, error) &&
           SAND_RESERVE(m->gradient, SAND_BLOCK * bodies, what, error) &&
           SAND_RESERVE(m->step, SAND_BLOCK * bodies, what, error) && SAND_RESERVE(m->multiplier, contacts, what, error) &&
           SAND_RESERVE(m->projected, contacts, what, error) && SAND_RESERVE(m->relative, contacts, what, error) &&
           SAND_RESERVE(m->same, contacts, what, error) && SAND_RESERVE(m->bias, contacts, what, error) &&
           SAND_RESERVE(m->best, contacts, what, error) && SAND_RESERVE(m->work, SAND_BLOCK * bodies, what, error);
}

static bool load_member(SandIslandNewton *m, int k) {
    const SandProblemBody *b = &m->problem->bodies[m->island.bodies[m->order.order.data[k]]];
    m->member.data[k] = (Member){.mass = 1 / b->inverse_mass,
                                 .inverse_mass = b->inverse_mass,
                                 .inverse_inertia = b->inverse_inertia,
                                 .velocity = b->velocity,
                                 .spin = b->spin};
    return sand_symmetric_invert(b->inverse_inertia, m->member.data[k].inertia);
}

// The relative velocity that an impulse at the end of an arm causes there.
static SandVec3 response(const Member *b, SandVec3 arm, SandVec3 impulse) {
    SandVec3 spin = m3_apply_symmetric(b->inverse_inertia, v3_cross(arm, impulse));
    return v3_madd(v3_cross(spin, arm), b->inverse_mass, impulse);
}

static double diagonal_along(const SandIslandNewton *m, const Touch *c, SandVec3 axis) {
    double sum = 0;
    if (c->a >= 0) sum += v3_dot(axis, response(&m->member.data[c->a], c->arm_a, axis));
    if (c->b >= 0) sum += v3_dot(axis, response(&m->member.data[c->b], c->arm_b, axis));
    return sum;
}

static SandVec3 point_velocity(SandVec3 v, SandVec3 w, SandVec3 arm) { return v3_add(v, v3_cross(w, arm)); }

// What is left of a bias beyond the slop. Gaps of rounding and of what a step leaves, some 1e-10 m, ask for velocities that
// no rigid bodies can have at once: two bricks that bear a third are not of exactly the same height. To bear it with one of
// them is what a solution would have to find out, anew in every step, for every brick of a wall.
static double beyond(double bias, double slop) { return bias > slop ? bias - slop : bias < -slop ? bias + slop : 0; }

static bool load_touch(SandIslandNewton *m, int i) {
    const SandProblem *p = m->problem;
    int number = m->island.contacts[i];
    const SandContact *c = &p->contacts[number];
    if (sand_problem_joint(p, number) || (!m->goal.frictionless && (c->rolling > 0 || c->spinning > 0))) return false;
    Touch *t = &m->touch.data[i];
    double bias = sand_contact_bias(p, number), asked = beyond(bias, SLOP * m->goal.rms);
    *t = (Touch){.a = sand_body_moves(p, c->a) ? m->order.place.data[c->a] : -1,
                 .b = sand_body_moves(p, c->b) ? m->order.place.data[c->b] : -1,
                 .n = c->normal,
                 .arm_a = c->arm_a,
                 .arm_b = c->arm_b,
                 .given = v3_scale(asked, c->normal),
                 .slop = bias - asked,
                 .mu = m->goal.frictionless ? 0 : c->mu};
    const SandProblemBody *a = &p->bodies[c->a], *b = &p->bodies[c->b];
    if (t->a < 0) t->given = v3_sub(t->given, point_velocity(a->velocity, a->spin, c->arm_a));
    if (t->b < 0) t->given = v3_add(t->given, point_velocity(b->velocity, b->spin, c->arm_b));
    t->diagonal = diagonal_along(m, t, t->n);
    if (t->mu > 0) {
        SandVec3 axes[3];
        sand_contact_axes(p, number, axes);
        t->diagonal = (t->diagonal + diagonal_along(m, t, axes[1]) + diagonal_along(m, t, axes[2])) / 3;
    }
    if (t->a >= 0 && t->b >= 0) {
        int low = t->a < t->b ? t->a : t->b, high = t->a < t->b ? t->b : t->a;
        if (m->factor.first.data[high] > low) m->factor.first.data[high] = low;
    }
    return t->diagonal > 0;
}

bool sand_island_newton_load(SandIslandNewton *m, const SandProblem *problem, const SandIsland *island,
                             const SandIslandGoal *goal, bool *can, SandError *error) {
    m->problem = problem;
    m->island = *island;
    m->goal = *goal;
    m->members = island->body_count;
    m->touches = island->contact_count;
    m->scale = goal->rms * sqrt(m->touches);
    if (!reserve(m, error) || !sand_skyline_reserve(&m->factor, m->members, error) ||
        !sand_island_order_find(&m->order, problem, island, error))
        return false;
    *can = true;
    for (int k = 0; k < m->members && *can; k++) *can = load_member(m, k);
    for (int i = 0; i < m->touches && *can; i++) *can = load_touch(m, i);
    *can = *can && sand_skyline_work(&m->factor) <= SAND_ISLAND_WORK;
    return !*can || sand_skyline_shape(&m->factor, error);
}

// --- the augmented Lagrangian -----------------------------------------------------------------------------

// The nearest admissible impulse, its phase, and, where it slides, the direction of friction and the length of y across the
// normal.
static SandVec3 project(const Touch *c, SandVec3 y, Phase *phase, SandVec3 *along, double *across) {
    double normal = v3_dot(y, c->n);
    SandVec3 t = v3_madd(y, -normal, c->n);
    double side = v3_length(t);
    if (c->mu == 0) {
        *phase = normal > 0 ? SLIDES : OPEN;
        *across = 0;
        return v3_scale(fmax(normal, 0), c->n);
    }
    *phase = side <= c->mu * normal ? STICKS : c->mu * side <= -normal ? OPEN : SLIDES;
    if (*phase == STICKS) return y;
    if (*phase == OPEN) return v3_make(0, 0, 0);
    *along = v3_scale(1 / side, t);
    *across = side;
    return v3_scale((normal + c->mu * side) / (1 + c->mu * c->mu), v3_madd(c->n, c->mu, *along));
}

static SandVec3 project_alone(const Touch *c, SandVec3 y) {
    Phase phase;
    SandVec3 along;
    double across;
    return project(c, y, &phase, &along, &across);
}

static SandVec3 relative_velocity(const Touch *c, const Motion *motion) {
    SandVec3 u = c->given;
    if (c->a >= 0) u = v3_sub(u, point_velocity(motion[c->a].v, motion[c->a].w, c->arm_a));
    if (c->b >= 0) u = v3_add(u, point_velocity(motion[c->b].v, motion[c->b].w, c->arm_b));
    return u;
}

// P_K(g - rho u) of all contacts at some velocities of the bodies, and u, with De Saxce's bias.
static void project_all(SandIslandNewton *m, const Motion *motion) {
    for (int i = 0; i < m->touches; i++) {
        const Touch *c = &m->touch.data[i];
        m->relative.data[i] = v3_madd(relative_velocity(c, motion), m->bias.data[i], c->n);
        m->projected.data[i] = project_alone(c, v3_madd(m->multiplier.data[i], -c->rho, m->relative.data[i]));
    }
}

// Adds the impulses of all contacts, and their moments, to `sum`: six numbers a body.
static void add_impulses(const SandIslandNewton *m, const SandVec3 *impulse, double *sum) {
    for (int i = 0; i < m->touches; i++) {
        const Touch *c = &m->touch.data[i];
        for (int side = 0; side < 2; side++) {
            int k = side ? c->b : c->a;
            if (k < 0) continue;
            SandVec3 g = side ? impulse[i] : v3_neg(impulse[i]), t = v3_cross(side ? c->arm_b : c->arm_a, g);
            double *to = sum + SAND_BLOCK * (size_t)k;
            to[0] += g.x, to[1] += g.y, to[2] += g.z, to[3] += t.x, to[4] += t.y, to[5] += t.z;
        }
    }
}

// Minus the gradient of the augmented Lagrangian at some velocities, from their projected impulses: D P_K(g - rho u) - M (v
// - v_free).
static void find_descent(SandIslandNewton *m, const Motion *motion, double *descent) {
    for (int k = 0; k < m->members; k++) {
        const Member *b = &m->member.data[k];
        SandVec3 p = v3_scale(b->mass, v3_sub(b->velocity, motion[k].v));
        SandVec3 l = m3_apply_symmetric(b->inertia, v3_sub(b->spin, motion[k].w));
        double *to = descent + SAND_BLOCK * (size_t)k;
        to[0] = p.x, to[1] = p.y, to[2] = p.z, to[3] = l.x, to[4] = l.y, to[5] = l.z;
    }
    add_impulses(m, m->projected.data, descent);
}

// The velocities that impulses cause; `sum` is overwritten.
static void find_motion(const SandIslandNewton *m, const SandVec3 *impulse, double *sum, Motion *motion) {
    memset(sum, 0, SAND_BLOCK * (size_t)m->members * sizeof *sum);
    add_impulses(m, impulse, sum);
    for (int k = 0; k < m->members; k++) {
        const Member *b = &m->member.data[k];
        const double *s = sum + SAND_BLOCK * (size_t)k;
        motion[k].v = v3_madd(b->velocity, b->inverse_mass, v3_make(s[0], s[1], s[2]));
        motion[k].w = v3_add(b->spin, m3_apply_symmetric(b->inverse_inertia, v3_make(s[3], s[4], s[5])));
    }
}

// De Saxce's bias of a relative velocity.
static double dissipation(const SandIslandNewton *m, const Touch *c, SandVec3 u) {
    return m->goal.law ? c->mu * v3_length(v3_madd(u, -v3_dot(u, c->n), c->n)) : 0;
}

// The residual of impulses whose velocities are `implied`; leaves their relative velocities in `same`.
static double residual_of(SandIslandNewton *m, const SandVec3 *impulse) {
    double sum = 0, tau = m->goal.tau;
    for (int i = 0; i < m->touches; i++) {
        const Touch *c = &m->touch.data[i];
        SandVec3 u = m->same.data[i] = relative_velocity(c, m->implied.data);
        u = v3_madd(u, dissipation(m, c, u), c->n);
        SandVec3 d = v3_sub(impulse[i], project_alone(c, v3_madd(impulse[i], -tau, u)));
        sum += v3_dot(d, d);
    }
    return sqrt(sum) / tau;
}

// --- Newton's method --------------------------------------------------------------------------------------

// out := (I; [arm]x) K (I; [other]x)', with K symmetric: 6 x 6, column by column, times `sign`.
static void add_block(double *out, const double k[3][3], SandVec3 arm, SandVec3 other, double sign) {
    double left[SAND_BLOCK][3];
    for (int j = 0; j < 3; j++) {
        SandVec3 column = v3_make(k[0][j], k[1][j], k[2][j]), moment = v3_cross(arm, column);
        left[0][j] = column.x, left[1][j] = column.y, left[2][j] = column.z;
        left[3][j] = moment.x, left[4][j] = moment.y, left[5][j] = moment.z;
    }
    for (int i = 0; i < SAND_BLOCK; i++) {
        SandVec3 moment = v3_cross(other, v3_make(left[i][0], left[i][1], left[i][2]));
        const double row[SAND_BLOCK] = {left[i][0], left[i][1], left[i][2], moment.x, moment.y, moment.z};
        for (int j = 0; j < SAND_BLOCK; j++) out[SAND_BLOCK * j + i] += sign * row[j];
    }
}

static void add_outer(double k[3][3], double s, SandVec3 a) {
    const double v[3] = {a.x, a.y, a.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) k[i][j] += s * v[i] * v[j];
}

// rho V at a contact. Returns its phase.
static Phase derivative(const Touch *c, SandVec3 y, double k[3][3]) {
    Phase phase;
    SandVec3 along = {0};
    double across;
    SandVec3 p = project(c, y, &phase, &along, &across);
    memset(k, 0, 9 * sizeof(double));
    if (phase == STICKS)
        for (int i = 0; i < 3; i++) k[i][i] = c->rho;
    if (phase != SLIDES) return phase;
    if (c->mu == 0) return add_outer(k, c->rho, c->n), phase;
    add_outer(k, c->rho / (1 + c->mu * c->mu), v3_madd(c->n, c->mu, along));
    add_outer(k, c->rho * c->mu * v3_dot(p, c->n) / across, v3_cross(c->n, along));
    return phase;
}

static void add_masses(SandIslandNewton *m) {
    for (int k = 0; k < m->members; k++) {
        const Member *b = &m->member.data[k];
        double *d = sand_skyline_block(&m->factor, k, k);
        const double *j = b->inertia;
        const double inertia[3][3] = {{j[0], j[3], j[4]}, {j[3], j[1], j[5]}, {j[4], j[5], j[2]}};
        for (int i = 0; i < 3; i++) {
            d[SAND_BLOCK * i + i] += b->mass;
            for (int l = 0; l < 3; l++) d[SAND_BLOCK * (3 + i) + 3 + l] += inertia[i][l];
        }
    }
}

// Factorizes the second derivative at the velocities whose relative ones are in `relative`; or, with `held`, that where the
// contacts stick or are open as their phases say.
static bool factorize(SandIslandNewton *m, bool held) {
    sand_skyline_clear(&m->factor);
    add_masses(m);
    for (int i = 0; i < m->touches; i++) {
        const Touch *c = &m->touch.data[i];
        double k[3][3] = {{c->rho, 0, 0}, {0, c->rho, 0}, {0, 0, c->rho}};
        if (!held) m->phase.data[i] = derivative(c, v3_madd(m->multiplier.data[i], -c->rho, m->relative.data[i]), k);
        if (m->phase.data[i] == OPEN) continue;
        if (c->a >= 0) add_block(sand_skyline_block(&m->factor, c->a, c->a), k, c->arm_a, c->arm_a, 1);
        if (c->b >= 0) add_block(sand_skyline_block(&m->factor, c->b, c->b), k, c->arm_b, c->arm_b, 1);
        if (c->a < 0 || c->b < 0) continue;
        bool upper = c->a > c->b;
        add_block(sand_skyline_block(&m->factor, upper ? c->a : c->b, upper ? c->b : c->a), k, upper ? c->arm_a : c->arm_b,
                  upper ? c->arm_b : c->arm_a, -1);
    }
    return sand_skyline_factor(&m->factor);
}

// Whether the factor is good for another step. Where contacts slide it is not quite that of the velocities at hand.
static bool is_useful(const SandIslandNewton *m) {
    for (int i = 0; m->useful && i < m->touches; i++) {
        const Touch *c = &m->touch.data[i];
        Phase phase;
        SandVec3 along;
        double across;
        project(c, v3_madd(m->multiplier.data[i], -c->rho, m->relative.data[i]), &phase, &along, &across);
        if (phase != m->phase.data[i]) return false;
    }
    return m->useful;
}

static void move_along(const SandIslandNewton *m, double length, Motion *to) {
    for (int k = 0; k < m->members; k++) {
        const double *d = m->step.data + SAND_BLOCK * (size_t)k;
        to[k].v = v3_madd(m->motion.data[k].v, length, v3_make(d[0], d[1], d[2]));
        to[k].w = v3_madd(m->motion.data[k].w, length, v3_make(d[3], d[4], d[5]));
    }
}

// Slope of the augmented Lagrangian along the step, at this length.
static double slope_at(SandIslandNewton *m, double length) {
    double sum = 0;
    move_along(m, length, m->trial.data);
    project_all(m, m->trial.data);
    find_descent(m, m->trial.data, m->gradient.data);
    for (int j = 0; j < SAND_BLOCK * m->members; j++) sum -= m->gradient.data[j] * m->step.data[j];
    return sum;
}

// How far to go: to where the slope is a small part of that at the beginning. The function is convex, so that its slope
// rises along the step, and regula falsi (the Illinois way) finds its zero.
static double search(SandIslandNewton *m, double first) {
    enum { MOST = 12 };
    const double enough = 0.1 * -first;
    double low = 0, high = 1, at_low = first, at_high = slope_at(m, 1), length = 1;
    if (at_high <= enough) return 1;
    for (int k = 0, side = 0; k < MOST; k++) {
        length = (low * at_high - high * at_low) / (at_high - at_low);
        double slope = slope_at(m, length);
        if (fabs(slope) <= enough) break;
        bool left = slope < 0;
        if (left) {
            low = length, at_low = slope;
            if (side == 1) at_high *= 0.5;
        } else {
            high = length, at_high = slope;
            if (side == -1) at_low *= 0.5;
        }
        side = left ? 1 : -1;
    }
    return length;
}

// The step of Newton's method. False where it would take a factorization more than there may be, or where the slope along it
// is not below zero: nothing is left but rounding.
static bool find_step(SandIslandNewton *m, int most, double *slope, SandIslandResult *result) {
    project_all(m, m->motion.data);
    find_descent(m, m->motion.data, m->gradient.data);
    if (!is_useful(m)) {
        if (result->factorizations >= most) return false;
        result->factorizations++;
        if (!factorize(m, false)) return false;
    }
    size_t count = SAND_BLOCK * (size_t)m->members;
    memcpy(m->step.data, m->gradient.data, count * sizeof *m->step.data);
    sand_skyline_solve(&m->factor, m->step.data);
    *slope = 0;
    for (size_t j = 0; j < count; j++) *slope -= m->gradient.data[j] * m->step.data[j];
    return *slope < 0;
}

// Takes impulses as multipliers, and De Saxce's bias from their velocities.
static void set_multipliers(SandIslandNewton *m, const SandVec3 *impulse) {
    for (int i = 0; i < m->touches; i++) {
        m->multiplier.data[i] = impulse[i];
        m->bias.data[i] = dissipation(m, &m->touch.data[i], m->same.data[i]);
    }
}

static void set_stiffness(SandIslandNewton *m, double stiffness) {
    m->stiffness = stiffness;
    m->useful = false;
    for (int i = 0; i < m->touches; i++) m->touch.data[i].rho = stiffness / m->touch.data[i].diagonal;
}

// The residual of impulses, which are kept if they are the best so far; leaves their velocities in `implied`.
static double judge(SandIslandNewton *m, const SandVec3 *impulse, SandIslandResult *result) {
    find_motion(m, impulse, m->work.data, m->implied.data);
    double residual = residual_of(m, impulse);
    if (residual < result->residual) {
        result->residual = residual;
        memcpy(m->best.data, impulse, (size_t)m->touches * sizeof *m->best.data);
    }
    return residual;
}

// How far the relative velocities of the motion are from those that its impulses cause: zero where it is the minimum.
static double mismatch(const SandIslandNewton *m) {
    double sum = 0;
    for (int i = 0; i < m->touches; i++) {
        SandVec3 d = v3_sub(v3_madd(m->relative.data[i], -m->bias.data[i], m->touch.data[i].n), m->same.data[i]);
        sum += v3_dot(d, d);
    }
    return sqrt(sum);
}

static bool has_time(const SandIslandNewton *m) {
    if (m->goal.stop && __atomic_load_n(m->goal.stop, __ATOMIC_RELAXED)) return false;
    return !(m->goal.until > 0) || sand_seconds() < m->goal.until;
}

// Whether contact i is to bear a load where the pile holds.
static bool bears(const SandIslandNewton *m, int i) { return m->phase.data[i] == STICKS; }

// The impulses and, in m->step, the change of the velocities with which all contacts that bear a load stick.
static void find_held(SandIslandNewton *m) {
    for (int i = 0; i < m->touches; i++) {
        const Touch *c = &m->touch.data[i];
        SandVec3 u = v3_madd(relative_velocity(c, m->motion.data), m->bias.data[i], c->n);
        m->projected.data[i] = bears(m, i) ? v3_madd(m->multiplier.data[i], -c->rho, u) : v3_make(0, 0, 0);
    }
    find_descent(m, m->motion.data, m->step.data);
    sand_skyline_solve(&m->factor, m->step.data);
    move_along(m, 1, m->trial.data);
    for (int i = 0; i < m->touches; i++) {
        const Touch *c = &m->touch.data[i];
        SandVec3 u = v3_madd(relative_velocity(c, m->trial.data), m->bias.data[i], c->n);
        m->projected.data[i] = bears(m, i) ? project_alone(c, v3_madd(m->multiplier.data[i], -c->rho, u)) : v3_make(0, 0, 0);
    }
}

// Tries the solution of a pile at rest, after one factorization: all contacts that bear a load in the start stick, and no
// others bear one. Contacts without load are about to open or to close everywhere in a wall, and Newton's method takes five
// factorizations to find out which of them do, of no consequence. Goes on with the same factor as long as the residual falls
// by half.
static void hold(SandIslandNewton *m, SandIslandResult *result) {
    enum { MOST = 10 };
    double largest = 0;
    for (int i = 0; i < m->touches; i++) largest = fmax(largest, v3_dot(m->multiplier.data[i], m->touch.data[i].n));
    for (int i = 0; i < m->touches; i++)
        m->phase.data[i] = v3_dot(m->multiplier.data[i], m->touch.data[i].n) > 1e-9 * largest ? STICKS : OPEN;
    result->factorizations++;
    if (!factorize(m, true)) return;
    for (int k = 0; k < MOST && result->residual > DEEP * m->scale; k++) {
        double before = result->residual;
        find_held(m);
        judge(m, m->projected.data, result);
        if (!(result->residual < 0.5 * before)) return;
        set_multipliers(m, m->projected.data);
        memcpy(m->motion.data, m->implied.data, (size_t)m->members * sizeof *m->motion.data);
    }
}

// Newton's method, until the residual is small enough, or there is no more of budget or gain.
static void iterate(SandIslandNewton *m, SandIslandResult *result) {
    double last = result->residual, slope;
    while (result->residual > DEEP * m->scale && has_time(m)) {
        bool solved = result->residual <= ENOUGH * m->scale;
        if (!find_step(m, solved ? result->factorizations : m->goal.most, &slope, result)) return;
        move_along(m, search(m, slope), m->motion.data);
        project_all(m, m->motion.data);
        double residual = judge(m, m->projected.data, result);
        m->useful = residual < 0.5 * last;
        last = residual;
        if (mismatch(m) > 0.1 * residual) continue;
        set_multipliers(m, m->projected.data);
        if (m->stiffness < STIFF) set_stiffness(m, fmin(STIFFER * m->stiffness, STIFF));
    }
}

// The residual of the best impulses for the gaps as they are, without slop.
static double certify(SandIslandNewton *m) {
    for (int i = 0; i < m->touches; i++)
        m->touch.data[i].given = v3_add(m->touch.data[i].given, v3_scale(m->touch.data[i].slop, m->touch.data[i].n));
    find_motion(m, m->best.data, m->work.data, m->implied.data);
    return residual_of(m, m->best.data);
}

SandIslandResult sand_island_newton_solve(SandIslandNewton *m, SandVec3 *impulse) {
    SandIslandResult result = {.residual = INFINITY};
    memset(m->best.data, 0, (size_t)m->touches * sizeof *m->best.data);
    for (int i = 0; i < m->touches; i++)
        m->projected.data[i] = project_alone(&m->touch.data[i], m->problem->start[m->island.contacts[i]]);
    judge(m, m->projected.data, &result);
    set_multipliers(m, m->projected.data);
    memcpy(m->motion.data, m->implied.data, (size_t)m->members * sizeof *m->motion.data);
    bool near = result.residual <= NEAR * m->scale;
    set_stiffness(m, near ? STIFF : SOFT);
    if (result.residual > TOLERANCE * m->scale && near && m->goal.most > 0) hold(m, &result);
    if (result.residual > (result.factorizations ? ENOUGH : TOLERANCE) * m->scale) iterate(m, &result);
    for (int i = 0; i < m->touches; i++) impulse[m->island.contacts[i]] = m->best.data[i];
    result.rms = certify(m) / sqrt(m->touches);
    return result;
}
