// SPDX-License-Identifier: MIT
// Drawing bodies, normals and contacts at random, with masses over decades and normals that nearly oppose each other where
// the kind asks for it.
#include "tests/lab/solver/random_problem.h"

#include "sim/core/array.h"
#include "sim/core/random.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BODIES = 5, MOST_BOUNDARIES = 2, MOST_CONTACTS = 8 };

// What is peculiar about a problem.
typedef struct Kind {
    bool spheres;  // arms along the normals
    bool wedges;   // normals that all but oppose each other, and penetrations: impulses are large, or without bound
    bool doubled;  // contacts that are there twice
    double masses; // decades that masses are apart
    double speed;  // m/s
} Kind;

static double decades(SandRandom *random, double least, double most) {
    return pow(10, least + (most - least) * sand_random_unit(random));
}

static SandVec3 direction(SandRandom *random) {
    for (;;) {
        SandVec3 v = v3_make(sand_random_signed(random), sand_random_signed(random), sand_random_signed(random));
        double length = v3_length(v);
        if (length > 0.1 && length < 1) return v3_scale(1 / length, v);
    }
}

static SandVec3 vector(SandRandom *random, double size) {
    return v3_make(size * sand_random_signed(random), size * sand_random_signed(random), size * sand_random_signed(random));
}

static bool chance(SandRandom *random, double part) { return sand_random_unit(random) < part; }

static Kind random_kind(SandRandom *random) {
    Kind kind = {.spheres = chance(random, 0.4),
                 .wedges = chance(random, 0.3),
                 .doubled = chance(random, 0.2),
                 .masses = chance(random, 0.3) ? 6 : 1,
                 .speed = decades(random, -2, 2)};
    return kind;
}

static void random_body(SandProblemBody *b, const Kind *kind, SandRandom *random) {
    double mass = decades(random, -0.5 * kind->masses, 0.5 * kind->masses), radius = decades(random, -1, 0);
    *b = (SandProblemBody){.inverse_mass = 1 / mass,
                           .velocity = vector(random, kind->speed),
                           .spin = vector(random, kind->speed / radius),
                           .radius = kind->spheres ? radius : 0};
    for (int k = 0; k < 3; k++) b->inverse_inertia[k] = 2.5 / (mass * radius * radius);
    for (int k = 0; k < 3 && !kind->spheres; k++) b->inverse_inertia[k] *= 0.2 + sand_random_unit(random);
}

// The next normal: at random, or close to plus or minus the last one.
static SandVec3 random_normal(SandVec3 last, const Kind *kind, SandRandom *random) {
    if (!kind->wedges || chance(random, 0.3)) return direction(random);
    double tilt = chance(random, 0.3) ? 0 : decades(random, -9, 0), sign = chance(random, 0.7) ? -1 : 1;
    SandVec3 n = v3_madd(v3_scale(sign, last), tilt, direction(random));
    return v3_scale(1 / v3_length(n), n);
}

static void random_contact(SandProblem *p, int i, int a, const Kind *kind, SandRandom *random) {
    SandContact *c = &p->contacts[i], *last = i ? c - 1 : NULL;
    if (last && last->a == a && kind->doubled && chance(random, 0.4)) {
        *c = *last;
        return;
    }
    int b = a + 1 + (int)(sand_random_unit(random) * (p->body_count - a - 1));
    double travel = kind->speed * p->step;
    *c = (SandContact){.a = a,
                       .b = b,
                       .normal = random_normal(last ? last->normal : v3_make(0, 0, 1), kind, random),
                       .gap = (chance(random, 0.5) ? -1 : 1) * travel * sand_random_unit(random),
                       .mu = chance(random, 0.2) ? 0 : 1.5 * sand_random_unit(random)};
    if (kind->wedges) c->gap = -fabs(c->gap);
    if (chance(random, 0.2)) c->gap = 0;
    const SandProblemBody *bodies = p->bodies;
    c->arm_a = kind->spheres ? v3_scale(bodies[a].radius + 0.5 * c->gap, c->normal) : vector(random, 0.3);
    c->arm_b = kind->spheres ? v3_scale(-bodies[b].radius - 0.5 * c->gap, c->normal) : vector(random, 0.3);
}

static bool reserve(SandProblem *p, SandError *error) {
    return SAND_GROW(p->bodies, p->body_capacity, MOST_BODIES + MOST_BOUNDARIES, "bodies", error) &&
           SAND_GROW(p->contacts, p->contact_capacity, MOST_CONTACTS, "contacts", error) &&
           SAND_GROW(p->start, p->start_capacity, MOST_CONTACTS, "impulses", error);
}

static int compare_numbers(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

bool random_problem(SandProblem *p, uint64_t seed, SandError *error) {
    SandRandom stream = sand_random(seed + 1), *random = &stream;
    if (!reserve(p, error)) return false;
    for (int k = 0; k < 8; k++) sand_random_bits(random); // small seeds begin alike
    Kind kind = random_kind(random);
    int a[MOST_CONTACTS];
    p->dynamic_count = 1 + (int)(sand_random_unit(random) * MOST_BODIES);
    p->body_count = p->dynamic_count + 1 + (int)(sand_random_unit(random) * MOST_BOUNDARIES);
    p->contact_count = 1 + (int)(sand_random_unit(random) * MOST_CONTACTS);
    p->step = 0.01;
    p->radial = kind.spheres;
    p->recovery = (SandRecovery){.speed = chance(random, 0.5) ? 1 : 1e3, .depth = 0, .fraction = 1};
    for (int k = 0; k < p->dynamic_count; k++) random_body(&p->bodies[k], &kind, random);
    for (int k = p->dynamic_count; k < p->body_count; k++)
        p->bodies[k] = (SandProblemBody){.velocity = chance(random, 0.3) ? vector(random, kind.speed) : v3_make(0, 0, 0)};
    for (int i = 0; i < p->contact_count; i++) a[i] = (int)(sand_random_unit(random) * p->dynamic_count);
    qsort(a, (size_t)p->contact_count, sizeof *a, compare_numbers);
    for (int i = 0; i < p->contact_count; i++) {
        random_contact(p, i, a[i], &kind, random);
        p->start[i] = v3_make(0, 0, 0);
    }
    return sand_problem_check(p, "a random problem", error);
}
