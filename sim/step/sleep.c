// SPDX-License-Identifier: MIT
// Sleeping bodies on the CPU: choosing the contacts that are solved, summing the impulses on sleeping bodies, and copying
// between the whole problem and the reduced one. The rules are in sleep.inl.
#include "sim/step/sleep.h"

#include "sim/core/array.h"
#include "sim/core/hash.h"

#include <string.h>

void sand_sleep_free(SandSleep *sleep) {
    SAND_FREE_ARRAYS(&sleep->solved);
    sand_free(sleep->arrays.touches);
    sand_free(sleep->arrays.sum);
    sand_problem_free(&sleep->problem);
    *sleep = (SandSleep){0};
}

static uint64_t hash_numbers(uint64_t hash, const double *numbers, int count) {
    for (int k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &numbers[k], sizeof bits);
        hash = sand_hash(hash, bits);
    }
    return hash;
}

uint64_t sand_sleep_settings(const SandWorld *w) {
#define NUMBER(type, name, ...) w->name,
    const double numbers[] = {SAND_WORLD_SETTINGS(NUMBER) w->gravity.x, w->gravity.y, w->gravity.z, w->body_count};
#undef NUMBER
    int pairs = w->material_count * w->material_count;
    uint64_t hash = hash_numbers(SAND_HASH_BEGIN, numbers, sizeof numbers / sizeof *numbers);
    hash = hash_numbers(hash, (const double *)w->pairs, pairs * (int)(sizeof *w->pairs / sizeof(double)));
    for (int k = 0; k < w->material_count; k++) hash = hash_numbers(hash, &w->materials[k].density, 1);
    return hash;
}

bool sand_sleep_applies(const SandWorld *w, const SandWarmStart *warm_start) {
    return w->sleep_speed > 0 && warm_start->step > 0 && warm_start->settings == sand_sleep_settings(w);
}

// --- the reduced problem ------------------------------------------------------------------------------------

static bool reserve(SandSleep *sleep, const SandProblem *all, SandError *error) {
    SandProblem *p = &sleep->problem;
    size_t bodies = (size_t)all->dynamic_count, contacts = (size_t)all->contact_count;
    bool ok = SAND_GROW(sleep->arrays.touches, sleep->touches_capacity, bodies + 1, "bodies", error) &&
              SAND_GROW(sleep->arrays.sum, sleep->sum_capacity, bodies + 1, "bodies", error) &&
              SAND_RESERVE(sleep->solved, contacts, "contacts", error) &&
              SAND_GROW(p->bodies, p->body_capacity, all->body_count, "bodies", error) &&
              SAND_GROW(p->contacts, p->contact_capacity, contacts, "contacts", error) &&
              SAND_GROW(p->start, p->start_capacity, sand_problem_vectors(all), "contacts", error);
    if (!ok) return false;
    memset(sleep->arrays.touches, 0, bodies * sizeof *sleep->arrays.touches);
    memset(sleep->arrays.sum, 0, bodies * sizeof *sleep->arrays.sum);
    return true;
}

// Lists the contacts that are solved, and marks their bodies. A body that a solved contact touched in the last step is
// marked too.
static void choose(SandSleep *sleep, const SandHostState *host) {
    const SandWorld *w = &host->world;
    const SandCollision *collision = &host->collision;
    sleep->solved_count = 0;
    for (int i = 0; i < collision->contact_count; i++) {
        if (sleep->applies && contact_is_asleep(w, collision, &collision->contacts[i])) continue;
        sleep_touch(collision, &collision->contacts[i], sleep->arrays);
        sleep->solved.data[sleep->solved_count++] = i;
    }
    for (int k = 0; k < collision->body_count; k++)
        if (!sleep->applies || w->sleep[collision->body[k]] & SLEEP_TOUCHED) sleep->arrays.touches[k] |= TOUCHES_AWAKE;
}

// The torque of contact i in a vector of impulses; zero without rolling friction.
static SandVec3 torque_of(const SandProblem *p, const SandVec3 *impulse, int64_t i) {
    return p->rolls ? impulse[p->contact_count + i] : v3_make(0, 0, 0);
}

// Adds the impulses of contacts that are left out to the sums of sleeping bodies.
static void keep_work(SandWorker *worker, void *argument) {
    const SandSleep *sleep = ((void **)argument)[0];
    const SandHostState *host = ((void **)argument)[1];
    const SandCollision *collision = &host->collision;
    int at = 0; // next of the contacts that are solved
    int64_t begin = sand_chunk_begin(worker->first_chunk, collision->contact_count);
    while (at < sleep->solved_count && sleep->solved.data[at] < begin) at++;
    for (int64_t i = begin; i < sand_chunk_begin(worker->last_chunk, collision->contact_count); i++) {
        if (at < sleep->solved_count && sleep->solved.data[at] == i)
            at++;
        else
            sleep_add_contact(&host->world, collision, &collision->contacts[i], host->problem.start[i],
                              torque_of(&host->problem, host->problem.start, i), sleep->arrays);
    }
}

static bool copy_joints(SandSleep *sleep, const SandProblem *all, SandError *error) {
    SandProblem *p = &sleep->problem;
    p->joint_count = 0;
    if (all->joint_count == 0) return true;
    if (!sand_problem_reserve_joints(p, all->joint_count, error)) return false;
    for (int k = 0; k < all->joint_count; k++) p->joints[k] = all->joints[k];
    for (int i = 0; i < sleep->solved_count; i++) p->joint[i] = all->joint[sleep->solved.data[i]];
    return true;
}

bool sand_sleep_reduce(SandSleep *sleep, const SandHostState *host, SandThreadPool *pool, SandError *error) {
    const SandProblem *all = &host->problem;
    SandProblem *p = &sleep->problem;
    if (!reserve(sleep, all, error)) return false;
    sleep->applies = sand_sleep_applies(&host->world, &host->warm_start);
    choose(sleep, host);
    const void *arguments[] = {sleep, host};
    sand_thread_pool_run(pool, keep_work, (void *)arguments);
    p->body_count = all->body_count;
    p->dynamic_count = all->dynamic_count;
    p->contact_count = sleep->solved_count;
    p->radial = all->radial;
    p->bounces = all->bounces;
    p->rolls = all->rolls;
    p->step = all->step;
    p->recovery = all->recovery;
    for (int k = 0; k < all->body_count; k++) {
        p->bodies[k] = all->bodies[k];
        if (k < all->dynamic_count && sleep->applies && body_is_asleep(&host->world, host->collision.body[k]))
            p->bodies[k] = sleep_fixed(p->bodies[k]);
    }
    for (int i = 0; i < sleep->solved_count; i++) {
        p->contacts[i] = all->contacts[sleep->solved.data[i]];
        p->start[i] = all->start[sleep->solved.data[i]];
        if (p->rolls) p->start[p->contact_count + i] = all->start[all->contact_count + sleep->solved.data[i]];
    }
    return copy_joints(sleep, all, error);
}

// Expands a vector from solved contacts, `from`, to all contacts, `to`; contacts that were left out keep their start. The
// two may overlap: it goes from the last contact to the first, so that none is overwritten before it is read.
static void spread(const SandSleep *sleep, int contacts, const SandVec3 *start, const SandVec3 *from, SandVec3 *to) {
    int k = sleep->solved_count - 1;
    for (int i = contacts - 1; i >= 0; i--) {
        bool solved = k >= 0 && sleep->solved.data[k] == i;
        to[i] = solved ? from[k--] : start[i];
    }
}
static void spread_impulses(const SandSleep *sleep, const SandProblem *all, SandVec3 *impulse) {
    int contacts = all->contact_count;
    if (all->rolls && contacts)
        spread(sleep, contacts, all->start + contacts, impulse + sleep->solved_count, impulse + contacts);
    spread(sleep, contacts, all->start, impulse, impulse);
}

bool sand_sleep_expand(const SandSleep *sleep, const SandHostState *host, SandSolution *solution, SandError *error) {
    const SandProblem *all = &host->problem;
    const SandCollision *collision = &host->collision;
    if (!SAND_GROW(solution->impulse, solution->impulse_capacity, sand_problem_vectors(all), "impulses", error))
        return false;
    spread_impulses(sleep, all, solution->impulse);
    if (!sleep->applies) return true;
    for (int i = 0; i < sleep->solved_count; i++) {
        int contact = sleep->solved.data[i];
        sleep_add_contact(&host->world, collision, &collision->contacts[contact], solution->impulse[contact],
                          torque_of(all, solution->impulse, contact), sleep->arrays);
    }
    for (int k = 0; k < all->dynamic_count; k++)
        if (body_is_asleep(&host->world, collision->body[k]))
            sleep_motion(&host->world, collision->body[k], &sleep->arrays.sum[k], &all->bodies[k], &solution->velocity[k],
                         &solution->spin[k]);
    return true;
}
