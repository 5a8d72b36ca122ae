// SPDX-License-Identifier: MIT
// Contact manifolds of convex pairs: how many points, where, and that their names stay while the features do.
#include "sim/geometry/convex_manifold.inl"
#include "tests/lab/convex_lab.h"

static LabConvex box_at(SandVec3 half, SandVec3 position, SandQuat rotation) {
    LabConvex c = {.kind = LAB_BOX, .scale = 1, .pose = {position, rotation}};
    assert_true(sand_shape_box(&c.shape, half, NULL));
    return c;
}

static Manifold manifold_of(const LabConvex *a, const LabConvex *b, double reach) {
    Convex p = lab_view(a), q = lab_view(b);
    Manifold m;
    convex_manifold(&p, &q, reach, &m);
    return m;
}

static double spread(const Manifold *m, SandVec3 along) {
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < m->count; k++) {
        low = fmin(low, v3_dot(along, m->point[k].point));
        high = fmax(high, v3_dot(along, m->point[k].point));
    }
    return m->count ? high - low : 0;
}

static void a_box_on_a_box_touches_in_four_corners(void **state) {
    (void)state;
    SandVec3 x = {1, 0, 0}, y = {0, 1, 0};
    for (int trial = 0; trial < 200; trial++) {
        double gap = lab_uniform(-1e-3, 1e-3), turn = trial % 2 ? lab_uniform(0, 6) : 0;
        LabConvex low = box_at(v3_make(2, 2, 0.5), v3_make(0, 0, 0), q_identity());
        LabConvex high = box_at(v3_make(0.5, 0.3, 0.2), v3_make(0.3, -0.2, 0.7 + gap), q_exp(v3_make(0, 0, turn)));
        SandQuat all = sand_random_rotation(&lab_dice);
        low.pose = (SandPose){q_rotate(all, low.pose.position), all};
        high.pose = (SandPose){q_rotate(all, high.pose.position), q_mul(all, high.pose.rotation)};
        Manifold m = manifold_of(&low, &high, 0.01);
        assert_int_equal(m.count, 4);
        for (int k = 0; k < 4; k++) NEAR(m.point[k].gap, gap, 1e-12);
        NEAR(v3_length(v3_sub(m.normal, q_rotate(all, v3_make(0, 0, 1)))), 0, 1e-12);
        SandVec3 u = q_rotate(high.pose.rotation, x), v = q_rotate(high.pose.rotation, y);
        NEAR(spread(&m, u), 1, 1e-12);
        NEAR(spread(&m, v), 0.6, 1e-12);
        sand_shape_free(&low.shape);
        sand_shape_free(&high.shape);
    }
}

static void overhanging_boxes_touch_where_they_overlap(void **state) {
    (void)state;
    LabConvex low = box_at(v3_make(1, 1, 1), v3_make(0, 0, 0), q_identity());
    LabConvex high = box_at(v3_make(1, 1, 1), v3_make(1.5, 0.5, 2.001), q_identity());
    Manifold m = manifold_of(&low, &high, 0.01);
    assert_int_equal(m.count, 4);
    NEAR(spread(&m, v3_make(1, 0, 0)), 0.5, 1e-12);
    NEAR(spread(&m, v3_make(0, 1, 0)), 1.5, 1e-12);
    sand_shape_free(&low.shape);
    sand_shape_free(&high.shape);
}

static void crossed_edges_touch_in_one_point(void **state) {
    (void)state;
    // Two boxes on their edges, one along x and one along y.
    LabConvex low = box_at(v3_make(1, 0.5, 0.5), v3_make(0, 0, 0), q_exp(v3_make(0.25 * PI, 0, 0)));
    LabConvex high = box_at(v3_make(0.5, 1, 0.5), v3_make(0.1, 0.2, sqrt(2.) - 1e-3), q_exp(v3_make(0, 0.25 * PI, 0)));
    Manifold m = manifold_of(&low, &high, 0.01);
    assert_int_equal(m.count, 1);
    NEAR(m.point[0].gap, -1e-3, 1e-12);
    NEAR(v3_length(v3_sub(m.normal, v3_make(0, 0, 1))), 0, 1e-12);
    NEAR(m.point[0].point.x, 0.1, 1e-12);
    NEAR(m.point[0].point.y, 0, 1e-12);
    sand_shape_free(&low.shape);
    sand_shape_free(&high.shape);
}

static void lying_capsules_and_cylinders_touch_in_two_points(void **state) {
    (void)state;
    LabConvex floor = box_at(v3_make(5, 5, 1), v3_make(0, 0, -1), q_identity());
    LabConvex capsule = {.kind = LAB_CAPSULE, .scale = 1}, other = {.kind = LAB_CAPSULE, .scale = 1};
    LabConvex cylinder = {.kind = LAB_CYLINDER, .scale = 1};
    SandQuat lying = q_exp(v3_make(0, 0.5 * PI, 0));
    assert_true(sand_shape_capsule(&capsule.shape, 0.3, 2, NULL) && sand_shape_capsule(&other.shape, 0.2, 1, NULL));
    assert_true(sand_shape_cylinder(&cylinder.shape, 0.3, 2, NULL));
    capsule.pose = (SandPose){v3_make(0, 0, 0.301), lying};
    cylinder.pose = (SandPose){v3_make(0, 1, 0.299), lying};
    other.pose = (SandPose){v3_make(0.9, 0, 0.301 + 0.499), lying};
    Manifold m = manifold_of(&floor, &capsule, 0.01);
    assert_int_equal(m.count, 2);
    NEAR(m.point[0].gap, 0.001, 1e-12);
    NEAR(spread(&m, v3_make(1, 0, 0)), 2, 1e-12);
    m = manifold_of(&floor, &cylinder, 0.01);
    assert_int_equal(m.count, 2);
    NEAR(m.point[0].gap, -0.001, 1e-9); // the search for the depth of a cylinder is good to 1e-9
    NEAR(spread(&m, v3_make(1, 0, 0)), 2, 1e-9);
    m = manifold_of(&capsule, &other, 0.01); // one above the other, from 0.4 to 1
    assert_int_equal(m.count, 2);
    NEAR(m.point[0].gap, -0.001, 1e-12);
    NEAR(spread(&m, v3_make(1, 0, 0)), 0.6, 1e-12);
    cylinder.pose = (SandPose){v3_make(0, 1, 1 - 1e-4), q_identity()}; // standing
    m = manifold_of(&floor, &cylinder, 0.01);
    assert_int_equal(m.count, 4);
    NEAR(m.point[0].gap, -1e-4, 1e-12);
    NEAR(spread(&m, v3_make(1, 0, 0)), 0.6, 1e-12);
    NEAR(spread(&m, v3_make(0, 1, 0)), 0.6, 1e-12);
    sand_shape_free(&floor.shape);
    sand_shape_free(&capsule.shape);
    sand_shape_free(&other.shape);
    sand_shape_free(&cylinder.shape);
}

static bool has_point(const Manifold *m, uint16_t of_a, uint16_t of_b) {
    for (int k = 0; k < m->count; k++)
        if (m->point[k].of_a == of_a && m->point[k].of_b == of_b) return true;
    return false;
}

// A box that rests on another and trembles keeps the names of its points.
static void names_stay_while_features_do(void **state) {
    (void)state;
    int kept = 0, all = 0;
    for (int trial = 0; trial < 500; trial++) {
        LabConvex low = box_at(v3_make(1, 1, 0.5), v3_make(0, 0, 0), q_identity());
        double turn = trial % 3 == 0 ? 0 : lab_uniform(0, 6);
        SandVec3 at = trial % 3 == 1 ? lab_point(0.3) : v3_make(0, 0, 0);
        LabConvex high = box_at(v3_make(1, 1, 0.5), v3_make(at.x, at.y, 1), q_exp(v3_make(0, 0, turn)));
        Manifold before = manifold_of(&low, &high, 0.01);
        high.pose.position = v3_add(high.pose.position, lab_point(1e-6));
        high.pose.rotation = q_unit(q_mul(q_exp(lab_point(1e-6)), high.pose.rotation));
        Manifold after = manifold_of(&low, &high, 0.01);
        for (int k = 0; k < after.count; k++, all++) kept += has_point(&before, after.point[k].of_a, after.point[k].of_b);
        sand_shape_free(&low.shape);
        sand_shape_free(&high.shape);
    }
    print_message("%d of %d points kept their names\n", kept, all);
    assert_int_equal(all, 4 * 500);
    assert_true(kept >= 0.99 * all); // a tie in the choice of four among eight may fall the other way
}

// Every point's gap is within reach, none is deeper than the distance allows, and the nearest one has the distance.
static void manifolds_agree_with_the_distance(void **state) {
    (void)state;
    double deepest = 0, missing = 0;
    for (int trial = 0; trial < 40000; trial++) {
        LabConvex a = lab_convex(trial % LAB_KINDS), b = lab_convex(trial / LAB_KINDS % LAB_KINDS);
        lab_place(&a, &b, trial / 3);
        Convex p = lab_view(&a), q = lab_view(&b);
        ConvexGap gap;
        Manifold m, swapped;
        double reach = 0.05, size = fmin(p.bound + p.radius, q.bound + q.radius), radii = p.radius + q.radius;
        convex_distance(&p, &q, INFINITY, &gap);
        convex_manifold(&p, &q, reach, &m);
        convex_manifold(&q, &p, reach, &swapped);
        double distance = gap.distance - radii, least = INFINITY;
        if (fabs(distance - reach) > 1e-9) assert_int_equal(m.count > 0, distance < reach);
        assert_int_equal(m.count > 0, swapped.count > 0);
        for (int k = 0; k < m.count; k++) {
            least = fmin(least, m.point[k].gap);
            assert_true(m.point[k].gap <= reach);
            deepest = fmax(deepest, (distance - m.point[k].gap) / size);
        }
        if (m.count) missing = fmax(missing, (least - distance) / size);
        sand_shape_free(&a.shape);
        sand_shape_free(&b.shape);
    }
    print_message("gaps are below the distance by %.2e of the size, and the nearest is above it by %.2e\n", deepest,
                  missing);
    assert_true(deepest < 1.01 * SAND_FACE_PREFERENCE);
    assert_true(missing < 1.01 * SAND_FACE_PREFERENCE);
}

// The same patch seen from the other body, for polytopes: as many points, at the same places, with the normal reversed.
static void swapped_bodies_touch_in_the_same_points(void **state) {
    (void)state;
    int same = 0, all = 0;
    for (int trial = 0; trial < 4000; trial++) {
        LabConvex a = lab_convex(LAB_BOX), b = lab_convex(trial % 2 ? LAB_BOX : LAB_STONE);
        lab_place(&a, &b, trial);
        Manifold m = manifold_of(&a, &b, 0.05), s = manifold_of(&b, &a, 0.05);
        if (m.count) all++;
        bool alike = m.count && m.count == s.count && v3_length(v3_add(m.normal, s.normal)) < 1e-9;
        for (int k = 0; alike && k < m.count; k++) alike = has_point(&s, m.point[k].of_b, m.point[k].of_a);
        same += alike;
        sand_shape_free(&a.shape);
        sand_shape_free(&b.shape);
    }
    print_message("%d of %d pairs are the same when swapped\n", same, all);
    assert_true(same > 0.9 * all); // where two faces are equally near, each body is preferred when it is the first
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_on_a_box_touches_in_four_corners),
        cmocka_unit_test(overhanging_boxes_touch_where_they_overlap),
        cmocka_unit_test(crossed_edges_touch_in_one_point),
        cmocka_unit_test(lying_capsules_and_cylinders_touch_in_two_points),
        cmocka_unit_test(names_stay_while_features_do),
        cmocka_unit_test(manifolds_agree_with_the_distance),
        cmocka_unit_test(swapped_bodies_touch_in_the_same_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
