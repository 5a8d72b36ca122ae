// SPDX-License-Identifier: MIT
// Collision detection against brute force: every pair within the envelope is found once and no other, with the same bits for
// every number of threads, and contacts are recognized in the next step (warm start).
#include "sim/collision/collide.h"
#include "sim/collision/broad_phase.inl"
#include "sim/collision/warm_start.h"
#include "tests/lab/lab.h"

// --- worlds -----------------------------------------------------------------------------------------------

static SandVec3 random_vector(SandRandom *random, double size) {
    SandVec3 v;
    v.x = size * sand_random_signed(random);
    v.y = size * sand_random_signed(random);
    v.z = size * sand_random_signed(random);
    return v;
}

static void throw_body(SandWorld *world, SandRandom *random, int shape, double scale, double half, double speed) {
    int body = lab_body(world, shape, scale, random_vector(random, half));
    world->rotation[body] = sand_random_rotation(random);
    world->velocity[body] = random_vector(random, speed);
    world->spin[body] = random_vector(random, 2);
}

// Radii that differ by a factor of 20, a few fast ones, a floor.
static SandWorld many_sizes(void) {
    SandRandom random = sand_random(1);
    SandWorld world = lab_world(0.3);
    lab_plane(&world, v3_make(0, 0, -1.5), v3_make(0.1, 0, 1));
    for (int i = 0; i < 1500; i++)
        throw_body(&world, &random, 0, 0.02 * pow(20, sand_random_unit(&random)), 2, i % 50 ? 0.5 : 20);
    return world;
}

static SandWorld clumps(void) {
    const SandShapeSphere tooth[3] = {{{0, 0, -0.45}, 0.55}, {{0.2, 0.15, 0}, 0.5}, {{0, 0, 0.7}, 0.35}};
    SandRandom random = sand_random(2);
    SandWorld world = lab_world(0.6);
    SandShape shape;
    assert_true(sand_shape_clump(&shape, tooth, 3, NULL));
    assert_int_equal(sand_world_add_shape(&world, &shape, NULL), 1);
    sand_world_add_material(&world, &(SandMaterial){.name = "ice", .density = 900, .mu = 0.05}, NULL);
    world.envelope = 0.01;
    for (int i = 0; i < 500; i++) {
        throw_body(&world, &random, i % 3 != 0, 0.1 + 0.2 * sand_random_unit(&random), 1.5, 1);
        world.material[i] = i % 2;
        if (i % 10 == 0) world.gone[i] = 1;
        if (i % 11 == 0) world.enter[i] = 1;
    }
    return world;
}

static SandWorld big_in_small(void) {
    SandRandom random = sand_random(3);
    SandWorld world = lab_world(0.2);
    throw_body(&world, &random, 0, 1.0, 0.1, 3);
    for (int i = 0; i < 3000; i++) throw_body(&world, &random, 0, 0.05, 1.5, 0.3);
    return world;
}

// A few spheres, some of them a thousand kilometers away: two of those touch.
static SandWorld far_apart(void) {
    SandRandom random = sand_random(4);
    SandWorld world = lab_world(0.2);
    world.lower = v3_make(-1e7, -1e7, -1e7);
    world.upper = v3_make(1e7, 1e7, 1e7);
    for (int i = 0; i < 300; i++) throw_body(&world, &random, 0, 0.1, 0.8, 0.3);
    lab_body(&world, 0, 0.1, v3_make(1e6, 2e6, -3e6));
    lab_body(&world, 0, 0.1, v3_make(1e6 + 0.19, 2e6, -3e6));
    lab_body(&world, 0, 0.1, v3_make(-1e6, 0, 0));
    lab_body(&world, 0, 0.1, world.position[5]); // and two with the same center
    world.velocity[world.body_count - 1] = v3_make(0, 0, 40);
    return world;
}

static SandWorld empty(void) { return lab_world(0.2); }

static SandWorld single(void) {
    SandWorld world = lab_world(0.2);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    return world;
}

static SandWorld (*const worlds[])(void) = {many_sizes, clumps, big_in_small, far_apart, empty, single};
enum { WORLDS = sizeof worlds / sizeof *worlds };

// --- brute force ------------------------------------------------------------------------------------------

// Which spheres touch; the lower body first, or a boundary as -1 - index with its piece in place of a sphere.
typedef struct Pair {
    int a, sub_a, b;
    uint32_t sub_b;
    double gap;
} Pair;

typedef struct Pairs {
    Pair *list;
    int count, capacity;
} Pairs;

static void add_pair(Pairs *pairs, Pair pair) {
    if (pairs->count == pairs->capacity) {
        pairs->capacity = 2 * pairs->capacity + 64;
        pairs->list = realloc(pairs->list, (size_t)pairs->capacity * sizeof *pairs->list);
        assert_non_null(pairs->list);
    }
    pairs->list[pairs->count++] = pair;
}

static int compare_pairs(const void *x, const void *y) {
    const Pair *p = x, *q = y;
    if (p->a != q->a) return p->a < q->a ? -1 : 1;
    if (p->b != q->b) return p->b < q->b ? -1 : 1;
    if (p->sub_a != q->sub_a) return p->sub_a < q->sub_a ? -1 : 1;
    return p->sub_b < q->sub_b ? -1 : p->sub_b > q->sub_b;
}

typedef struct Sphere {
    int body, sub;
    SandVec3 center, velocity;
    double radius, turning, impact_margin;
} Sphere;

// The proxies from the world alone; their impact margins are taken from the broad phase, and have a test of their own.
static Sphere *list_balls(const SandWorld *w, const SandCollision *d, int *count) {
    Sphere *spheres = calloc((size_t)d->broad_phase.sphere_count + 1, sizeof *spheres);
    assert_non_null(spheres);
    *count = 0;
    for (int i = 0; i < w->body_count; i++) {
        const SandShape *shape = &w->shapes[w->shape[i]];
        for (int k = 0; sand_world_active(w, i) && k < shape->sphere_count; k++) {
            SandVec3 arm = q_rotate(w->rotation[i], v3_scale(w->scale[i], shape->spheres[k].center));
            Sphere sphere = {i, k, v3_add(w->position[i], arm), v3_add(w->velocity[i], v3_cross(w->spin[i], arm)), 0, 0, 0};
            sphere.radius = w->scale[i] * shape->spheres[k].radius;
            sphere.turning = v3_length(w->spin[i]) * sphere.radius;
            spheres[(*count)++] = sphere;
        }
    }
    assert_int_equal(*count, d->broad_phase.sphere_count);
    for (int s = 0; s < d->broad_phase.sphere_count; s++)
        for (int k = 0; k < *count; k++)
            if (spheres[k].body == d->broad_phase.sorted[s].body && spheres[k].sub == d->broad_phase.sorted[s].sub)
                spheres[k].impact_margin = d->broad_phase.sorted[s].impact_margin;
    return spheres;
}

static Pairs brute_force(const SandWorld *w, const SandCollision *d) {
    Pairs pairs = {0};
    int count;
    Sphere *spheres = list_balls(w, d, &count);
    double fall = w->step * v3_length(w->gravity);
    for (int i = 0; i < count; i++) {
        const Sphere *p = &spheres[i];
        for (int j = i + 1; j < count; j++) {
            const Sphere *q = &spheres[j];
            double gap = v3_length(v3_sub(q->center, p->center)) - p->radius - q->radius;
            double mu = sand_world_pair(w, w->material[p->body], w->material[q->body])->mu;
            double speed = v3_length(v3_sub(q->velocity, p->velocity)) + p->turning + q->turning + fall;
            double reach = fmax(w->envelope, fmax(w->step * (1 + mu) * speed, fmax(p->impact_margin, q->impact_margin)));
            if (p->body == q->body || gap > reach) continue;
            add_pair(&pairs, (Pair){p->body, p->sub, q->body, (uint32_t)q->sub, gap});
        }
        for (int b = 0; b < w->boundary_count; b++) {
            double mu = sand_world_pair(w, w->material[p->body], w->boundaries[b].material)->mu;
            double speed = v3_length(p->velocity) + p->turning + fall;
            double reach = fmax(w->envelope, fmax(w->step * (1 + mu) * speed, fmax(p->impact_margin, p->radius)));
            SandTouch touches[8];
            int n = sand_boundary_touch(&w->boundaries[b], &w->boundaries[b].pose, p->center, p->radius, reach, touches, 8);
            for (int k = 0; k < n; k++)
                add_pair(&pairs, (Pair){p->body, p->sub, -1 - b, touches[k].feature, touches[k].gap});
        }
    }
    free(spheres);
    return pairs;
}

// The contacts found, as pairs; their order and directions are checked on the way.
static Pairs found_pairs(const SandWorld *w, const SandCollision *d) {
    Pairs pairs = {0};
    for (int i = 0; i < d->contact_count; i++) {
        const SandContactCandidate *f = &d->contacts[i];
        int a = d->body[f->index_a], sub_a = (int)(f->key.feature >> 24);
        uint32_t rest = f->key.feature & 0xffffff;
        assert_true(i == 0 || f->index_a >= d->contacts[i - 1].index_a);
        assert_true(i >= d->first[f->index_a] && i < d->first[f->index_a + 1]);
        NEAR(v3_length(f->normal), 1, 1e-12);
        if (f->b < 0) {
            assert_true(f->key.other == (SAND_BOUNDARY_BIT | (uint32_t)(-1 - f->b)));
            add_pair(&pairs, (Pair){a, sub_a, f->b, rest, f->gap});
            continue;
        }
        int b = d->body[f->b];
        assert_true(f->index_a < f->b);
        assert_int_equal((int)f->key.other, b);
        NEAR(f->mu, sand_world_pair(w, w->material[a], w->material[b])->mu, 0);
        add_pair(&pairs, a < b ? (Pair){a, sub_a, b, rest, f->gap} : (Pair){b, (int)rest, a, (uint32_t)sub_a, f->gap});
        // Spheres: the normal points from a to b, and the point lies in the middle of the gap.
        if (w->shapes[w->shape[a]].kind != SAND_SPHERE || w->shapes[w->shape[b]].kind != SAND_SPHERE) continue;
        SandVec3 apart = v3_sub(w->position[b], w->position[a]);
        NEAR(v3_dot(f->normal, apart), v3_length(apart), 1e-9);
        NEAR(v3_length(v3_sub(f->point, w->position[a])), fabs(w->scale[a] + 0.5 * f->gap), 1e-9);
    }
    assert_int_equal(d->first[d->body_count], d->contact_count);
    return pairs;
}

static SandThreadPool *pool_of(int threads) {
    SandThreadPool *pool = sand_thread_pool_create(threads, NULL);
    assert_non_null(pool);
    return pool;
}

static void collide(SandCollision *d, const SandWorld *w, SandThreadPool *pool) {
    SandError error = {""};
    if (!sand_collide(d, w, pool, &error)) fail_msg("%s", error.text);
}

static void no_pair_is_missed_and_none_is_there_twice(void **state) {
    (void)state;
    SandThreadPool *pool = pool_of(2);
    for (int k = 0; k < WORLDS; k++) {
        SandWorld w = worlds[k]();
        SandCollision d = {0};
        collide(&d, &w, pool);
        Pairs want = brute_force(&w, &d), got = found_pairs(&w, &d);
        if (want.count) qsort(want.list, (size_t)want.count, sizeof *want.list, compare_pairs);
        if (got.count) qsort(got.list, (size_t)got.count, sizeof *got.list, compare_pairs);
        print_message("world %d: %d bodies, %d levels, %d contacts\n", k, w.body_count, d.broad_phase.level_count,
                      got.count);
        for (int i = 0; i < want.count && i < got.count; i++) {
            if (compare_pairs(&want.list[i], &got.list[i]))
                fail_msg("world %d: wanted %d.%d with %d.%u, found %d.%d with %d.%u", k, want.list[i].a, want.list[i].sub_a,
                         want.list[i].b, want.list[i].sub_b, got.list[i].a, got.list[i].sub_a, got.list[i].b,
                         got.list[i].sub_b);
            NEAR(got.list[i].gap, want.list[i].gap, 1e-9); // a coordinate of a thousand kilometers is good to 1e-10 m
        }
        assert_int_equal(got.count, want.count);
        free(want.list);
        free(got.list);
        sand_collision_free(&d);
        sand_world_free(&w);
    }
    sand_thread_pool_free(pool);
}

static void the_order_does_not_depend_on_the_thread_count(void **state) {
    (void)state;
    static const int pools[] = {2, 3, 8};
    for (int k = 0; k < WORLDS; k++) {
        SandWorld w = worlds[k]();
        SandCollision alone = {0};
        SandThreadPool *one = pool_of(1);
        collide(&alone, &w, one);
        for (int t = 0; t < 3; t++) {
            SandThreadPool *pool = pool_of(pools[t]);
            SandCollision d = {0};
            for (int again = 0; again < 2; again++) { // the second time with arrays that are large enough already
                collide(&d, &w, pool);
                assert_int_equal(d.contact_count, alone.contact_count);
                assert_int_equal(d.body_count, alone.body_count);
                // The struct has no padding, so its bytes can be compared.
                if (d.contact_count)
                    assert_memory_equal(d.contacts, alone.contacts, (size_t)d.contact_count * sizeof *d.contacts);
                if (d.body_count) assert_memory_equal(d.body, alone.body, (size_t)d.body_count * sizeof *d.body);
            }
            sand_collision_free(&d);
            sand_thread_pool_free(pool);
        }
        sand_collision_free(&alone);
        sand_thread_pool_free(one);
        sand_world_free(&w);
    }
}

static void nothing_is_found_where_nothing_is_near(void **state) {
    (void)state;
    SandWorld w = lab_world(0.2);
    for (int i = 0; i < 100; i++) lab_body(&w, 0, 0.1, v3_make(i * 1e4, -i * 3e5, i % 7 * 1e5));
    SandCollision d = {0};
    SandThreadPool *pool = pool_of(2);
    collide(&d, &w, pool);
    assert_int_equal(d.contact_count, 0);
    assert_true(d.broad_phase.cell_count < 100000); // cells for spheres, not for the space between them
    sand_collision_free(&d);
    sand_thread_pool_free(pool);
    sand_world_free(&w);
}

// The impact margin of a sphere, by its own speed and those of all pairs.
static void impact_margins_are_those_of_all_pairs(void **state) {
    (void)state;
    SandThreadPool *pool = pool_of(2);
    for (int k = 0; k < WORLDS; k++) {
        SandWorld w = worlds[k]();
        SandCollision d = {0};
        collide(&d, &w, pool);
        double mu = 0, least = INFINITY, most = 0;
        for (int a = 0; a < w.material_count; a++)
            for (int b = 0; b < w.material_count; b++) mu = fmax(mu, sand_world_pair(&w, a, b)->mu);
        double reach = w.step * (1 + mu), fall = w.step * v3_length(w.gravity);
        int count = d.broad_phase.sphere_count, extended = 0;
        SandSphereProxy *spheres = calloc((size_t)count + 1, sizeof *spheres);
        double *own = calloc((size_t)count + 1, sizeof *own);
        assert_non_null(spheres);
        assert_non_null(own);
        for (int i = 0; i < count; i++) { // as they were before impact margins extended them
            spheres[i] = d.broad_phase.sorted[i];
            double speed = v3_length(spheres[i].velocity);
            spheres[i].extent = spheres[i].radius + 0.5 * w.envelope + reach * (speed + spheres[i].turning + fall);
            spheres[i].impact_margin = fmin(fmax(reach * speed - 0.04 * spheres[i].radius, 0), 4 * spheres[i].radius);
            own[i] = spheres[i].impact_margin;
            least = fmin(least, spheres[i].extent);
            most = fmax(most, spheres[i].extent);
        }
        SandBroadPhase levels = {0};
        if (count) grid_choose_levels(&levels, least, most);
        for (int i = 0; i < count; i++)
            for (int j = 0; j < i; j++) {
                double speed;
                if (grid_level_of_extent(&levels, spheres[i].extent) + grid_level_of_extent(&levels, spheres[j].extent) ==
                        0 ||
                    !proxies_may_impact(&spheres[i], &spheres[j], w.envelope, reach, &speed))
                    continue;
                for (int side = 0; side < 2; side++) {
                    SandSphereProxy *sphere = &spheres[side ? i : j];
                    sphere->impact_margin =
                        fmax(sphere->impact_margin, fmin(reach * speed - 0.04 * sphere->radius, 4 * sphere->radius));
                }
            }
        for (int i = 0; i < count; i++) {
            NEAR(d.broad_phase.sorted[i].impact_margin, spheres[i].impact_margin, 1e-12);
            extended += spheres[i].impact_margin > own[i];
        }
        print_message("world %d: %d levels, %d of %d spheres have an impact margin from others\n", k, levels.level_count,
                      extended, count);
        free(spheres);
        free(own);
        sand_collision_free(&d);
        sand_world_free(&w);
    }
    sand_thread_pool_free(pool);
}

// Slow and fast bodies lie in different levels of the grid but side by side in the solver indices: bodies that touch are
// near each other in memory.
static void neighbors_have_close_solver_indices(void **state) {
    (void)state;
    SandRandom random = sand_random(7);
    SandWorld w = lab_world(0.2);
    enum { SIDE = 20 };
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        int body = lab_body(&w, 0, 0.1, v3_make(0.2 * (i % SIDE), 0.2 * (i / SIDE % SIDE), 0.2 * (i / SIDE / SIDE)));
        w.velocity[body].z = sand_random_unit(&random) < 0.03 ? -10 : 0;
    }
    SandCollision d = {0};
    SandThreadPool *pool = pool_of(2);
    collide(&d, &w, pool);
    assert_true(d.broad_phase.level_count > 1);
    bool *seen = calloc((size_t)w.body_count, sizeof *seen);
    assert_non_null(seen);
    int64_t last = -1;
    for (int k = 0; k < d.body_count; k++) {
        int body = d.body[k];
        assert_int_equal(d.solver_index[body], k);
        assert_false(seen[body]);
        seen[body] = true;
        int64_t cell = grid_cell_of(&d.broad_phase.spatial_grid, w.position[body]);
        assert_true(cell >= last);
        last = cell;
    }
    double apart = 0;
    for (int i = 0; i < d.contact_count; i++) apart += d.contacts[i].b - d.contacts[i].index_a;
    apart /= d.contact_count;
    print_message("%d contacts, %.0f solver indices apart on average; a layer has %d bodies\n", d.contact_count, apart,
                  SIDE * SIDE);
    assert_true(apart < SIDE * SIDE);
    free(seen);
    sand_collision_free(&d);
    sand_thread_pool_free(pool);
    sand_world_free(&w);
}

// --- large motion in a step -------------------------------------------------------------------------------

static double deepest_in(SandSimulation *sim, int steps) {
    double deepest = 0;
    for (int i = 0; i < steps; i++) {
        lab_step(sim);
        deepest = fmax(deepest, sand_simulation_counters(sim)->penetration_max);
    }
    sand_simulation_free(sim);
    return deepest;
}

// They fall at the same speed, and do not approach each other until the floor stops the first.
static void a_falling_column_does_not_collapse(void **state) {
    (void)state;
    SandWorld world = lab_world(0.2);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int i = 0; i < 6; i++) lab_body(&world, 0, 0.1, v3_make(0, 0, 0.16 + 0.21 * i));
    for (int i = 0; i < 6; i++) world.velocity[i].z = -9;
    double deepest = deepest_in(lab_exact(&world), 20);
    print_message("falling column: %.1e m deep\n", deepest);
    assert_true(deepest < 1e-6); // the solve converged, so known contacts do not penetrate
}

// A fast sphere hits the first of a row at rest, which hits the next, all within one step of 0.2 m.
static void a_row_that_is_hit_does_not_collapse(void **state) {
    (void)state;
    SandWorld world = lab_world(0.2);
    world.gravity = v3_make(0, 0, 0);
    for (int i = 0; i < 6; i++) lab_body(&world, 0, 0.1, v3_make(0.21 * i, 0, 0));
    lab_body(&world, 0, 0.1, v3_make(-0.25, 0, 0));
    world.velocity[6].x = 20;
    double deepest = deepest_in(lab_exact(&world), 20);
    print_message("row after an impact: %.1e m deep\n", deepest);
    // Impact margins cover the neighbors of a fast sphere; those behind them may penetrate by part of what the slower ones
    // travel, but never so far that two swap places.
    assert_true(deepest < 0.1);
}

// --- warm start -------------------------------------------------------------------------------------------

// An impulse that identifies its contact: on the first of the two bodies it is the opposite of that on the second.
static SandVec3 name_of(int a, int sub_a, int b, int sub_b) {
    double x = 1000 * a + sub_a, y = 1000 * b + sub_b;
    return v3_make(x - y, 3 * (x - y), (x - y) * (x + y));
}

static SandVec3 contact_name(const SandCollision *d, int i) {
    const SandContactCandidate *f = &d->contacts[i];
    int a = d->body[f->index_a], sub_a = (int)(f->key.feature >> 24), sub_b = (int)(f->key.feature & 0xffffff);
    return f->b < 0 ? v3_make(a, sub_a, 7) : name_of(a, sub_a, d->body[f->b], sub_b);
}

static void impulses_are_found_again_when_solver_indices_change(void **state) {
    (void)state;
    SandThreadPool *pool = pool_of(3);
    SandWorld w = clumps();
    SandCollision before = {0}, after = {0};
    SandWarmStart cache = {0};
    lab_plane(&w, v3_make(0, 0, -1.2), v3_make(0, 0, 1));
    collide(&before, &w, pool);
    SandVec3 *impulse = calloc((size_t)before.contact_count, sizeof *impulse);
    for (int i = 0; i < before.contact_count; i++) impulse[i] = contact_name(&before, i);
    assert_true(sand_warm_start_store(&cache, &before, impulse, false, w.step, w.body_count, NULL));

    // Everything rotated by half a turn: the same contacts, but the spatial order of the bodies is reversed. Then a body is
    // added, and one is removed.
    SandQuat turn = q_exp(v3_make(PI, 0, 0));
    w.boundaries[0].pose =
        (SandPose){q_rotate(turn, w.boundaries[0].pose.position), q_mul(turn, w.boundaries[0].pose.rotation)};
    for (int i = 0; i < w.body_count; i++) {
        w.position[i] = q_rotate(turn, w.position[i]);
        w.velocity[i] = q_rotate(turn, w.velocity[i]);
        w.spin[i] = q_rotate(turn, w.spin[i]);
        w.rotation[i] = q_mul(turn, w.rotation[i]);
    }
    int newcomer = lab_body(&w, 0, 0.2, v3_make(0, 0, 0));
    w.gone[1] = 1;
    collide(&after, &w, pool);
    SandVec3 *start = calloc((size_t)after.contact_count, sizeof *start);
    int warm_started = sand_warm_start_apply(&cache, &after, 0.5 * w.step, false, start, pool), fresh = 0, swapped = 0;
    for (int i = 0; i < after.contact_count; i++) {
        const SandContactCandidate *f = &after.contacts[i];
        int a = after.body[f->index_a], b = f->b < 0 ? -1 : after.body[f->b];
        bool is_new = a == newcomer || b == newcomer;
        fresh += is_new;
        if (b >= 0 && !is_new) swapped += before.solver_index[a] > before.solver_index[b];
        SandVec3 want =
            is_new ? v3_make(0, 0, 0) : v3_scale(0.5, contact_name(&after, i)); // half the step, half the impulse
        NEAR(v3_length(v3_sub(start[i], want)), 0, 1e-9);
    }
    print_message("%d contacts, %d new, %d with their bodies in the other order\n", after.contact_count, fresh, swapped);
    assert_int_equal(warm_started, after.contact_count - fresh);
    assert_true(fresh > 0 && swapped > 100);

    sand_warm_start_clear(&cache);
    assert_int_equal(sand_warm_start_apply(&cache, &after, w.step, false, start, pool), 0);
    for (int i = 0; i < after.contact_count; i++) NEAR(v3_length(start[i]), 0, 0);
    free(start);
    free(impulse);
    sand_warm_start_free(&cache);
    sand_collision_free(&before);
    sand_collision_free(&after);
    sand_world_free(&w);
    sand_thread_pool_free(pool);
}

// A heap at rest recovers every impulse and starts where the last step ended.
static void a_heap_at_rest_is_warm_started_whole(void **state) {
    (void)state;
    SandRandom random = sand_random(9);
    SandWorld world = lab_world(0.5);
    SandBoundary box;
    assert_true(sand_boundary_box(&box, v3_make(0.5, 0.5, 2), SAND_INSIDE, NULL));
    sand_world_add_boundary(&world, &box, NULL);
    for (int i = 0; i < 60; i++) {
        SandVec3 at = v3_make(i % 4 - 1.5, i / 4 % 4 - 1.5, i / 16);
        lab_body(&world, 0, 0.1, v3_add(v3_madd(v3_make(0, 0, -1.8), 0.24, at), random_vector(&random, 0.01)));
    }
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.precision = SAND_DOUBLE;
    def.solve.iterations = 200;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, 600);
    const SandCounters *c = sand_simulation_counters(sim);
    for (int i = 0; i < 10; i++) {
        lab_step(sim);
        assert_true(c->contacts > 100);
        assert_int_equal(c->warm_started, c->contacts);
    }
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_pair_is_missed_and_none_is_there_twice),
        cmocka_unit_test(the_order_does_not_depend_on_the_thread_count),
        cmocka_unit_test(nothing_is_found_where_nothing_is_near),
        cmocka_unit_test(impact_margins_are_those_of_all_pairs),
        cmocka_unit_test(neighbors_have_close_solver_indices),
        cmocka_unit_test(a_falling_column_does_not_collapse),
        cmocka_unit_test(a_row_that_is_hit_does_not_collapse),
        cmocka_unit_test(impulses_are_found_again_when_solver_indices_change),
        cmocka_unit_test(a_heap_at_rest_is_warm_started_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
