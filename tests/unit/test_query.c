// SPDX-License-Identifier: MIT
// Rays, nearest surfaces and overlaps: against closed forms, and against a search over everybody (tests/lab/query_lab.h).
#include "tests/lab/compound_lab.h"
#include "tests/lab/query_lab.h"

#include "sim/geometry/mesh.h"

static SandHit cast(SandSimulation *sim, SandVec3 from, SandVec3 along) {
    SandRay ray = {from, along, INFINITY, -1};
    SandHit hit;
    SandError error;
    if (!sand_simulation_raycast(sim, &ray, 1, &hit, &error)) fail_msg("%s", error.text);
    return hit;
}

static SandHit closest(SandSimulation *sim, SandVec3 point) {
    SandHit hit;
    assert_true(sand_simulation_closest(sim, &point, 1, INFINITY, &hit, NULL));
    return hit;
}

static void check_vector(SandVec3 got, SandVec3 want, double tolerance) {
    if (v3_length(v3_sub(got, want)) > tolerance)
        fail_msg("got %g %g %g, wanted %g %g %g", got.x, got.y, got.z, want.x, want.y, want.z);
}

// A world of one body of this shape at the origin.
static SandSimulation *one_body(SandShape *shape, SandQuat rotation) {
    SandWorld world = lab_world(0.5);
    int index = sand_world_add_shape(&world, shape, NULL);
    SandBodyDef def = sand_default_body();
    def.shape = index;
    def.pose.rotation = rotation;
    assert_int_equal(sand_world_add_body(&world, &def, NULL), 0);
    return lab_exact(&world);
}

static void test_rays_against_a_sphere(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    lab_body(&world, 0, 0.5, v3_make(1, 2, 3));
    SandSimulation *sim = lab_exact(&world);
    SandHit hit = cast(sim, v3_make(1 + 0.3, 2, 10), v3_make(0, 0, -2)); // 0.3 beside the center: 0.4 above the middle
    NEAR(hit.distance, 10 - 3.4, 1e-12);
    assert_int_equal(hit.body, 0);
    assert_int_equal(hit.boundary, -1);
    check_vector(hit.point, v3_make(1.3, 2, 3.4), 1e-12);
    check_vector(hit.normal, v3_make(0.6, 0, 0.8), 1e-12);
    assert_true(cast(sim, v3_make(1.501, 2, 10), v3_make(0, 0, -1)).distance == INFINITY);
    assert_int_equal(cast(sim, v3_make(1, 2, 4), v3_make(0, 0, 1)).body, -1); // it is behind the ray
    NEAR(cast(sim, v3_make(1e7, 2, 3), v3_make(-1, 0, 0)).distance, 1e7 - 1.5, 1e-8);
    SandHit inside = cast(sim, v3_make(1, 2, 3.1), v3_make(0, 0, 1));
    assert_true(inside.distance == 0 && inside.body == 0);
    check_vector(inside.normal, v3_make(0, 0, -1), 0);
    SandRay passing = {v3_make(1, 2, 10), v3_make(0, 0, -1), INFINITY, 0},
            short_one = {passing.from, passing.along, 6.4, -1};
    assert_true(sand_simulation_raycast(sim, &passing, 1, &hit, NULL));
    assert_int_equal(hit.body, -1);
    assert_true(sand_simulation_raycast(sim, &short_one, 1, &hit, NULL));
    assert_int_equal(hit.body, -1);
    SandRay between = sand_ray_between(passing.from, v3_make(1, 2, 3));
    assert_true(sand_simulation_raycast(sim, &between, 1, &hit, NULL));
    NEAR(hit.distance, 6.5, 1e-12);
    sand_simulation_free(sim);
}

static void test_rays_against_a_box(void **state) {
    (void)state;
    SandShape shape;
    assert_true(sand_shape_box(&shape, v3_make(1, 2, 3), NULL));
    SandSimulation *sim = one_body(&shape, q_exp(v3_make(0, 0, 0.5 * PI))); // x and y change places
    SandHit hit = cast(sim, v3_make(10, 0.5, 1), v3_make(-1, 0, 0));
    NEAR(hit.distance, 8, 1e-12);
    check_vector(hit.normal, v3_make(1, 0, 0), 1e-12);
    hit = cast(sim, v3_make(0.5, 0.5, 9), v3_make(0, 0, -1));
    NEAR(hit.distance, 6, 1e-12);
    check_vector(hit.normal, v3_make(0, 0, 1), 1e-12);
    assert_int_equal(cast(sim, v3_make(10, 1.001, 1), v3_make(-1, 0, 0)).body, -1);
    sand_simulation_free(sim);
}

static void test_rays_against_a_cylinder_and_a_capsule(void **state) {
    (void)state;
    SandShape shape;
    assert_true(sand_shape_cylinder(&shape, 0.5, 2, NULL));
    SandSimulation *sim = one_body(&shape, q_identity());
    SandHit hit = cast(sim, v3_make(5, 0.3, 0.2), v3_make(-1, 0, 0));
    NEAR(hit.distance, 4.6, 1e-12);
    check_vector(hit.normal, v3_make(0.8, 0.6, 0), 1e-12);
    hit = cast(sim, v3_make(0.2, 0.1, 5), v3_make(0, 0, -1));
    NEAR(hit.distance, 4, 1e-12);
    check_vector(hit.normal, v3_make(0, 0, 1), 1e-12);
    assert_int_equal(cast(sim, v3_make(5, 0, 1.001), v3_make(-1, 0, 0)).body, -1);
    sand_simulation_free(sim);

    assert_true(sand_shape_capsule(&shape, 0.5, 2, NULL));
    sim = one_body(&shape, q_identity());
    hit = cast(sim, v3_make(0.3, 0, 5), v3_make(0, 0, -1));
    NEAR(hit.distance, 5 - 1.4, 1e-12);
    check_vector(hit.normal, v3_make(0.6, 0, 0.8), 1e-12);
    NEAR(cast(sim, v3_make(5, 0, 0.7), v3_make(-1, 0, 0)).distance, 4.5, 1e-12);
    sand_simulation_free(sim);
}

static void add_boundary(SandWorld *world, SandBoundary *b, SandPose pose) {
    b->pose = pose;
    assert_true(sand_world_add_boundary(world, b, NULL) >= 0);
}

static void test_rays_against_boundaries(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    lab_plane(&world, v3_make(0, 0, -1), v3_make(0, 0, 1));
    SandBoundary b;
    const double cone[2][2] = {{1, 0}, {2, 1}}; // opens upwards, at 45 degrees
    assert_true(sand_boundary_revolution(&b, cone, 2, SAND_INSIDE, NULL));
    add_boundary(&world, &b, (SandPose){{0, 0, 0}, {1, 0, 0, 0}});
    assert_true(sand_boundary_box(&b, v3_make(1, 1, 1), SAND_OUTSIDE, NULL));
    add_boundary(&world, &b, (SandPose){{20, 0, 0}, {1, 0, 0, 0}});
    assert_true(sand_boundary_sphere(&b, 3, SAND_INSIDE, NULL));
    add_boundary(&world, &b, (SandPose){{40, 0, 0}, {1, 0, 0, 0}});
    const double flat[2][2] = {{1, 0}, {3, 0.2}}; // its cone goes on below its apex, where the funnel does not
    assert_true(sand_boundary_revolution(&b, flat, 2, SAND_INSIDE, NULL));
    add_boundary(&world, &b, (SandPose){{60, 0, 0}, {1, 0, 0, 0}});
    SandSimulation *sim = lab_exact(&world);
    assert_int_equal(cast(sim, v3_make(60, 0, -0.35), v3_make(1, 0, 0)).boundary, -1);
    SandHit hit = cast(sim, v3_make(60, 0, 0.15), v3_make(1, 0, 0));
    NEAR(hit.distance, 2.5, 1e-12);
    assert_int_equal(hit.boundary, 4);
    hit = cast(sim, v3_make(10, 0, 4), v3_make(0, 0, -1));
    NEAR(hit.distance, 5, 1e-12);
    assert_int_equal(hit.boundary, 0);
    check_vector(hit.normal, v3_make(0, 0, 1), 1e-12);
    hit = cast(sim, v3_make(10, 0, -4), v3_make(0, 0, 1)); // from behind
    assert_int_equal(hit.boundary, -1);
    hit = cast(sim, v3_make(0, 0, 0.5), v3_make(1, 0, 0));
    NEAR(hit.distance, 1.5, 1e-12);
    assert_int_equal(hit.boundary, 1);
    check_vector(hit.normal, v3_make(-sqrt(0.5), 0, sqrt(0.5)), 1e-12);
    NEAR(cast(sim, v3_make(1.5, 0, 4), v3_make(0, 0, -1)).distance, 3.5, 1e-12);
    hit = cast(sim, v3_make(1.5, 0, 1.5), v3_make(-1, 0, -1)); // through the hole
    NEAR(hit.distance, 2.5 * sqrt(2), 1e-12);
    assert_int_equal(hit.boundary, 0);
    NEAR(cast(sim, v3_make(22, 0, 0.3), v3_make(-1, 0, 0)).distance, 1, 1e-12);
    hit = cast(sim, v3_make(41, 0, 0), v3_make(1, 0, 0));
    NEAR(hit.distance, 2, 1e-12);
    assert_int_equal(hit.boundary, 3);
    NEAR(cast(sim, v3_make(46, 0, 0), v3_make(-1, 0, 0)).distance, 9, 1e-12); // through its near side
    sand_simulation_free(sim);
}

// --- against everybody --------------------------------------------------------------------------------------

enum { BODIES = 400, RAYS = 600 };

static void add_clump(SandWorld *world) {
    const SandShapeSphere spheres[3] = {{{0, 0, 0}, 0.5}, {{0.6, 0, 0}, 0.4}, {{0, 0.5, 0.3}, 0.3}};
    SandShape shape;
    assert_true(sand_shape_clump(&shape, spheres, 3, NULL));
    assert_true(sand_world_add_shape(world, &shape, NULL) >= 0);
}

// Bodies of all kinds and sizes, which may overlap, in vessels and on ground of all kinds.
static SandWorld crowd(void) {
    SandWorld world = lab_world(0.5);
    add_clump(&world);
    for (int kind = LAB_BOX; kind < LAB_KINDS; kind++) {
        LabConvex c = lab_convex(kind);
        assert_true(sand_world_add_shape(&world, &c.shape, NULL) >= 0);
    }
    SandPiece pieces[5];
    lab_bucket(&world, 0.8);
    lab_compound(&world, pieces, lab_motley(pieces, 0.5));
    for (int i = 0; i < BODIES; i++) {
        SandBodyDef def = sand_default_body();
        def.shape = i % world.shape_count;
        def.scale = exp(lab_uniform(log(0.02), log(0.7)));
        def.pose = (SandPose){lab_point(6), sand_random_rotation(&lab_dice)};
        if (i == 0) def.pose.position = v3_make(3000, 0, 0); // one is far away
        assert_true(sand_world_add_body(&world, &def, NULL) >= 0);
    }
    return world;
}

static void add_vessels(SandWorld *world) {
    SandBoundary b;
    const double profile[6][2] = {{0, -9}, {8, -8}, {2, -3}, {7, 5}, {7, 8}, {0, 11}};
    double heights[15 * 17];
    for (int k = 0; k < 15 * 17; k++) heights[k] = lab_uniform(-0.7, 0.7);
    assert_true(sand_boundary_revolution(&b, profile, 6, SAND_INSIDE, NULL));
    add_boundary(world, &b, (SandPose){{0.2, 0.1, 0}, q_exp(v3_make(0.1, 0.2, 0.3))});
    assert_true(sand_boundary_terrain(&b, heights, 15, 17, v3_make(9, 9, 0), NULL));
    add_boundary(world, &b, (SandPose){{0, 0, -4}, q_exp(v3_make(0, 0.1, 0.3))});
    assert_true(sand_boundary_box(&b, v3_make(0.8, 0.5, 0.3), SAND_OUTSIDE, NULL));
    add_boundary(world, &b, (SandPose){{2, 2, 2}, q_exp(v3_make(0.4, 0.1, 0.3))});
    assert_true(sand_boundary_sphere(&b, 0.6, SAND_OUTSIDE, NULL));
    add_boundary(world, &b, (SandPose){{-2, 2, 1}, q_identity()});
    assert_true(sand_boundary_box(&b, v3_make(6, 6, 7), SAND_INSIDE, NULL));
    add_boundary(world, &b, (SandPose){{0, 0, 0}, q_exp(v3_make(0, 0, 0.3))});
    assert_true(sand_boundary_sphere(&b, 10, SAND_INSIDE, NULL));
    add_boundary(world, &b, (SandPose){{0, 1, 0}, q_identity()});
    lab_plane(world, v3_make(0, 0, -5.5), v3_make(0.1, 0, 1));
}

// A point outside of every body and on the allowed side of every boundary.
static SandVec3 free_point(const SandWorld *world) {
    for (;;) {
        SandVec3 point = lab_point(6);
        if (lab_closest(world, point).distance > 1e-3) return point;
    }
}

static void check_hit(const SandWorld *world, const SandHit *got, const SandHit *want, SandVec3 from, SandVec3 d, int k) {
    if (want->distance == INFINITY && got->distance == INFINITY) return;
    if (!(fabs(got->distance - want->distance) < 1e-6) || got->body != want->body || got->boundary != want->boundary)
        fail_msg("ray %d: met body %d, boundary %d at %.12g, wanted %d, %d at %.12g", k, got->body, got->boundary,
                 got->distance, want->body, want->boundary, want->distance);
    check_vector(got->point, v3_madd(from, got->distance, d), 1e-9);
    NEAR(v3_length(got->normal), 1, 1e-9);
    assert_true(v3_dot(got->normal, d) < 1e-9);
    const double out = 1e-5; // along the normal the surface is as far away as one has gone
    SandVec3 beside = v3_madd(got->point, out, got->normal);
    double away = got->body >= 0 ? lab_distance_to_body(world, got->body, beside)
                                 : lab_distance_to_boundary(world, got->boundary, beside);
    NEAR(away, out, 1e-3 * out); // edges of meshes and of profiles apart, which no ray hits
}

static void check_rays(SandWorld *world, int seed, int least) {
    SandRay rays[RAYS];
    SandHit hits[RAYS];
    SandSimulation *sim = lab_exact(world);
    const SandWorld *w = sand_simulation_world(sim);
    lab_dice = sand_random((uint64_t)seed);
    int met = 0;
    for (int k = 0; k < RAYS; k++) {
        SandVec3 d = lab_direction();
        if (k % 10 == 0) d = v3_make(0, k % 20 ? 1 : 0, k % 20 ? 0 : -1); // along an axis
        rays[k] = (SandRay){free_point(w), v3_scale(lab_uniform(0.1, 9), d), k % 7 ? INFINITY : 2, -1};
    }
    assert_true(sand_simulation_raycast(sim, rays, RAYS, hits, NULL));
    for (int k = 0; k < RAYS; k++) {
        SandVec3 d = v3_scale(1 / v3_length(rays[k].along), rays[k].along);
        SandHit want = lab_raycast(w, rays[k].from, d, fmin(rays[k].reach, 100));
        check_hit(w, &hits[k], &want, rays[k].from, d, k);
        met += want.distance < INFINITY;
    }
    if (met < least) fail_msg("only %d rays met anything", met);
    sand_simulation_free(sim);
}

static void test_rays_against_everybody(void **state) {
    (void)state;
    SandWorld bodies = crowd();
    check_rays(&bodies, 1, RAYS / 12);
    SandWorld vessels = crowd();
    add_vessels(&vessels);
    check_rays(&vessels, 2, RAYS / 2);
}

// Through every corner, every edge and every face of a mesh there is a hit.
static void test_no_ray_slips_through_a_mesh(void **state) {
    (void)state;
    enum { SIDE = 9 };
    SandWorld world = lab_world(0.5);
    SandBoundary b;
    double heights[SIDE * SIDE];
    for (int k = 0; k < SIDE * SIDE; k++) heights[k] = lab_uniform(-0.1, 0.1);
    assert_true(sand_boundary_terrain(&b, heights, SIDE, SIDE, v3_make(1, 1, 0), NULL));
    add_boundary(&world, &b, (SandPose){{0, 0, 0}, q_identity()});
    SandSimulation *sim = lab_exact(&world);
    const SandTriangleMesh *mesh = sand_simulation_world(sim)->boundaries[0].mesh;
    for (int e = 0; e < mesh->edge_count; e++)
        for (int part = 0; part <= 8; part++) {
            SandVec3 from = mesh->vertices[mesh->edges[e].from], to = mesh->vertices[mesh->edges[e].to];
            SandVec3 at = v3_madd(from, part / 8., v3_sub(to, from)), eye = {0.1, 0.2, 3};
            if (fabs(at.x) > 0.999 || fabs(at.y) > 0.999) continue; // the rim has no other side
            SandHit hit = cast(sim, eye, v3_sub(at, eye));
            assert_int_equal(hit.boundary, 0);
            assert_true(hit.distance < v3_length(v3_sub(at, eye)) + 1e-9);
            NEAR(cast(sim, v3_make(at.x, at.y, 5), v3_make(0, 0, -1)).distance, 5 - at.z, 1e-9);
        }
    sand_simulation_free(sim);
}

static void test_nearest_against_everybody(void **state) {
    (void)state;
    SandWorld world = crowd();
    add_vessels(&world);
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    for (int k = 0; k < 2000; k++) {
        SandVec3 point = lab_point(k % 5 ? 6 : 9);
        SandHit want = lab_closest(w, point), got = closest(sim, point);
        if (!(fabs(got.distance - want.distance) < 1e-9) || got.body != want.body || got.boundary != want.boundary)
            fail_msg("point %d: body %d, boundary %d at %.12g, wanted %d, %d at %.12g", k, got.body, got.boundary,
                     got.distance, want.body, want.boundary, want.distance);
        check_vector(v3_madd(got.point, got.distance, got.normal), point, 1e-8);
        SandHit within;
        assert_true(sand_simulation_closest(sim, &point, 1, 0.1, &within, NULL));
        assert_int_equal(within.body, want.distance < 0.1 ? want.body : -1);
    }
    sand_simulation_free(sim);
}

static void test_overlap_against_everybody(void **state) {
    (void)state;
    SandWorld world = crowd();
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    int found[BODIES], total = 0;
    for (int k = 0; k < 300; k++) {
        SandPose pose = {lab_point(6), q_identity()};
        double radius = lab_uniform(0.01, 3);
        int count = sand_simulation_overlap(sim, &w->shapes[0], radius, pose, found, BODIES, NULL), at = 0;
        for (int i = 0; i < w->body_count; i++) {
            bool overlaps = lab_distance_to_body(w, i, pose.position) <= radius;
            if (overlaps != (at < count && found[at] == i)) fail_msg("sphere %d and body %d", k, i);
            at += overlaps;
        }
        total += count;
    }
    assert_true(total > 1000);
    assert_true(sand_simulation_overlap(sim, &w->shapes[0], 10, (SandPose){{0, 0, 0}, {1, 0, 0, 0}}, found, 3, NULL) > 100);
    sand_simulation_free(sim);
}

// A box and the spheres that reach into it.
static void test_overlap_with_a_box(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    lab_body(&world, 0, 0.5, v3_make(1.4, 0, 0));     // its face
    lab_body(&world, 0, 0.5, v3_make(1.4, 1.4, 0));   // beside its edge: 0.566 away
    lab_body(&world, 0, 0.5, v3_make(0.1, 0.2, 0.3)); // within
    lab_body(&world, 0, 0.5, v3_make(1.3, -1.3, 0));  // its edge, 0.424 away
    SandSimulation *sim = lab_exact(&world);
    SandShape box;
    int found[4];
    assert_true(sand_shape_box(&box, v3_make(1, 1, 1), NULL));
    assert_int_equal(sand_simulation_overlap(sim, &box, 1, (SandPose){{0, 0, 0}, {2, 0, 0, 0}}, found, 4, NULL), 3);
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 2);
    assert_int_equal(found[2], 3);
    sand_shape_free(&box);
    sand_simulation_free(sim);
}

// --- what changes -------------------------------------------------------------------------------------------

static void test_threads_do_not_matter(void **state) {
    (void)state;
    SandHit hits[2][RAYS];
    SandRay rays[RAYS];
    SandVec3 points[RAYS];
    for (int k = 0; k < RAYS; k++) {
        rays[k] = (SandRay){lab_point(6), lab_direction(), INFINITY, -1};
        points[k] = lab_point(6);
    }
    for (int threads = 1; threads <= 3; threads += 2) {
        SandHit *to = hits[threads / 2], near[RAYS];
        lab_dice = sand_random(5);
        SandWorld world = crowd();
        SandSimulationDef def = sand_default_simulation();
        def.threads = threads;
        SandSimulation *sim = lab_simulation(&world, &def);
        assert_true(sand_simulation_raycast(sim, rays, RAYS, to, NULL));
        assert_true(sand_simulation_closest(sim, points, RAYS, INFINITY, near, NULL));
        for (int k = 0; k < RAYS; k++) to[k].point.x += near[k].distance;
        sand_simulation_free(sim);
    }
    assert_memory_equal(hits[0], hits[1], sizeof hits[0]);
}

static void test_answers_follow_the_bodies(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    lab_body(&world, 0, 0.5, v3_make(0, 0, 0));
    SandSimulation *sim = lab_exact(&world);
    SandVec3 above = {0, 0, 5}, down = {0, 0, -1};
    NEAR(cast(sim, above, down).distance, 4.5, 1e-12);
    lab_run(sim, 10);
    double fallen = -sand_simulation_world(sim)->position[0].z;
    assert_true(fallen > 0.01);
    NEAR(cast(sim, above, down).distance, 4.5 + fallen, 1e-12);
    SandWorld *w = sand_simulation_change_bodies(sim, NULL);
    w->position[0].z = 2;
    NEAR(cast(sim, above, down).distance, 2.5, 1e-12);
    w->position[0].z = 3; // the same pointer, written again
    NEAR(cast(sim, above, down).distance, 1.5, 1e-12);
    sand_simulation_free(sim);
}

// Of bodies in one place the first counts.
static void test_equals(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    for (int i = 0; i < 9; i++) lab_body(&world, 0, 0.5, v3_make(0, 0, 0));
    SandSimulation *sim = lab_exact(&world);
    assert_int_equal(cast(sim, v3_make(0, 0.1, 5), v3_make(0, 0, -1)).body, 0);
    assert_int_equal(cast(sim, v3_make(0, 0, 0.1), v3_make(0, 0, -1)).body, 0);
    assert_int_equal(closest(sim, v3_make(0, 0, 5)).body, 0);
    sand_simulation_free(sim);
}

// A body across the border of a box that repeats is met on both sides.
static void test_images(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    world.lower = v3_make(-2, -2, -2);
    world.upper = v3_make(2, 2, 2);
    world.periodic[0] = world.periodic[1] = true;
    lab_body(&world, 0, 0.5, v3_make(1.9, -1.9, 0));
    SandSimulation *sim = lab_exact(&world);
    SandVec3 down = {0, 0, -1};
    const double corners[4][2] = {{1.9, -1.9}, {-1.9, -1.9}, {1.9, 1.9}, {-1.9, 1.9}};
    for (int k = 0; k < 4; k++) {
        SandHit hit = cast(sim, v3_make(corners[k][0], corners[k][1], 1.5), down);
        double beside = (corners[k][0] < 0 ? 0.2 : 0) * (corners[k][0] < 0 ? 0.2 : 0) + (corners[k][1] > 0 ? 0.04 : 0);
        NEAR(hit.distance, 1.5 - sqrt(0.25 - beside), 1e-12);
        assert_int_equal(hit.body, 0);
    }
    assert_int_equal(cast(sim, v3_make(0, 0, 1.5), down).body, -1);
    int found[2];
    SandPose at = {{-1.9, 1.9, 0}, {1, 0, 0, 0}};
    assert_int_equal(sand_simulation_overlap(sim, &sand_simulation_world(sim)->shapes[0], 3, at, found, 2, NULL), 1);
    sand_simulation_free(sim);
}

// Bodies that are gone, or have not entered yet, are not there; nor is anything in an empty world.
static void test_absent_bodies(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    SandSimulation *empty = lab_exact(&world);
    assert_int_equal(cast(empty, v3_make(0, 0, 5), v3_make(0, 0, -1)).body, -1);
    assert_int_equal(closest(empty, v3_make(0, 0, 5)).body, -1);
    sand_simulation_free(empty);
    world = lab_world(0.5);
    SandBodyDef def = sand_default_body();
    def.enter = 1;
    assert_int_equal(sand_world_add_body(&world, &def, NULL), 0);
    SandSimulation *sim = lab_exact(&world);
    assert_int_equal(cast(sim, v3_make(0, 0, 5), v3_make(0, 0, -1)).body, -1);
    lab_run(sim, 101);
    assert_int_equal(cast(sim, v3_make(0, 0, 5), v3_make(0, 0, -1)).body, 0);
    sand_simulation_free(sim);
}

static void refuse(SandSimulation *sim, SandRay ray, const char *words) {
    SandHit hit;
    SandError error;
    assert_false(sand_simulation_raycast(sim, &ray, 1, &hit, &error));
    if (!strstr(error.text, words)) fail_msg("%s", error.text);
}

static void test_refusals(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    lab_body(&world, 0, 0.5, v3_make(0, 0, 0));
    SandSimulation *sim = lab_exact(&world);
    SandVec3 point = {NAN, 0, 0};
    SandHit hit;
    refuse(sim, (SandRay){{NAN, 0, 0}, {0, 0, 1}, 1, -1}, "not finite");
    refuse(sim, (SandRay){{0, 0, 0}, {0, 0, 0}, 1, -1}, "no direction");
    refuse(sim, (SandRay){{0, 0, 0}, {0, 0, 1}, NAN, -1}, "reaches");
    refuse(sim, (SandRay){{0, 0, 0}, {1e200, 0, 1e200}, 1, -1}, "not finite");
    assert_false(sand_simulation_closest(sim, &point, 1, INFINITY, &hit, NULL));
    assert_false(sand_simulation_closest(sim, &(SandVec3){0, 0, 0}, 1, -1, &hit, NULL));
    SandPose pose = {{0, 0, 0}, {0, 0, 0, 0}};
    assert_int_equal(sand_simulation_overlap(sim, &sand_simulation_world(sim)->shapes[0], 1, pose, NULL, 0, NULL), -1);
    SandWorld *w = sand_simulation_change_bodies(sim, NULL);
    w->position[0].y = NAN; // what no step can be taken with has no answers either
    refuse(sim, (SandRay){{0, 0, 5}, {0, 0, -1}, 10, -1}, "body 0");
    w->position[0].y = 0;
    NEAR(cast(sim, v3_make(0, 0, 5), v3_make(0, 0, -1)).distance, 4.5, 1e-12);
    w->position[0].y = NAN;
    assert_false(sand_simulation_step(sim, NULL)); // it is checked again
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rays_against_a_sphere),
        cmocka_unit_test(test_rays_against_a_box),
        cmocka_unit_test(test_rays_against_a_cylinder_and_a_capsule),
        cmocka_unit_test(test_rays_against_boundaries),
        cmocka_unit_test(test_rays_against_everybody),
        cmocka_unit_test(test_no_ray_slips_through_a_mesh),
        cmocka_unit_test(test_nearest_against_everybody),
        cmocka_unit_test(test_overlap_against_everybody),
        cmocka_unit_test(test_overlap_with_a_box),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_answers_follow_the_bodies),
        cmocka_unit_test(test_equals),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_absent_bodies),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
