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
        b.motion = (SandMotion){random_point(1), random_point(2), random_point(1), uniform(-9, 9), 0.5, i % 3 ? 1.5 : 0};
        double time = uniform(0, 2), h = uniform(0.001, 0.3);
        SandVec3 v, w;
        SandPose from = sand_boundary_pose(&b, time), to = sand_boundary_pose(&b, time + h);
        sand_boundary_velocity(&b, time, h, &v, &w);
        NEAR(v3_length(v3_sub(v3_madd(from.position, h, v), to.position)), 0, 1e-14); // rounding of one product and sum
        SandQuat q = q_mul(q_exp(v3_scale(h, w)), from.rotation);
        double along = q.w * to.rotation.w + q.x * to.rotation.x + q.y * to.rotation.y + q.z * to.rotation.z;
        NEAR(fabs(along), 1, 1e-14);
        if (time + h < 0.5) assert_memory_equal(&to.position, &b.pose.position, sizeof to.position);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_touch_on_their_side),
        cmocka_unit_test(boxes_and_spheres_agree_with_samples),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(motion_arrives_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
