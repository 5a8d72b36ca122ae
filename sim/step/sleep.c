#include "sim/step/sleep.h"

#include "sim/core/array.h"
#include "sim/core/hash.h"

#include <string.h>

void sand_rest_free(SandRest *rest) {
    sand_free(rest->arrays.touches);
    sand_free(rest->arrays.sum);
    sand_free(rest->solved);
    sand_problem_free(&rest->problem);
    *rest = (SandRest){0};
}

static uint64_t hash_numbers(uint64_t hash, const double *numbers, int count) {
    for (int k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &numbers[k], sizeof bits);
        hash = sand_hash(hash, bits);
    }
    return hash;
}

uint64_t sand_rest_settings(const SandWorld *w) {
    const double numbers[] = {w->gravity.x, w->gravity.y,         w->gravity.z,  w->step,        w->rest_speed,
                              w->recovery,  w->recovery_fraction, w->body_count, w->bounce_speed};
    int pairs = w->material_count * w->material_count;
    uint64_t hash = hash_numbers(SAND_HASH_BEGIN, numbers, sizeof numbers / sizeof *numbers);
    hash = hash_numbers(hash, (const double *)w->pairs, pairs * (int)(sizeof *w->pairs / sizeof(double)));
    for (int k = 0; k < w->material_count; k++) hash = hash_numbers(hash, &w->materials[k].density, 1);
    return hash;
}

bool sand_rest_applies(const SandWorld *w, const SandWarmStart *warm_start) {
    return w->rest_speed > 0 && warm_start->step > 0 && warm_start->settings == sand_rest_settings(w);
}

// --- the smaller problem ------------------------------------------------------------------------------------

static bool reserve(SandRest *rest, const SandProblem *all, SandError *error) {
    SandProblem *p = &rest->problem;
    size_t bodies = (size_t)all->dynamic_count, contacts = (size_t)all->contact_count;
    bool ok = SAND_GROW(rest->arrays.touches, rest->touches_capacity, bodies + 1, "bodies", error) &&
              SAND_GROW(rest->arrays.sum, rest->sum_capacity, bodies + 1, "bodies", error) &&
              SAND_GROW(rest->solved, rest->solved_capacity, contacts, "contacts", error) &&
              SAND_GROW(p->bodies, p->body_capacity, all->body_count, "bodies", error) &&
              SAND_GROW(p->contacts, p->contact_capacity, contacts, "contacts", error) &&
              SAND_GROW(p->start, p->start_capacity, sand_problem_vectors(all), "contacts", error);
    if (!ok) return false;
    memset(rest->arrays.touches, 0, bodies * sizeof *rest->arrays.touches);
    memset(rest->arrays.sum, 0, bodies * sizeof *rest->arrays.sum);
    return true;
}

// Lists the contacts that are solved, and notes the bodies that they touch.
static void choose(SandRest *rest, const SandHostState *host) {
    const SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    rest->solved_count = 0;
    for (int i = 0; i < collision->contact_count; i++) {
        if (rest->applies && contact_rests(w, collision, &collision->contacts[i])) continue;
        rest_touch(collision, &collision->contacts[i], rest->arrays);
        rest->solved[rest->solved_count++] = i;
    }
    for (int k = 0; k < collision->body_count; k++)
        if (!rest->applies || w->rest[collision->body[k]] & REST_TOUCHED) rest->arrays.touches[k] |= TOUCHES_AWAKE;
}

// The torque of contact i among the impulses of a problem.
static SandVec3 torque_of(const SandProblem *p, const SandVec3 *impulse, int64_t i) {
    return p->rolls ? impulse[p->contact_count + i] : v3_make(0, 0, 0);
}

// Adds the impulses of the contacts that are left out.
static void keep_work(SandWorker *worker, void *argument) {
    const SandRest *rest = ((void **)argument)[0];
    const SandHostState *host = ((void **)argument)[1];
    const SandCollision *collision = &host->collision;
    int at = 0; // next of the contacts that are solved
    int64_t begin = sand_chunk_begin(worker->first_chunk, collision->contact_count);
    while (at < rest->solved_count && rest->solved[at] < begin) at++;
    for (int64_t i = begin; i < sand_chunk_begin(worker->last_chunk, collision->contact_count); i++) {
        if (at < rest->solved_count && rest->solved[at] == i)
            at++;
        else
            rest_add_contact(&host->world, collision, &collision->contacts[i], host->problem.start[i],
                             torque_of(&host->problem, host->problem.start, i), rest->arrays);
    }
}

static bool copy_joints(SandRest *rest, const SandProblem *all, SandError *error) {
    SandProblem *p = &rest->problem;
    p->joint_count = 0;
    if (all->joint_count == 0) return true;
    if (!sand_problem_reserve_joints(p, all->joint_count, error)) return false;
    for (int k = 0; k < all->joint_count; k++) p->joints[k] = all->joints[k];
    for (int i = 0; i < rest->solved_count; i++) p->joint[i] = all->joint[rest->solved[i]];
    return true;
}

bool sand_rest_reduce(SandRest *rest, const SandHostState *host, SandThreadPool *pool, SandError *error) {
    const SandProblem *all = &host->problem;
    SandProblem *p = &rest->problem;
    if (!reserve(rest, all, error)) return false;
    rest->applies = sand_rest_applies(&host->world, &host->warm_start);
    choose(rest, host);
    const void *arguments[] = {rest, host};
    sand_thread_pool_run(pool, keep_work, (void *)arguments);
    p->body_count = all->body_count;
    p->dynamic_count = all->dynamic_count;
    p->contact_count = rest->solved_count;
    p->radial = all->radial;
    p->bounces = all->bounces;
    p->rolls = all->rolls;
    p->step = all->step;
    p->recovery = all->recovery;
    for (int k = 0; k < all->body_count; k++) {
        p->bodies[k] = all->bodies[k];
        if (k < all->dynamic_count && rest->applies && body_rests(&host->world, host->collision.body[k]))
            p->bodies[k] = rest_fixed(p->bodies[k]);
    }
    for (int i = 0; i < rest->solved_count; i++) {
        p->contacts[i] = all->contacts[rest->solved[i]];
        p->start[i] = all->start[rest->solved[i]];
        if (p->rolls) p->start[p->contact_count + i] = all->start[all->contact_count + rest->solved[i]];
    }
    return copy_joints(rest, all, error);
}

// Spreads the impulses over all contacts, and then their torques: `from` holds those of the solved ones, and those that were
// left out keep their start. From the last one on: none is overwritten before it is read.
static void spread(const SandRest *rest, int contacts, const SandVec3 *start, const SandVec3 *from, SandVec3 *to) {
    int k = rest->solved_count - 1;
    for (int i = contacts - 1; i >= 0; i--) {
        bool solved = k >= 0 && rest->solved[k] == i;
        to[i] = solved ? from[k--] : start[i];
    }
}
static void spread_impulses(const SandRest *rest, const SandProblem *all, SandVec3 *impulse) {
    int contacts = all->contact_count;
    if (all->rolls) spread(rest, contacts, all->start + contacts, impulse + rest->solved_count, impulse + contacts);
    spread(rest, contacts, all->start, impulse, impulse);
}

bool sand_rest_expand(const SandRest *rest, const SandHostState *host, SandSolution *solution, SandError *error) {
    const SandProblem *all = &host->problem;
    const SandCollision *collision = &host->collision;
    if (!SAND_GROW(solution->impulse, solution->impulse_capacity, sand_problem_vectors(all), "impulses", error))
        return false;
    spread_impulses(rest, all, solution->impulse);
    if (!rest->applies) return true;
    for (int i = 0; i < rest->solved_count; i++) {
        int contact = rest->solved[i];
        rest_add_contact(&host->world, collision, &collision->contacts[contact], solution->impulse[contact],
                         torque_of(all, solution->impulse, contact), rest->arrays);
    }
    for (int k = 0; k < all->dynamic_count; k++)
        if (body_rests(&host->world, collision->body[k]))
            rest_motion(&host->world, collision->body[k], &rest->arrays.sum[k], &all->bodies[k], &solution->velocity[k],
                        &solution->spin[k]);
    return true;
}
