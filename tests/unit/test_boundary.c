// SPDX-License-Identifier: MIT
// Planes, boxes, spheres and the motion of boundaries, against independent references. Surfaces of revolution and meshes
// have their own tests.
#include "tests/lab/boundary_lab.h"

static void planes_touch_on_their_side(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        SandBoundary b;
        SandVec3 point = random_point(3), normal = i == 0 ? v3_make(0, 0, -2) : random_point(1), c = random_point(3);
        assert_true(sand_boundary_plane(&b, point, normal, NULL));
        normal = v3_unit_or(normal, normal);
        double d = v3_dot(normal, v3_sub(c, point)); // the textbook distance; rounding of a few operations
        NEAR(sand_boundary_distance(&b, &b.pose, c), d, 1e-13);
        SandTouch t;
        int n = sand_boundary_touch(&b, &b.pose, c, 0.5, 0.1, &t, 1);
        assert_int_equal(n, d <= 0.6);
        if (n) {
            NEAR(v3_length(v3_add(t.normal, normal)), 0, 1e-13);
            NEAR(t.gap, d - 0.5, 1e-13);
        }
    }
}

// The least distance of a point to samples of a box's or sphere's surface.
static double sampled_box(SandVec3 h, SandVec3 p) {
    enum { N = 100 };
    double best = INFINITY;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++)
            for (int s = -1; s <= 1; s += 2) {
                double u = 2.0 * i / N - 1, v = 2.0 * j / N - 1;
                best = fmin(best, v3_length(v3_sub(p, v3_make(s * h.x, u * h.y, v * h.z))));
                best = fmin(best, v3_length(v3_sub(p, v3_make(u * h.x, s * h.y, v * h.z))));
                best = fmin(best, v3_length(v3_sub(p, v3_make(u * h.x, v * h.y, s * h.z))));
            }
    return best;
}

static void boxes_and_spheres_agree_with_samples(void **state) {
    (void)state;
    for (int side = SAND_INSIDE; side <= SAND_OUTSIDE; side++) {
        SandBoundary box, sphere;
        SandVec3 half = v3_make(1, 0.7, 0.5);
        double sign = side == SAND_INSIDE ? 1 : -1;
        assert_true(sand_boundary_box(&box, half, side, NULL));
        assert_true(sand_boundary_sphere(&sphere, 0.8, side, NULL));
        for (int i = 0; i < 300; i++) {
            SandVec3 c = random_point(1.5);
            bool in = fabs(c.x) < half.x && fabs(c.y) < half.y && fabs(c.z) < half.z;
            double d = sand_boundary_distance(&box, &AT_ORIGIN, c), sampled = sampled_box(half, c);
            // Samples lie 0.02 apart, so the nearest is at most 0.0142 from the foot of the perpendicular.
            assert_true(fabs(d) <= sampled + 1e-12 && fabs(d) >= sampled - 0.0142);
            assert_int_equal(d * sign > 0, in);
            NEAR(sand_boundary_distance(&sphere, &AT_ORIGIN, c), sign * (0.8 - v3_length(c)), 1e-14);
            check_touches(&box, &AT_ORIGIN, c, 0.2, 0.1);
            check_touches(&sphere, &AT_ORIGIN, c, 0.2, 0.1);
            if (side == SAND_OUTSIDE || in) check_feet(&box, &AT_ORIGIN, c, 0.2, 0.1, 1e-14);
            check_feet(&sphere, &AT_ORIGIN, c, 0.2, 0.1, 1e-14);
        }
        check_touches(&sphere, &AT_ORIGIN, v3_make(0, 0, 0), 0.9, 0); // the center has no direction
        check_continuity(&box, 1.5, 20);
        sand_boundary_free(&box);
        sand_boundary_free(&sphere);
    }
    SandBoundary box;
    SandTouch t[6];
    assert_true(sand_boundary_box(&box, v3_make(1, 1, 1), SAND_INSIDE, NULL));
    assert_int_equal(sand_boundary_touch(&box, &AT_ORIGIN, v3_make(0.9, -0.9, 0.95), 0.1, 0.01, t, 6), 3); // one per face
    assert_int_equal(t[0].feature, 1);
    assert_int_equal(t[1].feature, 2);
    assert_int_equal(t[2].feature, 5);
    assert_int_equal(sand_boundary_touch(&box, &AT_ORIGIN, v3_make(0.9, -0.9, 0.95), 0.1, 0.01, t, 1),
                     3); // though the capacity is 1
    sand_boundary_free(&box);
}

static void bad_sizes_are_refused(void **state) {
    (void)state;
    SandBoundary b;
    assert_false(sand_boundary_plane(&b, v3_make(0, 0, 0), v3_make(0, 0, 0), NULL));
    assert_false(sand_boundary_plane(&b, v3_make(0, NAN, 0), v3_make(0, 0, 1), NULL));
    assert_false(sand_boundary_box(&b, v3_make(1, -1, 1), SAND_INSIDE, NULL));
    assert_false(sand_boundary_sphere(&b, INFINITY, SAND_INSIDE, NULL));
}

static void motion_arrives_exactly(void **state) {
    (void)state;
    for (int i = 0; i < 500; i++) {
        SandBoundary b;
        assert_true(sand_boundary_plane(&b, random_point(2), random_point(1), NULL));
        b.moves = true;
        b.motion = (SandMotion){.velocity = random_point(1),
                                .center = random_point(2),
                                .axis = random_point(1),
                                .rate = uniform(-9, 9),
                                .start = 0.5,
                                .stop = i % 3 ? 1.5 : 0};
        if (i % 2) b.motion.amplitude = random_point(1), b.motion.swing = 1, b.motion.frequency = 2, b.motion.phase = i;
        SandMotionPoint rows[] = {{0, {0, 0, 0}, 0}, {0.3, random_point(1), 1}, {0.7, random_point(1), -2}};
        if (i % 5 == 0) assert_true(sand_boundary_path(&b, rows, 3, NULL));
        double time = uniform(0, 2), h = uniform(0.001, 0.3);
        SandVec3 v, w;
        SandPose from = sand_boundary_pose(&b, time), to = sand_boundary_pose(&b, time + h);
        sand_boundary_velocity(&b, time, h, &v, &w);
        NEAR(v3_length(v3_sub(v3_madd(from.position, h, v), to.position)), 0, 1e-14); // rounding of one product and sum
        SandQuat q = q_mul(q_exp(v3_scale(h, w)), from.rotation);
        double along = q.w * to.rotation.w + q.x * to.rotation.x + q.y * to.rotation.y + q.z * to.rotation.z;
        NEAR(fabs(along), 1, 1e-14);
        if (time + h < 0.5) assert_memory_equal(&to.position, &b.pose.position, sizeof to.position);
        sand_boundary_free(&b);
    }
}

// Where an oscillation and a path are at times at which that is known, beside a velocity.
static void oscillations_and_paths_are_where_they_should_be(void **state) {
    (void)state;
    SandBoundary b;
    assert_true(sand_boundary_plane(&b, v3_make(0, 0, 1), v3_make(0, 0, 1), NULL));
    b.moves = true;
    b.motion = (SandMotion){.velocity = {1, 0, 0}, .amplitude = {0, 0, 0.1}, .frequency = 2, .start = 3};
    NEAR(sand_boundary_pose(&b, 3.125).position.z, 1.1, 1e-15); // a quarter of a period
    NEAR(sand_boundary_pose(&b, 3.375).position.z, 0.9, 1e-15);
    NEAR(sand_boundary_pose(&b, 13.5).position.x, 10.5, 1e-14);
    b.motion.phase = 0.5 * PI; // begins at its upper end, and there is where it is
    NEAR(sand_boundary_pose(&b, 3).position.z, 1, 1e-15);
    NEAR(sand_boundary_pose(&b, 3.25).position.z, 0.8, 1e-15);
    b.motion = (SandMotion){.axis = {0, 0, 2}, .swing = 0.5, .frequency = 1};
    NEAR(sand_boundary_pose(&b, 0.25).rotation.z, sin(0.25), 1e-15);

    SandMotionPoint rows[] = {{1, {0, 0, 0}, 0}, {2, {4, 0, 0}, 0}, {4, {4, 2, 0}, 1}};
    b.motion = (SandMotion){.start = 10};
    assert_true(sand_boundary_path(&b, rows, 3, NULL));
    const double places[][3] = {{0, 0, 0}, {11, 0, 0}, {11.25, 1, 0}, {12, 4, 0}, {13, 4, 1}, {99, 4, 2}};
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        SandVec3 at = sand_boundary_pose(&b, places[k][0]).position;
        NEAR(at.x, places[k][1], 1e-15), NEAR(at.y, places[k][2], 1e-15);
    }
    NEAR(2 * asin(sand_boundary_pose(&b, 13).rotation.z), 0.5, 1e-15);
    b.motion.path = 0.5;
    NEAR(sand_boundary_pose(&b, 99).position.y, 1, 1e-15);

    SandError error;
    SandMotionPoint back[] = {{1, {0, 0, 0}, 0}, {1, {4, 0, 0}, 0}}, broken[] = {{1, {0, NAN, 0}, 0}};
    assert_false(sand_boundary_path(&b, back, 2, &error));
    assert_string_equal(error.text, "path: row 1 is at 1 s, not behind the one before it");
    assert_false(sand_boundary_path(&b, broken, 1, &error));
    assert_false(sand_boundary_path(&b, rows, 0, &error));
    sand_boundary_free(&b);
}

// The surface of a conveyor runs, and the boundary stays; where it turns its surface turns with it.
static void a_surface_runs_and_stays(void **state) {
    (void)state;
    SandBoundary b;
    SandVec3 v, w;
    assert_true(sand_boundary_plane(&b, v3_make(0, 0, 1), v3_make(0, 0, 1), NULL));
    b.moves = true;
    b.motion = (SandMotion){.surface = {2, 0, 0}, .axis = {0, 0, 1}, .rate = 0.5 * PI, .start = 1, .stop = 3};
    sand_boundary_velocity(&b, 0, 0.5, &v, &w);
    NEAR(v3_length(v), 0, 0);
    sand_boundary_velocity(&b, 1, 0.1, &v, &w);
    NEAR(v.x, 2, 1e-14);
    sand_boundary_velocity(&b, 2, 0.1, &v, &w);
    NEAR(v.y, 2, 1e-14), NEAR(v.x, 0, 1e-14);
    NEAR(v3_length(v3_sub(sand_boundary_pose(&b, 9).position, b.pose.position)), 0, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_touch_on_their_side),
        cmocka_unit_test(boxes_and_spheres_agree_with_samples),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(motion_arrives_exactly),
        cmocka_unit_test(oscillations_and_paths_are_where_they_should_be),
        cmocka_unit_test(a_surface_runs_and_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
