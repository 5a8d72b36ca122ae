// SPDX-License-Identifier: MIT
// Surfaces of revolution, against dense samples of their profiles, and continuity along lines.
#include "sim/geometry/revolution_distance.inl"
#include "tests/lab/boundary_lab.h"

typedef struct Profile {
    const char *name;
    int count;
    double at[12][2];
} Profile;

// Both ends on the axis, so that the inside is unambiguous: a can, the hourglass, a double cone, a stepped vessel.
static const Profile CLOSED[] = {
    {"can", 4, {{0, -1}, {0.8, -1}, {0.8, 1}, {0, 1}}},
    {"can from above", 4, {{0, 1}, {0.8, 1}, {0.8, -1}, {0, -1}}},
    {"hourglass", 8, {{0, -1.2}, {0.8, -1.2}, {0.8, -0.6}, {0.15, -0.05}, {0.15, 0.05}, {0.8, 0.6}, {0.8, 1.2}, {0, 1.2}}},
    {"double cone", 3, {{0, -1}, {1, 0}, {0, 1}}},
    {"not monotone", 8, {{0, -0.5}, {0.3, -1}, {0.9, -1}, {0.9, 1}, {0.6, 1}, {0.6, 0.2}, {0.4, 0.2}, {0, 0.6}}},
};
enum { CLOSED_COUNT = sizeof CLOSED / sizeof *CLOSED };

// Samples 1 mm apart along the profile: the nearest is at most 0.5 mm from the foot, which adds at most that.
static double sampled_profile(const Profile *p, double rho, double z) {
    double best = INFINITY;
    for (int i = 0; i + 1 < p->count; i++) {
        double dr = p->at[i + 1][0] - p->at[i][0], dz = p->at[i + 1][1] - p->at[i][1];
        int n = (int)(hypot(dr, dz) / 1e-3) + 1;
        for (int k = 0; k <= n; k++) best = fmin(best, hypot(p->at[i][0] + dr * k / n - rho, p->at[i][1] + dz * k / n - z));
    }
    return best;
}

// Inside: a ray from the point away from the axis crosses the profile an odd number of times.
static bool within_profile(const Profile *p, double rho, double z) {
    bool in = false;
    for (int i = 0; i + 1 < p->count; i++) {
        const double *a = p->at[i], *b = p->at[i + 1];
        if ((a[1] > z) != (b[1] > z) && rho < a[0] + (b[0] - a[0]) * (z - a[1]) / (b[1] - a[1])) in = !in;
    }
    return in;
}

static void revolutions_agree_with_samples(void **state) {
    (void)state;
    for (int k = 0; k < CLOSED_COUNT; k++)
        for (int side = SAND_INSIDE; side <= SAND_OUTSIDE; side++) {
            const Profile *p = &CLOSED[k];
            SandBoundary b;
            assert_true(sand_boundary_revolution(&b, p->at, p->count, side, NULL));
            for (int i = 0; i < 1500; i++) {
                SandVec3 c = random_point(1.3);
                double rho = hypot(c.x, c.y), d = sand_boundary_distance(&b, &AT_ORIGIN, c),
                       sampled = sampled_profile(p, rho, c.z);
                assert_true(fabs(d) <= sampled + 1e-12 && fabs(d) >= sampled - 5e-4);
                bool allowed = within_profile(p, rho, c.z) == (side == SAND_INSIDE);
                if ((d > 0) != allowed) fail_msg("%s: the sign is wrong at (%g, %g)", p->name, rho, c.z);
                check_touches(&b, &AT_ORIGIN, c, 0.08, 0.02);
                if (rho > 0.1) check_feet(&b, &AT_ORIGIN, c, 0.08, 0.02, 1e-13); // off the axis touches end on the wall
            }
            for (int i = 0; i < 200; i++)
                check_touches(&b, &AT_ORIGIN, v3_make(0, 0, uniform(-1.3, 1.3)), 0.08, 0.02); // the axis
            check_continuity(&b, 1.3, 30);
            sand_boundary_free(&b);
        }
}

static SandBoundary make_revolution(const double (*profile)[2], int count, SandSide side) {
    SandBoundary b;
    SandError error = {""};
    if (!sand_boundary_revolution(&b, profile, count, side, &error)) fail_msg("%s", error.text);
    return b;
}

// A sphere that the bands report clear of the wall is clear by the distance and, in a closed vessel, on the allowed side (an
// open one has no inside far from its wall). The bands find most of the clear ones.
static void a_quick_test_rejects_what_is_far_from_a_revolution(void **state) {
    (void)state;
    static const Profile OPEN[] = {{"tub", 3, {{0, -1}, {0.7, -0.6}, {0.9, 0.4}}},
                                   {"pipe", 2, {{0.6, -1}, {0.6, 1}}},
                                   {"ring", 4, {{0.4, -0.5}, {1, -0.5}, {1, 0.5}, {0.4, 0.5}}}};
    int clear = 0, found = 0;
    for (int k = 0; k < CLOSED_COUNT + 3; k++)
        for (int side = SAND_INSIDE; side <= SAND_OUTSIDE; side++) {
            const Profile *p = k < CLOSED_COUNT ? &CLOSED[k] : &OPEN[k - CLOSED_COUNT];
            SandBoundary b = make_revolution(p->at, p->count, side);
            for (int i = 0; i < 20000; i++) {
                SandVec3 c = random_point(1.3);
                double range = uniform(0, 0.3), d = sand_boundary_distance(&b, &AT_ORIGIN, c);
                bool by_bands = revolution_clear(b.bands, hypot(c.x, c.y), c.z, range);
                if (by_bands && (k < CLOSED_COUNT ? d : fabs(d)) <= range)
                    fail_msg("%s: a wall is %g from (%g, %g, %g)", p->name, d, c.x, c.y, c.z);
                if (k < CLOSED_COUNT && side == SAND_INSIDE) {
                    clear += d > range;
                    found += by_bands;
                }
            }
            sand_boundary_free(&b);
        }
    print_message("the bands find %d of %d clear spheres\n", found, clear);
    assert_true(found > clear / 2);
}

static void corners_of_a_revolution_touch_as_they_should(void **state) {
    (void)state;
    SandTouch t[CAPACITY];
    const Profile *glass = &CLOSED[2];
    SandBoundary b = make_revolution(glass->at, glass->count, SAND_INSIDE);
    // In the corner of floor and wall: one touch for each face.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0, 0.75, -1.15), 0.05, 1e-6, t, CAPACITY), 2);
    assert_int_equal(t[0].feature, 0);
    assert_int_equal(t[1].feature, 2);
    NEAR(t[0].normal.z, -1, 1e-15);
    NEAR(t[1].normal.y, 1, 1e-15);
    NEAR(t[0].gap, 0, 1e-15);
    NEAR(t[1].gap, 0, 1e-15);
    // Above the upper corner of the neck, between the normals of tube and funnel: one touch, that of the corner.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.12, 0, 0.06), 0.02, 0.02, t, CAPACITY), 1);
    assert_int_equal(t[0].feature, 2 * 4 + 1);
    NEAR(t[0].gap, hypot(0.03, 0.01) - 0.02, 1e-15);
    // A center slightly beyond the wall is pushed back, towards the axis.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.801, 0, -0.9), 0.05, 0, t, CAPACITY), 1);
    NEAR(t[0].gap, -0.051, 1e-15);
    NEAR(t[0].normal.x, 1, 1e-15);
    // A sphere that plugs the neck is held on three sides, also when it is on the axis.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0, 0, 0.1), 0.156, 0.01, t, CAPACITY), 3);
    NEAR(v3_length(v3_add(t[0].normal, v3_add(t[1].normal, v3_make(t[2].normal.x, t[2].normal.y, 0)))),
         2 * fabs(t[0].normal.z), 1e-12);
    sand_boundary_free(&b);

    // An open tub: outside, beside the rim, a sphere touches only the rim, wherever it is; inside it touches the wall.
    const double tub[3][2] = {{0, 0}, {1, 0}, {1, 1}};
    b = make_revolution(tub, 3, SAND_INSIDE);
    for (int i = 1; i < 32; i++) {
        double a = PI * i / 32;
        assert_int_equal(
            sand_boundary_touch(&b, &AT_ORIGIN, v3_make(1 + 0.1 * cos(a), 0, 1 + 0.1 * sin(a)), 0.1, 0.001, t, CAPACITY), 1);
        assert_int_equal(t[0].feature, 5);
        NEAR(t[0].gap, 0, 1e-14);
    }
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(1.1, 0, 0.5), 0.1, 0.01, t, CAPACITY),
                     0); // spilled: it is outside
    sand_boundary_free(&b);

    // Orientation: a disc given from the axis outwards is a floor; a wall encloses the axis in either order.
    const double disc[2][2] = {{0, 0}, {1, 0}}, down[3][2] = {{1, 1}, {1, 0.5}, {1, 0}};
    b = make_revolution(disc, 2, SAND_INSIDE);
    NEAR(sand_boundary_distance(&b, &AT_ORIGIN, v3_make(0, 0, 0.5)), 0.5, 0);
    NEAR(sand_boundary_distance(&b, &AT_ORIGIN, v3_make(0.3, 0, -0.5)), -0.5, 0);
    sand_boundary_free(&b);
    b = make_revolution(down, 3, SAND_INSIDE);
    assert_int_equal(b.profile_count, 2); // a point on a straight line is not a corner
    NEAR(sand_boundary_distance(&b, &AT_ORIGIN, v3_make(0.8, 0, 0.5)), 0.2, 1e-15);
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.9, 0, 0.5), 0.1, 0.01, t, CAPACITY), 1);
    sand_boundary_free(&b);
}

// A sphere that may move by more than its radius is touched by what is around the next concave corner, too.
static void fast_spheres_are_held_around_a_corner(void **state) {
    (void)state;
    SandTouch t[CAPACITY];
    const Profile *glass = &CLOSED[2];
    SandBoundary b = make_revolution(glass->at, glass->count, SAND_INSIDE);
    const SandVec3 below = {0.72, 0, -0.7}, above = {0.6, 0, -0.49};
    const double cone_z = 0.65 / hypot(0.65, 0.55), cone_rho = 0.55 / hypot(0.65, 0.55); // the normal of the cone
    // At the wall, below the cone: the cone is touched as well if the sphere may come there within the step.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, below, 0.05, 0.05, t, CAPACITY), 1);
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, below, 0.05, 0.1, t, CAPACITY), 2);
    assert_int_equal(t[1].feature, 4);
    NEAR(t[1].normal.x, cone_rho, 1e-15);
    NEAR(t[1].normal.z, cone_z, 1e-15);
    NEAR(t[1].gap, (0.8 - below.x) * cone_rho + (-0.6 - below.z) * cone_z - 0.05, 1e-15);
    // Below the cone: the wall.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, above, 0.05, 0.05, t, CAPACITY), 1);
    assert_int_equal(t[0].feature, 4);
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, above, 0.05, 0.2, t, CAPACITY), 2);
    NEAR(t[1].normal.x, 1, 1e-15);
    NEAR(t[1].gap, 0.8 - above.x - 0.05, 1e-15);
    // Not around the convex corner of the neck, and not a corner of a body, which is no sphere.
    int slow = sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.1, 0, 0.02), 0.02, 0.02, t, CAPACITY);
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.1, 0, 0.02), 0.02, 0.021, t, CAPACITY), slow);
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, below, 0, 0.15, t, CAPACITY), 1);
    for (int i = 0; i < 3000; i++) check_touches(&b, &AT_ORIGIN, random_point(1.3), 0.05, 0.2);
    sand_boundary_free(&b);
}

static void hollow_vessels_are_known(void **state) {
    (void)state;
    bool hollow[CLOSED_COUNT] = {true, true, false, true, false};
    for (int k = 0; k < CLOSED_COUNT; k++) {
        SandBoundary b = make_revolution(CLOSED[k].at, CLOSED[k].count, SAND_INSIDE);
        assert_int_equal(sand_boundary_flat_or_hollow(&b), hollow[k]);
        sand_boundary_free(&b);
        b = make_revolution(CLOSED[k].at, CLOSED[k].count, SAND_OUTSIDE);
        assert_false(sand_boundary_flat_or_hollow(&b));
        sand_boundary_free(&b);
    }
    const double tub[3][2] = {{0, 0}, {1, 0}, {1, 1}}, buffer[2][2] = {{0.2, 0}, {1, 0}};
    SandBoundary b = make_revolution(tub, 3, SAND_INSIDE);
    assert_true(sand_boundary_flat_or_hollow(&b));
    sand_boundary_free(&b);
    b = make_revolution(buffer, 2, SAND_INSIDE);
    assert_false(sand_boundary_flat_or_hollow(&b));
    sand_boundary_free(&b);
}

static void a_turned_boundary_gives_turned_touches(void **state) {
    (void)state;
    const Profile *glass = &CLOSED[2];
    SandBoundary b = make_revolution(glass->at, glass->count, SAND_INSIDE);
    SandPose pose = {{0.3, -2, 1}, q_exp(v3_make(0.4, -1.1, 2))};
    for (int i = 0; i < 500; i++) {
        SandVec3 local = random_point(1);
        SandTouch here[CAPACITY], there[CAPACITY];
        int n = sand_boundary_touch(&b, &AT_ORIGIN, local, 0.1, 0.05, here, CAPACITY);
        if (sand_boundary_touch(&b, &pose, pose_apply(pose, local), 0.1, 0.05, there, CAPACITY) != n)
            continue; // a touch at the limit of the reach
        for (int k = 0; k < n; k++) {
            NEAR(here[k].gap, there[k].gap, 1e-13);
            NEAR(v3_length(v3_sub(q_rotate(pose.rotation, here[k].normal), there[k].normal)), 0, 1e-11);
        }
    }
    sand_boundary_free(&b);
}

static void refuse_profile(const double (*profile)[2], int count, const char *word) {
    SandBoundary b;
    SandError error = {""};
    assert_false(sand_boundary_revolution(&b, profile, count, SAND_INSIDE, &error));
    if (!strstr(error.text, word)) fail_msg("'%s' does not speak of '%s'", error.text, word);
}

static void bad_profiles_are_refused(void **state) {
    (void)state;
    refuse_profile((double[][2]){{1, 0}}, 1, "at least 2");
    refuse_profile((double[][2]){{1, 0}, {NAN, 1}}, 2, "corner 1 is not finite");
    refuse_profile((double[][2]){{1, 0}, {-1, 1}}, 2, "below 0");
    refuse_profile((double[][2]){{1, 0}, {0, 1}, {1, 2}}, 3, "on the axis");
    refuse_profile((double[][2]){{0, 0}, {0, 1}}, 2, "along the axis");
    refuse_profile((double[][2]){{1, 0}, {1, 0}}, 2, "same point");
    refuse_profile((double[][2]){{1, 0}, {1, 1}, {1, 0.5}}, 3, "folds back");
    refuse_profile((double[][2]){{1, 0}, {1, 1}, {2, 1}, {0.5, 0.5}}, 4, "cross");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revolutions_agree_with_samples),
        cmocka_unit_test(a_quick_test_rejects_what_is_far_from_a_revolution),
        cmocka_unit_test(corners_of_a_revolution_touch_as_they_should),
        cmocka_unit_test(fast_spheres_are_held_around_a_corner),
        cmocka_unit_test(hollow_vessels_are_known),
        cmocka_unit_test(a_turned_boundary_gives_turned_touches),
        cmocka_unit_test(bad_profiles_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
