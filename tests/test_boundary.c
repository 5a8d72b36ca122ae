// Boundaries against truths found another way: dense samples of the surface, every triangle asked one by one, and a
// small step along a line.
#include "../sim/boundary.h"
#include "../sim/mesh.h"
#include "../sim/revolution_touch.inl"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka wants the headers above first.
#include <cmocka.h>

static const double PI = 3.14159265358979323846;
static const SandPose AT_ORIGIN = {{0, 0, 0}, {1, 0, 0, 0}};

static uint64_t random_state = 7;
static double uniform(double low, double high) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(random_state >> 11) * 0x1p-53;
}
static SandVec3 random_point(double half) {
    return v3_make(uniform(-half, half), uniform(-half, half), uniform(-half, half));
}

static void assert_near(double got, double want, double tolerance, int line) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("line %d: got %.17g, wanted %.17g within %g", line, got, want, tolerance);
}
#define NEAR(got, want, tolerance) assert_near(got, want, tolerance, __LINE__)

enum { ROOM = 64 };

// What must hold of every answer: unit normals, gaps in reach, each touch on the surface, no feature and no place twice,
// and the nearest touch is the signed distance.
static int check_touches(const SandBoundary *b, const SandPose *pose, SandVec3 c, double radius, double reach) {
    SandTouch t[ROOM];
    int n = sand_boundary_touch(b, pose, c, radius, reach, t, ROOM);
    assert_true(n <= ROOM);
    double distance = sand_boundary_distance(b, pose, c), least = INFINITY;
    for (int i = 0; i < n; i++) {
        NEAR(v3_length(t[i].normal), 1, 1e-13);
        assert_true(t[i].gap <= reach && t[i].feature < SAND_MAX_FEATURE);
        if (fabs(t[i].gap + radius) < fabs(least)) least = t[i].gap + radius;
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(t[i].feature, t[j].feature);
            SandVec3 p = v3_scale(t[i].gap + radius, t[i].normal), q = v3_scale(t[j].gap + radius, t[j].normal);
            if (v3_length(v3_sub(p, q)) < 1e-10 && v3_dot(t[i].normal, t[j].normal) > 0.99)
                fail_msg("features %u and %u touch at one place", t[i].feature, t[j].feature);
        }
    }
    if (n > 0 && (b->kind != SAND_BOX_WALLS || distance >= 0)) NEAR(least, distance, 1e-12);
    if (n == 0) assert_true(distance > radius + reach - 1e-12 || distance < -0.5 * radius + 1e-12);
    return n;
}

// A touch of a smooth face ends on the surface.
static void check_feet(const SandBoundary *b, const SandPose *pose, SandVec3 c, double radius, double reach,
                       double tolerance) {
    SandTouch t[ROOM];
    int n = sand_boundary_touch(b, pose, c, radius, reach, t, ROOM);
    for (int i = 0; i < n; i++) {
        SandVec3 foot = v3_madd(c, t[i].gap + radius, t[i].normal);
        NEAR(sand_boundary_distance(b, pose, foot), 0, tolerance);
    }
}

// The distance is continuous: along a line it changes by no more than the way.
static void check_continuity(const SandBoundary *b, double half, int lines) {
    for (int i = 0; i < lines; i++) {
        SandVec3 from = random_point(half), to = random_point(half);
        double step = v3_length(v3_sub(to, from)) / 1000, last = 0;
        for (int k = 0; k <= 1000; k++) {
            double d = sand_boundary_distance(b, &AT_ORIGIN, v3_madd(from, k / 1000.0, v3_sub(to, from)));
            if (k > 0 && fabs(d - last) > step + 1e-12) fail_msg("a jump from %g to %g in a way of %g", last, d, step);
            last = d;
        }
    }
}

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
        if (n) NEAR(v3_length(v3_add(t.normal, normal)), 0, 1e-13), NEAR(t.gap, d - 0.5, 1e-13);
    }
}

// The least distance to samples of a box's or sphere's surface.
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
        SandBoundary box, ball;
        SandVec3 half = v3_make(1, 0.7, 0.5);
        double sign = side == SAND_INSIDE ? 1 : -1;
        assert_true(sand_boundary_box(&box, half, side, NULL));
        assert_true(sand_boundary_sphere(&ball, 0.8, side, NULL));
        for (int i = 0; i < 300; i++) {
            SandVec3 c = random_point(1.5);
            bool in = fabs(c.x) < half.x && fabs(c.y) < half.y && fabs(c.z) < half.z;
            double d = sand_boundary_distance(&box, &AT_ORIGIN, c), sampled = sampled_box(half, c);
            // Samples lie 0.02 apart, so the nearest is at most 0.0142 off the foot.
            assert_true(fabs(d) <= sampled + 1e-12 && fabs(d) >= sampled - 0.0142);
            assert_int_equal(d * sign > 0, in);
            NEAR(sand_boundary_distance(&ball, &AT_ORIGIN, c), sign * (0.8 - v3_length(c)), 1e-14);
            check_touches(&box, &AT_ORIGIN, c, 0.2, 0.1);
            check_touches(&ball, &AT_ORIGIN, c, 0.2, 0.1);
            if (side == SAND_OUTSIDE || in) check_feet(&box, &AT_ORIGIN, c, 0.2, 0.1, 1e-14);
            check_feet(&ball, &AT_ORIGIN, c, 0.2, 0.1, 1e-14);
        }
        check_touches(&ball, &AT_ORIGIN, v3_make(0, 0, 0), 0.9, 0); // the centre has no direction of its own
        check_continuity(&box, 1.5, 20);
    }
    SandBoundary box;
    SandTouch t[6];
    assert_true(sand_boundary_box(&box, v3_make(1, 1, 1), SAND_INSIDE, NULL));
    assert_int_equal(sand_boundary_touch(&box, &AT_ORIGIN, v3_make(0.9, -0.9, 0.95), 0.1, 0.01, t, 6), 3); // one a face
    assert_int_equal(t[0].feature, 1), assert_int_equal(t[1].feature, 2), assert_int_equal(t[2].feature, 5);
    assert_int_equal(sand_boundary_touch(&box, &AT_ORIGIN, v3_make(0.9, -0.9, 0.95), 0.1, 0.01, t, 1),
                     3); // though room is 1
}

// ---------------------------------------------------------------------------------------------------------------
// Revolution

typedef struct Profile {
    const char *name;
    int count;
    double at[12][2];
} Profile;

// Both ends on the axis, so that inside and outside are plain: a can, the glass, a double cone, a stepped vessel.
static const Profile CLOSED[] = {
    {"can", 4, {{0, -1}, {0.8, -1}, {0.8, 1}, {0, 1}}},
    {"can from above", 4, {{0, 1}, {0.8, 1}, {0.8, -1}, {0, -1}}},
    {"hourglass", 8, {{0, -1.2}, {0.8, -1.2}, {0.8, -0.6}, {0.15, -0.05}, {0.15, 0.05}, {0.8, 0.6}, {0.8, 1.2}, {0, 1.2}}},
    {"double cone", 3, {{0, -1}, {1, 0}, {0, 1}}},
    {"not monotone", 8, {{0, -0.5}, {0.3, -1}, {0.9, -1}, {0.9, 1}, {0.6, 1}, {0.6, 0.2}, {0.4, 0.2}, {0, 0.6}}},
};
enum { CLOSED_COUNT = sizeof CLOSED / sizeof *CLOSED };

// Samples 1 mm apart along the profile: the nearest is at most 0.5 mm off the foot, which adds at most that.
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
                if (rho > 0.1) check_feet(&b, &AT_ORIGIN, c, 0.08, 0.02, 1e-13); // away from rings every touch is a foot
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

// A ball that is clear of the wall at a glance is so by the distance, and in a closed vessel on the allowed side: an open
// one has no inside far from its wall. Most of those in a vessel that are clear are told so.
static void a_glance_tells_what_is_far_from_a_revolution(void **state) {
    (void)state;
    static const Profile OPEN[] = {{"tub", 3, {{0, -1}, {0.7, -0.6}, {0.9, 0.4}}},
                                   {"pipe", 2, {{0.6, -1}, {0.6, 1}}},
                                   {"ring", 4, {{0.4, -0.5}, {1, -0.5}, {1, 0.5}, {0.4, 0.5}}}};
    int clear = 0, told = 0;
    for (int k = 0; k < CLOSED_COUNT + 3; k++)
        for (int side = SAND_INSIDE; side <= SAND_OUTSIDE; side++) {
            const Profile *p = k < CLOSED_COUNT ? &CLOSED[k] : &OPEN[k - CLOSED_COUNT];
            SandBoundary b = make_revolution(p->at, p->count, side);
            for (int i = 0; i < 20000; i++) {
                SandVec3 c = random_point(1.3);
                double range = uniform(0, 0.3), d = sand_boundary_distance(&b, &AT_ORIGIN, c);
                bool glance = revolution_clear(b.bands, hypot(c.x, c.y), c.z, range);
                if (glance && (k < CLOSED_COUNT ? d : fabs(d)) <= range)
                    fail_msg("%s: a wall is %g from (%g, %g, %g)", p->name, d, c.x, c.y, c.z);
                if (k < CLOSED_COUNT && side == SAND_INSIDE) clear += d > range, told += glance;
            }
            sand_boundary_free(&b);
        }
    print_message("%d of %d told\n", told, clear);
    assert_true(told > clear / 2);
}

static void corners_of_a_revolution_touch_as_they_should(void **state) {
    (void)state;
    SandTouch t[ROOM];
    const Profile *glass = &CLOSED[2];
    SandBoundary b = make_revolution(glass->at, glass->count, SAND_INSIDE);
    // In the corner of floor and wall: one touch for each face.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0, 0.75, -1.15), 0.05, 1e-6, t, ROOM), 2);
    assert_int_equal(t[0].feature, 0), assert_int_equal(t[1].feature, 2);
    NEAR(t[0].normal.z, -1, 1e-15), NEAR(t[1].normal.y, 1, 1e-15);
    NEAR(t[0].gap, 0, 1e-15), NEAR(t[1].gap, 0, 1e-15);
    // Over the upper corner of the neck, between the normals of tube and funnel: one touch, the corner's own.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.12, 0, 0.06), 0.02, 0.02, t, ROOM), 1);
    assert_int_equal(t[0].feature, 2 * 4 + 1);
    NEAR(t[0].gap, hypot(0.03, 0.01) - 0.02, 1e-15);
    // A centre that has gone through the wall by a little is sent back, towards the axis.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.801, 0, -0.9), 0.05, 0, t, ROOM), 1);
    NEAR(t[0].gap, -0.051, 1e-15), NEAR(t[0].normal.x, 1, 1e-15);
    // A ball that plugs the neck is held on three sides, on the axis too.
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0, 0, 0.1), 0.156, 0.01, t, ROOM), 3);
    NEAR(v3_length(v3_add(t[0].normal, v3_add(t[1].normal, v3_make(t[2].normal.x, t[2].normal.y, 0)))),
         2 * fabs(t[0].normal.z), 1e-12);
    sand_boundary_free(&b);

    // An open tub: outside beside its rim a ball touches the rim only, from wherever it comes, and inside its wall.
    const double tub[3][2] = {{0, 0}, {1, 0}, {1, 1}};
    b = make_revolution(tub, 3, SAND_INSIDE);
    for (int i = 1; i < 32; i++) {
        double a = PI * i / 32;
        assert_int_equal(
            sand_boundary_touch(&b, &AT_ORIGIN, v3_make(1 + 0.1 * cos(a), 0, 1 + 0.1 * sin(a)), 0.1, 0.001, t, ROOM), 1);
        assert_int_equal(t[0].feature, 5);
        NEAR(t[0].gap, 0, 1e-14);
    }
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(1.1, 0, 0.5), 0.1, 0.01, t, ROOM),
                     0); // spilled, it lies outside
    sand_boundary_free(&b);

    // The rule of the order: a disc from the axis outwards is a floor, a wall holds the axis whichever way it is given.
    const double disc[2][2] = {{0, 0}, {1, 0}}, down[3][2] = {{1, 1}, {1, 0.5}, {1, 0}};
    b = make_revolution(disc, 2, SAND_INSIDE);
    NEAR(sand_boundary_distance(&b, &AT_ORIGIN, v3_make(0, 0, 0.5)), 0.5, 0);
    NEAR(sand_boundary_distance(&b, &AT_ORIGIN, v3_make(0.3, 0, -0.5)), -0.5, 0);
    sand_boundary_free(&b);
    b = make_revolution(down, 3, SAND_INSIDE);
    assert_int_equal(b.profile_count, 2); // the middle of a straight line is no corner
    NEAR(sand_boundary_distance(&b, &AT_ORIGIN, v3_make(0.8, 0, 0.5)), 0.2, 1e-15);
    assert_int_equal(sand_boundary_touch(&b, &AT_ORIGIN, v3_make(0.9, 0, 0.5), 0.1, 0.01, t, ROOM), 1);
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
    const double tub[3][2] = {{0, 0}, {1, 0}, {1, 1}}, ring[2][2] = {{0.2, 0}, {1, 0}};
    SandBoundary b = make_revolution(tub, 3, SAND_INSIDE);
    assert_true(sand_boundary_flat_or_hollow(&b));
    sand_boundary_free(&b);
    b = make_revolution(ring, 2, SAND_INSIDE);
    assert_false(sand_boundary_flat_or_hollow(&b));
    sand_boundary_free(&b);
}

static void refuse_profile(const double (*profile)[2], int count, const char *word) {
    SandBoundary b;
    SandError error = {""};
    assert_false(sand_boundary_revolution(&b, profile, count, SAND_INSIDE, &error));
    if (!strstr(error.text, word)) fail_msg("'%s' does not speak of '%s'", error.text, word);
}

static void bad_sizes_are_refused(void **state) {
    (void)state;
    SandBoundary b;
    assert_false(sand_boundary_plane(&b, v3_make(0, 0, 0), v3_make(0, 0, 0), NULL));
    assert_false(sand_boundary_plane(&b, v3_make(0, NAN, 0), v3_make(0, 0, 1), NULL));
    assert_false(sand_boundary_box(&b, v3_make(1, -1, 1), SAND_INSIDE, NULL));
    assert_false(sand_boundary_sphere(&b, INFINITY, SAND_INSIDE, NULL));
    refuse_profile((double[][2]){{1, 0}}, 1, "at least 2");
    refuse_profile((double[][2]){{1, 0}, {NAN, 1}}, 2, "corner 1 is not finite");
    refuse_profile((double[][2]){{1, 0}, {-1, 1}}, 2, "below 0");
    refuse_profile((double[][2]){{1, 0}, {0, 1}, {1, 2}}, 3, "on the axis");
    refuse_profile((double[][2]){{0, 0}, {0, 1}}, 2, "along the axis");
    refuse_profile((double[][2]){{1, 0}, {1, 0}}, 2, "same point");
    refuse_profile((double[][2]){{1, 0}, {1, 1}, {1, 0.5}}, 3, "folds back");
    refuse_profile((double[][2]){{1, 0}, {1, 1}, {2, 1}, {0.5, 0.5}}, 4, "cross");
}

// ---------------------------------------------------------------------------------------------------------------
// Motion and pose

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

static void a_turned_boundary_gives_turned_touches(void **state) {
    (void)state;
    const Profile *glass = &CLOSED[2];
    SandBoundary b = make_revolution(glass->at, glass->count, SAND_INSIDE);
    SandPose pose = {{0.3, -2, 1}, q_exp(v3_make(0.4, -1.1, 2))};
    for (int i = 0; i < 500; i++) {
        SandVec3 local = random_point(1);
        SandTouch here[ROOM], there[ROOM];
        int n = sand_boundary_touch(&b, &AT_ORIGIN, local, 0.1, 0.05, here, ROOM);
        if (sand_boundary_touch(&b, &pose, pose_apply(pose, local), 0.1, 0.05, there, ROOM) != n)
            continue; // a touch on the edge of reach
        for (int k = 0; k < n; k++) {
            NEAR(here[k].gap, there[k].gap, 1e-13);
            NEAR(v3_length(v3_sub(q_rotate(pose.rotation, here[k].normal), there[k].normal)), 0, 1e-11);
        }
    }
    sand_boundary_free(&b);
}

// ---------------------------------------------------------------------------------------------------------------
// Mesh

static void a_ball_rolls_over_a_flat_mesh_as_over_a_plane(void **state) {
    (void)state;
    double heights[11 * 9];
    for (int i = 0; i < 11 * 9; i++) heights[i] = 0.25;
    SandBoundary b;
    assert_true(sand_boundary_terrain(&b, heights, 11, 9, v3_make(1, 0.8, 0), NULL));
    for (int i = 0; i < 20000; i++) {
        // Random places, and places exactly over edges, diagonals and vertices (the cells are 0.2 wide).
        double x = uniform(-0.95, 0.95), y = uniform(-0.75, 0.75);
        if (i % 4 == 1) x = -1 + 0.2 * (1 + i / 4 % 9);
        if (i % 4 == 2) y = x;
        if (i % 4 == 3) x = -1 + 0.2 * (1 + i / 4 % 9), y = -0.8 + 0.2 * (1 + i / 36 % 7);
        if (fabs(y) > 0.75) continue;
        SandTouch t[ROOM];
        for (double radius = 0.01; radius < 1; radius *= 5) {
            if (1 - fabs(x) < radius * 1.1 || 0.8 - fabs(y) < radius * 1.1) continue; // clear of the rim
            int n = sand_boundary_touch(&b, &AT_ORIGIN, v3_make(x, y, 0.25 + 0.99 * radius), radius, 0.05 * radius, t, ROOM);
            if (n != 1) fail_msg("%d touches at (%.17g, %.17g) of a ball of %g", n, x, y, radius);
            NEAR(v3_length(v3_sub(t[0].normal, v3_make(0, 0, -1))), 0, 1e-9); // the slack of a border is 1e-9
            NEAR(t[0].gap, -0.01 * radius, 1e-13);
        }
        int n = sand_boundary_touch(&b, &AT_ORIGIN, v3_make(x, y, 0.2), 0.1, 0, t, ROOM); // below it: pushed back up
        assert_int_equal(n, 1);
        NEAR(t[0].normal.z, -1, 1e-12), NEAR(t[0].gap, -0.15, 1e-13);
    }
    sand_boundary_free(&b);
}

// The nearest point of one triangle, by solving for its interior and clamping to its sides: no shared code.
static double triangle_distance(SandVec3 p, SandVec3 a, SandVec3 b, SandVec3 c) {
    SandVec3 u = v3_sub(b, a), v = v3_sub(c, a), w = v3_sub(p, a);
    double uu = v3_dot(u, u), uv = v3_dot(u, v), vv = v3_dot(v, v), wu = v3_dot(w, u), wv = v3_dot(w, v);
    double det = uu * vv - uv * uv, s = (vv * wu - uv * wv) / det, t = (uu * wv - uv * wu) / det;
    if (s >= 0 && t >= 0 && s + t <= 1) return v3_length(v3_sub(w, v3_add(v3_scale(s, u), v3_scale(t, v))));
    double best = INFINITY;
    SandVec3 corners[4] = {a, b, c, a};
    for (int k = 0; k < 3; k++) {
        SandVec3 e = v3_sub(corners[k + 1], corners[k]), d = v3_sub(p, corners[k]);
        double r = fmin(fmax(v3_dot(d, e) / v3_dot(e, e), 0), 1);
        best = fmin(best, v3_length(v3_madd(d, -r, e)));
    }
    return best;
}

static double mesh_truth(const SandTriangleMesh *m, SandVec3 p) {
    double best = INFINITY;
    for (int f = 0; f < m->face_count; f++)
        best = fmin(best, triangle_distance(p, m->vertices[m->faces[f][0]], m->vertices[m->faces[f][1]],
                                            m->vertices[m->faces[f][2]]));
    return best;
}

// How often the upward ray from p meets the mesh: odd means inside a closed one, and below a terrain.
static bool ray_is_odd(const SandTriangleMesh *m, SandVec3 p) {
    bool odd = false;
    for (int f = 0; f < m->face_count; f++) {
        SandVec3 q[3];
        for (int k = 0; k < 3; k++) q[k] = v3_sub(m->vertices[m->faces[f][k]], p);
        double area = 0, z = 0;
        bool in = true;
        double w[3];
        for (int k = 0; k < 3; k++) {
            SandVec3 a = q[(k + 1) % 3], c = q[(k + 2) % 3];
            w[k] = a.x * c.y - a.y * c.x;
            area += w[k];
        }
        for (int k = 0; k < 3; k++) in = in && w[k] * area > 0, z += w[k] / area * q[k].z;
        if (in && z > 0) odd = !odd;
    }
    return odd;
}

static SandBoundary bumpy_terrain(int nx, int ny, double roughness) {
    double *heights = calloc((size_t)(nx * ny), sizeof *heights);
    for (int i = 0; i < nx * ny; i++) heights[i] = uniform(-roughness, roughness);
    SandBoundary b;
    assert_true(sand_boundary_terrain(&b, heights, nx, ny, v3_make(1, 1, 0), NULL));
    free(heights);
    return b;
}

static void compare_mesh(const SandBoundary *b, double half, int trials, double radius, double reach) {
    int touched = 0;
    for (int i = 0; i < trials; i++) {
        SandVec3 c = random_point(half);
        double truth = mesh_truth(b->mesh, c), d = sand_boundary_distance(b, &AT_ORIGIN, c);
        NEAR(fabs(d), truth, 1e-8); // the slack of a border moves a foot by 1e-9 of the range at most
        // Behind a rim is no inside, so a terrain is asked for its sign only where the rim is not the nearest.
        if (b->mesh->closed || (fabs(c.x) < 0.85 && fabs(c.y) < 0.85 && truth < 0.1))
            assert_int_equal(d < 0, ray_is_odd(b->mesh, c));
        SandTouch t[ROOM];
        int n = sand_boundary_touch(b, &AT_ORIGIN, c, radius, reach, t, ROOM);
        double least = INFINITY;
        for (int k = 0; k < n; k++) {
            NEAR(v3_length(t[k].normal), 1, 1e-13);
            NEAR(mesh_truth(b->mesh, v3_madd(c, t[k].gap + radius, t[k].normal)), 0, 1e-8); // each ends on the mesh
            if (fabs(t[k].gap + radius) < fabs(least)) least = t[k].gap + radius;
            for (int j = 0; j < k; j++) assert_int_not_equal(t[k].feature, t[j].feature);
        }
        bool expected = d <= radius + reach && d >= -radius;
        if (fabs(d - radius - reach) > 1e-8 && fabs(d + radius) > 1e-8) assert_int_equal(n > 0, expected);
        if (n > 0) NEAR(least, d, 1e-8), touched++;
    }
    assert_true(touched > trials / 50); // enough of them met the surface to mean something
}

static void a_rough_terrain_agrees_with_all_its_triangles(void **state) {
    (void)state;
    SandBoundary b = bumpy_terrain(9, 8, 0.1);
    compare_mesh(&b, 1.2, 4000, 0.1, 0.02);
    compare_mesh(&b, 1.2, 1000, 0.4, 0.1);
    sand_boundary_free(&b);
}

static const char *write_file(const char *text) {
    static char path[] = "/tmp/sand_test_XXXXXX.obj";
    strcpy(path, "/tmp/sand_test_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static bool read_text(SandBoundary *b, const char *text, SandError *error) {
    const char *path = write_file(text);
    bool good = sand_boundary_mesh_file(b, path, error);
    unlink(path);
    return good;
}

#define CUBE_VERTICES "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
#define CUBE_FACES "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"

static void a_cube_is_a_block(void **state) {
    (void)state;
    SandBoundary cube, block;
    SandError error = {""};
    if (!read_text(&cube, "# a cube\no cube\nvn 0 0 1\n" CUBE_VERTICES "s off\n" CUBE_FACES, &error))
        fail_msg("%s", error.text);
    assert_true(sand_boundary_box(&block, v3_make(1, 1, 1), SAND_OUTSIDE, NULL));
    assert_true(cube.mesh->closed);
    assert_int_equal(cube.mesh->face_count, 12), assert_int_equal(cube.mesh->edge_count, 18);
    for (int i = 0; i < 3000; i++) {
        SandVec3 c = random_point(1.4);
        SandTouch a[ROOM], b[ROOM];
        NEAR(sand_boundary_distance(&cube, &AT_ORIGIN, c), sand_boundary_distance(&block, &AT_ORIGIN, c), 1e-8);
        int n = sand_boundary_touch(&cube, &AT_ORIGIN, c, 0.2, 0.05, a, ROOM);
        int m = sand_boundary_touch(&block, &AT_ORIGIN, c, 0.2, 0.05, b, ROOM);
        if (b[0].gap < -0.4) continue; // so deep a mesh lets it be
        assert_int_equal(n, m);
        if (n) NEAR(a[0].gap, b[0].gap, 1e-12), NEAR(v3_dot(a[0].normal, b[0].normal), 1, 1e-12);
    }
    compare_mesh(&cube, 1.3, 2000, 0.2, 0.05);
    sand_boundary_free(&cube);
}

static void faces_may_be_written_in_every_way(void **state) {
    (void)state;
    SandBoundary b;
    SandError error = {""};
    const char *ways[] = {"f 1/1 2/2 3/3\n", "f 1//1 2//1 3//1\n", "f 1/1/1 2/2/1 3/3/1 \r\n", "f -3 -2 -1 # turned back\n",
                          "f 1/ 2/ 3/\n"};
    for (int i = 0; i < 5; i++) {
        char text[200];
        snprintf(text, sizeof text, "v 0 0 0\nv 1 0 0 1.0\n  v 0 1 0 0.5 0.5 0.5\n%s", ways[i]);
        if (!read_text(&b, text, &error)) fail_msg("%s", error.text);
        NEAR(b.mesh->normals[0].z, 1, 0);
        sand_boundary_free(&b);
    }
}

static void refuse_mesh(const char *text, const char *word, int line) {
    SandBoundary b;
    SandError error = {""};
    if (read_text(&b, text, &error)) fail_msg("accepted, though it should speak of '%s'", word);
    if (!strstr(error.text, word)) fail_msg("'%s' does not speak of '%s'", error.text, word);
    char place[20];
    snprintf(place, sizeof place, ":%d:", line);
    if (line && !strstr(error.text, place)) fail_msg("'%s' does not name line %d", error.text, line);
}

static void bad_meshes_are_refused(void **state) {
    (void)state;
    SandBoundary b;
    SandError error = {""};
    assert_false(sand_boundary_mesh_file(&b, "/nonexistent/file.obj", &error));
    assert_non_null(strstr(error.text, "/nonexistent/file.obj"));
    assert_false(sand_boundary_mesh_file(&b, "/tmp", &error)); // a folder
    refuse_mesh("", "no triangles", 0);
    refuse_mesh("v 0 0\n", "three numbers", 1);
    refuse_mesh("v 0 0 x\n", "three numbers", 1);
    refuse_mesh("v 0 0 0 x\n", "numbers only", 1);
    refuse_mesh("v 0 0 0\nv 0 nan 0\n", "not finite", 2);
    refuse_mesh("v 0 0 inf\n", "not finite", 1);
    refuse_mesh("v 0 0 0\nvertex 1 2 3\n", "'vertex' is not known", 2);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", "at least three", 4);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", "no vertex 4", 4);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", "no vertex 0", 4);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -9\n", "no vertex", 4);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3x\n", "numbers only", 4);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "no area", 4);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 2 1 0\nf 1 2 2\n", "no area", 4);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n", "3 triangles", 8);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 -1 0\nf 1 2 3\nf 1 2 4\n", "turned against", 6);
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.5 0.5 0\nf 1 2 3\nf 2 1 4\n", "lies on its neighbour", 6);
    refuse_mesh(CUBE_VERTICES "f 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n", "hole", 0); // a tube has two rims
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nf 1 2 3\nf 1 4 5\n", "two rims meet at vertex 1", 0);
    double heights[4] = {0, 0, NAN, 0};
    assert_false(sand_boundary_terrain(&b, heights, 2, 2, v3_make(1, 1, 0), NULL));
    assert_false(sand_boundary_terrain(&b, heights, 2, 1, v3_make(1, 1, 0), NULL));
    assert_false(sand_boundary_terrain(&b, heights, 1 << 15, 1 << 15, v3_make(1, 1, 0), NULL));
    assert_false(sand_boundary_terrain(&b, heights, 2, 2, v3_make(0, 1, 0), NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_touch_on_their_side),
        cmocka_unit_test(boxes_and_spheres_agree_with_samples),
        cmocka_unit_test(revolutions_agree_with_samples),
        cmocka_unit_test(a_glance_tells_what_is_far_from_a_revolution),
        cmocka_unit_test(corners_of_a_revolution_touch_as_they_should),
        cmocka_unit_test(hollow_vessels_are_known),
        cmocka_unit_test(bad_sizes_are_refused),
        cmocka_unit_test(motion_arrives_exactly),
        cmocka_unit_test(a_turned_boundary_gives_turned_touches),
        cmocka_unit_test(a_ball_rolls_over_a_flat_mesh_as_over_a_plane),
        cmocka_unit_test(a_rough_terrain_agrees_with_all_its_triangles),
        cmocka_unit_test(a_cube_is_a_block),
        cmocka_unit_test(faces_may_be_written_in_every_way),
        cmocka_unit_test(bad_meshes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
