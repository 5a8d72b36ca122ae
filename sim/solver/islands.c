// SPDX-License-Identifier: MIT
// Finding the islands of a problem by union-find, solving the small ones in parallel, copying what is left for the method,
// and merging both solutions.
#include "sim/solver/islands.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "sim/solver/accuracy.h"
#include "sim/solver/contact_result.h"
#include "sim/solver/island_newton.h"

#include <math.h>
#include <stdlib.h>

struct SandIslands {
    const SandProblem *problem; // of the last solve
    int count;
    SAND_ARRAY(int) root;                        // of each moving body, while islands are found; then its island, or -1
    SAND_ARRAY(int) contact_first, contact_list; // contacts of each island, in their order
    SAND_ARRAY(int) body_first, body_list;       // and bodies
    SAND_ARRAY(int) island;                      // of each contact, or -1: nothing that it touches moves
    SAND_ARRAY(bool) solved;                     // of each island
    SAND_ARRAY(SandIslandResult) result;         // the same
    SandIslandNewton *newton[SAND_MAX_THREADS];  // of each worker
    SandProblem rest;
    SAND_ARRAY(int) rest_body, rest_contact; // of each body and contact of the rest: its number in the problem
    SAND_ARRAY(int) place;                   // of each body of the problem: its number in the rest
};

SandIslands *sand_islands_create(SandError *error) {
    SandIslands *s = calloc(1, sizeof *s);
    if (!s) sand_fail(error, "out of memory for a solver");
    return s;
}

void sand_islands_free(SandIslands *s) {
    if (!s) return;
    SAND_FREE_ARRAYS(&s->root, &s->contact_first, &s->contact_list, &s->body_first, &s->body_list, &s->island, &s->solved,
                     &s->result, &s->rest_body, &s->rest_contact, &s->place);
    for (int k = 0; k < SAND_MAX_THREADS; k++) sand_island_newton_free(s->newton[k]);
    sand_problem_free(&s->rest);
    free(s);
}

// --- the parts --------------------------------------------------------------------------------------------

static bool reserve(SandIslands *s, const SandProblem *p, SandError *error) {
    static const char *const what = "islands";
    size_t bodies = (size_t)p->body_count + 2, contacts = (size_t)p->contact_count + 1;
    return SAND_RESERVE(s->root, bodies, what, error) && SAND_RESERVE(s->contact_first, bodies, what, error) &&
           SAND_RESERVE(s->contact_list, contacts, what, error) && SAND_RESERVE(s->body_first, bodies, what, error) &&
           SAND_RESERVE(s->body_list, bodies, what, error) && SAND_RESERVE(s->island, contacts, what, error) &&
           SAND_RESERVE(s->solved, bodies, what, error) && SAND_RESERVE(s->result, bodies, what, error) &&
           SAND_RESERVE(s->rest_body, bodies, what, error) && SAND_RESERVE(s->rest_contact, contacts, what, error) &&
           SAND_RESERVE(s->place, bodies, what, error);
}

static int root_of(int *root, int k) {
    while (root[k] != k) k = root[k] = root[root[k]];
    return k;
}

// Sorts items into lists by island; those of island -1 are left out.
static void sort_by_island(const int *island, int items, int count, int *first, int *list) {
    for (int k = 0; k <= count + 1; k++) first[k] = 0;
    for (int i = 0; i < items; i++)
        if (island[i] >= 0) first[island[i] + 2]++;
    for (int k = 0; k < count; k++) first[k + 2] += first[k + 1];
    for (int i = 0; i < items; i++)
        if (island[i] >= 0) list[first[island[i] + 1]++] = i; // moves every begin to the one before it
}

// Finds the islands that have contacts, numbered by their first bodies.
static void find_islands(SandIslands *s, const SandProblem *p) {
    int bodies = p->dynamic_count;
    int *touched = s->place.data; // whether a body has a contact; then the island of a root
    for (int k = 0; k < bodies; k++) s->root.data[k] = k, touched[k] = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        if (sand_body_moves(p, c->a)) touched[c->a] = 1;
        if (sand_body_moves(p, c->b)) touched[c->b] = 1;
        if (!sand_body_moves(p, c->a) || !sand_body_moves(p, c->b)) continue;
        int a = root_of(s->root.data, c->a), b = root_of(s->root.data, c->b);
        s->root.data[a > b ? a : b] = a > b ? b : a; // the root is the first body
    }
    s->count = 0;
    for (int k = 0; k < bodies; k++) {
        int root = root_of(s->root.data, k);
        if (root == k) touched[k] = touched[k] ? s->count++ : -1;
        s->root.data[k] = root;
    }
    for (int k = bodies - 1; k >= 0; k--) s->root.data[k] = touched[s->root.data[k]];
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        s->island.data[i] = sand_body_moves(p, c->a)   ? s->root.data[c->a]
                            : sand_body_moves(p, c->b) ? s->root.data[c->b]
                                                       : -1;
    }
    sort_by_island(s->island.data, p->contact_count, s->count, s->contact_first.data, s->contact_list.data);
    sort_by_island(s->root.data, bodies, s->count, s->body_first.data, s->body_list.data);
}

static SandIsland island_at(const SandIslands *s, int k) {
    return (SandIsland){s->contact_list.data + s->contact_first.data[k], s->body_list.data + s->body_first.data[k],
                        s->contact_first.data[k + 1] - s->contact_first.data[k],
                        s->body_first.data[k + 1] - s->body_first.data[k]};
}

// --- the direct solves ------------------------------------------------------------------------------------

// The velocity at the end of a body's arm for an impulse there, along itself.
static double response(const SandProblem *p, int body, SandVec3 arm, SandVec3 axis) {
    if (body >= p->dynamic_count) return 0;
    const SandProblemBody *b = &p->bodies[body];
    SandVec3 turn = v3_cross(arm, axis);
    return b->inverse_mass + v3_dot(turn, m3_apply_symmetric(b->inverse_inertia, turn));
}

// tau of the residual, which is one for all islands so that their squares add up to that of the problem.
static double step_of_residual(const SandProblem *p, bool frictionless) {
    double sum = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        SandVec3 axes[3];
        sand_contact_axes(p, i, axes);
        int rows = frictionless || c->mu == 0 ? 1 : 3;
        for (int k = 0; k < rows; k++)
            sum += (response(p, c->a, c->arm_a, axes[k]) + response(p, c->b, c->arm_b, axes[k])) / rows;
    }
    return sum > 0 ? p->contact_count / sum : 1;
}

static SandIslandGoal goal_of(const SandProblem *p, const SandSolveDef *def, const int *stop) {
    bool frictionless = def->friction == SAND_FRICTIONLESS;
    double asked = def->relative ? 0 : def->tolerance / sqrt(p->contact_count);
    if (def->accuracy > 0) asked = sand_accuracy_rms(def, p->recovery, p->step);
    return (SandIslandGoal){.rms = asked > 0 ? fmin(asked, SAND_ISLAND_RMS) : SAND_ISLAND_RMS,
                            .tau = step_of_residual(p, frictionless),
                            .most = def->iterations / 2, // each costs what tens of products do
                            .until = def->budget_ms > 0 ? sand_seconds() + 1e-3 * def->budget_ms : 0,
                            .stop = stop,
                            .frictionless = frictionless,
                            .law = sand_friction_table[def->friction].set == SAND_SET_LAW};
}

// What the workers share.
typedef struct Work {
    SandIslands *islands;
    SandIslandGoal goal;
    int most; // contacts of a small island
    SandVec3 *impulse;
    int next; // island that no worker has taken yet
    SandError error;
    int failed;
} Work;

static void solve_island(Work *work, SandIslandNewton *newton, int k) {
    SandIslands *s = work->islands;
    SandIsland island = island_at(s, k);
    SandError error;
    bool can;
    s->solved.data[k] = false;
    s->result.data[k] = (SandIslandResult){.rms = INFINITY};
    if (island.contact_count > work->most) return;
    if (!sand_island_newton_load(newton, s->problem, &island, &work->goal, &can, &error)) {
        if (!__atomic_exchange_n(&work->failed, 1, __ATOMIC_RELAXED)) work->error = error;
        return;
    }
    if (!can) return;
    s->result.data[k] = sand_island_newton_solve(newton, work->impulse);
    s->solved.data[k] = s->result.data[k].rms <= work->goal.rms;
}

// Islands differ in size: a worker that is done takes the next. Which worker solves one changes no bits.
static void solve_islands(SandWorker *worker, void *argument) {
    Work *work = argument;
    for (;;) {
        int k = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED);
        if (k >= work->islands->count) return;
        solve_island(work, work->islands->newton[worker->id], k);
    }
}

static bool reserve_workers(SandIslands *s, int threads, SandError *error) {
    for (int k = 0; k < threads; k++)
        if (!s->newton[k] && !(s->newton[k] = sand_island_newton_create(error))) return false;
    return true;
}

// --- the rest ---------------------------------------------------------------------------------------------

static bool is_left(const SandIslands *s, int island) { return island < 0 || !s->solved.data[island]; }

static bool copy_rows(SandProblem *rest, const SandProblem *p, const int *number, SandError *error) {
    rest->joint_count = 0;
    if (!p->joint_count) return true;
    if (!sand_problem_reserve_joints(rest, p->joint_count, error)) return false;
    rest->joint_count = 0;
    for (int i = 0; i < rest->contact_count; i++) {
        const SandJointRows *rows = sand_problem_joint(p, number[i]);
        rest->joint[i] = -1;
        if (!rows) continue;
        rest->joint[i] = rest->joint_count;
        rest->joints[rest->joint_count++] = *rows;
    }
    return true;
}

// Copies what the solved islands leave, in its order: bodies that move first, contacts by their first bodies. It starts from
// the impulses that an island came to.
static bool build_rest(SandIslands *s, const SandProblem *p, const SandVec3 *impulse, SandError *error) {
    SandProblem *rest = &s->rest;
    int contacts = 0, bodies = 0;
    for (int i = 0; i < p->contact_count; i++)
        if (is_left(s, s->island.data[i])) s->rest_contact.data[contacts++] = i;
    rest->contact_count = contacts;
    rest->dynamic_count = 0;
    if (!contacts) return true;
    for (int k = 0; k < p->body_count; k++) {
        bool moving = k < p->dynamic_count;
        s->place.data[k] = -1;
        if (moving && s->root.data[k] >= 0 && s->solved.data[s->root.data[k]]) continue;
        s->place.data[k] = bodies;
        s->rest_body.data[bodies++] = k;
        if (moving) rest->dynamic_count = bodies;
    }
    if (!SAND_GROW(rest->bodies, rest->body_capacity, bodies + 1, "bodies of islands", error) ||
        !SAND_GROW(rest->contacts, rest->contact_capacity, contacts + 1, "contacts of islands", error) ||
        !SAND_GROW(rest->start, rest->start_capacity, 2 * (size_t)contacts + 1, "contacts of islands", error))
        return false;
    rest->body_count = bodies;
    rest->radial = p->radial;
    rest->bounces = p->bounces;
    rest->rolls = p->rolls;
    rest->step = p->step;
    rest->recovery = p->recovery;
    for (int k = 0; k < bodies; k++) rest->bodies[k] = p->bodies[s->rest_body.data[k]];
    for (int i = 0; i < contacts; i++) {
        int number = s->rest_contact.data[i], island = s->island.data[number];
        bool tried = island >= 0 && isfinite(s->result.data[island].rms);
        rest->contacts[i] = p->contacts[number];
        rest->contacts[i].a = s->place.data[p->contacts[number].a];
        rest->contacts[i].b = s->place.data[p->contacts[number].b];
        rest->start[i] = tried ? impulse[number] : p->start[number];
        if (p->rolls) rest->start[contacts + i] = p->start[p->contact_count + number];
    }
    return copy_rows(rest, p, s->rest_contact.data, error);
}

const SandProblem *sand_islands_rest(const SandIslands *s) { return s->rest.contact_count ? &s->rest : NULL; }

void sand_islands_merge(const SandIslands *s, const SandSolution *rest, SandSolution *whole) {
    const SandProblem *p = &s->rest;
    for (int k = 0; k < p->body_count; k++) {
        whole->velocity[s->rest_body.data[k]] = rest->velocity[k];
        whole->spin[s->rest_body.data[k]] = rest->spin[k];
    }
    for (int i = 0; i < p->contact_count; i++) {
        whole->impulse[s->rest_contact.data[i]] = rest->impulse[i];
        if (p->rolls)
            whole->impulse[s->problem->contact_count + s->rest_contact.data[i]] = rest->impulse[p->contact_count + i];
    }
}

bool sand_islands_solve(SandIslands *s, SandThreadPool *pool, const SandProblem *p, const SandSolveDef *def, const int *stop,
                        SandVec3 *impulse, SandIslandReport *report, SandError *error) {
    s->problem = p;
    if (!reserve(s, p, error) || !reserve_workers(s, sand_thread_pool_threads(pool), error)) return false;
    find_islands(s, p);
    Work work = {.islands = s, .goal = goal_of(p, def, stop), .most = def->islands, .impulse = impulse};
    for (int i = 0; i < sand_problem_vectors(p); i++) impulse[i] = v3_make(0, 0, 0);
    int64_t expected = sand_thread_pool_expect(pool, s->count > 1 ? p->contact_count : 1);
    sand_thread_pool_run(pool, solve_islands, &work);
    sand_thread_pool_expect(pool, expected);
    if (work.failed) return *error = work.error, false;
    *report = (SandIslandReport){.count = s->count};
    for (int k = 0; k < s->count; k++) {
        report->solved += s->solved.data[k];
        if (s->solved.data[k]) report->rms = fmax(report->rms, s->result.data[k].rms);
        if (s->result.data[k].factorizations > report->factorizations)
            report->factorizations = s->result.data[k].factorizations;
    }
    return build_rest(s, p, impulse, error);
}
