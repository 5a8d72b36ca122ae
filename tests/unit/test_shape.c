// SPDX-License-Identifier: MIT
// Shapes against independent references: closed formulas, voxel counts, and sampling.
#include "sim/geometry/shape_distance.inl"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
// cmocka wants the four headers above first.
#include <cmocka.h>

static const double PI = 3.14159265358979323846;

static uint64_t random_state = 1;
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

static void sort3(double v[3]) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (v[j] > v[j + 1]) {
                double t = v[j];
                v[j] = v[j + 1];
                v[j + 1] = t;
            }
}

// Volume and inertia of two spheres on an axis, by discs across it: the profile is the larger of the two.
static void two_balls_truth(double ra, double rb, double d, double *volume, double *along, double *across) {
    enum { N = 400000 };
    double low = fmin(-ra, d - rb), high = fmax(ra, d + rb), w = (high - low) / N, s0 = 0, s1 = 0, s2 = 0, s4 = 0;
    for (int i = 0; i < N; i++) {
        double x = low + (i + 0.5) * w, rr = fmax(fmax(ra * ra - x * x, rb * rb - (x - d) * (x - d)), 0);
        s0 += PI * rr * w;
        s1 += PI * rr * x * w;
        s2 += PI * rr * x * x * w;
        s4 += PI * rr * rr * w;
    }
    *volume = s0;
    *along = s4 / 2;
    *across = s4 / 4 + s2 - s1 * s1 / s0;
}

static void two_equal_balls_have_the_volume_of_the_formula(void **state) {
    (void)state;
    for (double d = 0.1; d < 2; d += 0.37) {
        SandShapeSphere spheres[2] = {{{0, 0, 0}, 1}, {{d, 0, 0}, 1}};
        SandShape shape;
        assert_true(sand_shape_clump(&shape, spheres, 2, NULL));
        double lens = PI * (4 + d) * (2 - d) * (2 - d) / 12;
        // The quadrature promises 1e-3 and is designed for 1e-4; a pair across the z axis is its worst case.
        NEAR(shape.volume, 8 * PI / 3 - lens, 1e-4 * shape.volume);
        sand_shape_free(&shape);
    }
}

static void two_balls_in_any_direction_have_the_inertia_of_discs(void **state) {
    (void)state;
    for (int trial = 0; trial < 40; trial++) {
        double ra = uniform(0.5, 1), rb = uniform(0.3, 1), d = uniform(0.1, 0.99) * (ra + rb);
        SandVec3 far = random_point(5), direction = v3_unit_or(random_point(1), v3_make(1, 0, 0));
        SandShapeSphere spheres[2] = {{far, ra}, {v3_madd(far, d, direction), rb}};
        SandShape shape;
        assert_true(sand_shape_clump(&shape, spheres, 2, NULL));
        double volume, along, across, got[3] = {shape.inertia.x, shape.inertia.y, shape.inertia.z};
        two_balls_truth(ra, rb, d, &volume, &along, &across);
        double want[3] = {along, across, across};
        sort3(got);
        sort3(want);
        NEAR(shape.volume, volume, 1e-4 * volume); // as above; the reference is good to 1e-9
        for (int k = 0; k < 3; k++) NEAR(got[k], want[k], 1e-4 * want[k]);
        // The line through the two spheres passes through the center of mass.
        SandVec3 a = shape.spheres[0].center, b = shape.spheres[1].center;
        NEAR(v3_length(v3_cross(a, b)), 0, 1e-4);
        sand_shape_free(&shape);
    }
}

// Volume and central inertia tensor by counting voxels: slow and independent.
static void voxel_truth(const SandShape *shape, int n, double *volume, double tensor[6], SandVec3 *center) {
    double w = 2 * shape->bound / n, s[10] = {0};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
                SandVec3 p =
                    v3_make((i + 0.5) * w - shape->bound, (j + 0.5) * w - shape->bound, (k + 0.5) * w - shape->bound);
                bool in = false;
                for (int b = 0; b < shape->sphere_count && !in; b++) {
                    SandVec3 d = v3_sub(p, shape->spheres[b].center);
                    in = v3_dot(d, d) < shape->spheres[b].radius * shape->spheres[b].radius;
                }
                if (!in) continue;
                double f[10] = {
                    1,         p.x,       p.y,      p.z, p.y * p.y + p.z * p.z, p.x * p.x + p.z * p.z, p.x * p.x + p.y * p.y,
                    p.x * p.y, p.x * p.z, p.y * p.z};
                for (int q = 0; q < 10; q++) s[q] += f[q] * w * w * w;
            }
    *volume = s[0];
    *center = v3_make(s[1] / s[0], s[2] / s[0], s[3] / s[0]);
    memcpy(tensor, s + 4, 6 * sizeof *tensor);
}

static int rock(SandShapeSphere *spheres, int count) {
    spheres[0] = (SandShapeSphere){{0, 0, 0}, 0.6};
    for (int i = 1; i < count; i++) {
        SandVec3 direction = v3_unit_or(random_point(1), v3_make(1, 0, 0));
        spheres[i] = (SandShapeSphere){v3_scale(uniform(0.2, 0.6), direction), uniform(0.2, 0.5)};
    }
    return count;
}

static void a_rock_agrees_with_a_count_of_voxels(void **state) {
    (void)state;
    int counts[] = {5, 12, 31, 40};
    for (int trial = 0; trial < 4; trial++) {
        SandShapeSphere spheres[40];
        SandShape shape;
        int count = rock(spheres, counts[trial]);
        assert_true(sand_shape_clump(&shape, spheres, count, NULL));
        double volume, t[6];
        SandVec3 c;
        voxel_truth(&shape, 120, &volume, t, &c);
        // 120 voxels across leave about 3e-4 of noise in the count; sand_shape_clump promises 1e-3.
        NEAR(shape.volume, volume, 1e-3 * volume);
        NEAR(shape.inertia.x, t[0], 1e-3 * t[0]);
        NEAR(shape.inertia.y, t[1], 1e-3 * t[1]);
        NEAR(shape.inertia.z, t[2], 1e-3 * t[2]);
        for (int k = 3; k < 6; k++) NEAR(t[k], 0, 1e-3 * t[0]); // the axes are principal
        NEAR(v3_length(c), 0, 1e-3 * shape.bound);              // the origin is the center of mass
        sand_shape_free(&shape);
    }
}

static void the_input_frame_leads_to_the_principal_frame(void **state) {
    (void)state;
    SandShapeSphere spheres[9];
    SandShape shape, again;
    int count = rock(spheres, 9);
    for (int i = 0; i < count; i++) spheres[i].center = v3_add(spheres[i].center, v3_make(3, -4, 7));
    assert_true(sand_shape_clump(&shape, spheres, count, NULL));
    assert_true(sand_shape_clump(&again, spheres, count, NULL));
    double reach = 0;
    for (int i = 0; i < count; i++) {
        SandVec3 moved = pose_apply(shape.from_input, spheres[i].center);
        NEAR(v3_length(v3_sub(moved, shape.spheres[i].center)), 0, 1e-13); // the same rotation in two ways: rounding only
        reach = fmax(reach, v3_length(shape.spheres[i].center) + spheres[i].radius);
        assert_memory_equal(&shape.spheres[i], &again.spheres[i], sizeof(SandShapeSphere)); // the same bits each time
    }
    NEAR(shape.bound, reach, 0);

    // A body that is placed by that frame has every sphere where the frame, scaled and moved, has it.
    SandPose input = {v3_make(1, 2, 3), q_exp(v3_make(0.4, -0.2, 0.9))}, pose = sand_shape_place(&shape, 2, input);
    for (int i = 0; i < count; i++) {
        SandVec3 wanted = pose_apply(input, v3_scale(2, spheres[i].center));
        NEAR(v3_length(v3_sub(pose_apply(pose, v3_scale(2, shape.spheres[i].center)), wanted)), 0, 1e-12);
    }
    sand_shape_free(&shape);
    sand_shape_free(&again);
}

static void hidden_and_double_balls_change_nothing(void **state) {
    (void)state;
    SandShapeSphere spheres[4] = {{{0, 0, 0}, 1}, {{0, 0, 0}, 1}, {{0.1, 0, 0.2}, 0.3}, {{0, 0, 0}, 1}};
    SandShape shape;
    assert_true(sand_shape_clump(&shape, spheres, 4, NULL));
    double volume = 4 * PI / 3;
    NEAR(shape.volume, volume, 1e-12); // three Gauss points are exact for a single sphere, so rounding only
    NEAR(shape.inertia.x, 0.4 * volume, 1e-12);
    NEAR(shape.inertia.z, 0.4 * volume, 1e-12);
    sand_shape_free(&shape);
}

static void large_clumps_are_built(void **state) {
    (void)state;
    int counts[] = {2, 8, 32, 33, 100, SAND_MAX_SPHERES};
    for (int i = 0; i < 6; i++) {
        SandShapeSphere spheres[SAND_MAX_SPHERES];
        SandShape shape;
        rock(spheres, counts[i]);
        assert_true(sand_shape_clump(&shape, spheres, counts[i], NULL)); // 40 ms for the largest
        assert_int_equal(shape.sphere_count, counts[i]);
        assert_true(shape.volume > 0 && isfinite(shape.volume));
        sand_shape_free(&shape);
    }
}

static void refuse_clump(const SandShapeSphere *spheres, int count, const char *word) {
    SandShape shape;
    SandError error = {""};
    assert_false(sand_shape_clump(&shape, spheres, count, &error));
    if (!strstr(error.text, word)) fail_msg("'%s' does not speak of '%s'", error.text, word);
    assert_null(shape.spheres);
}

static void bad_shapes_are_refused(void **state) {
    (void)state;
    SandShapeSphere many[SAND_MAX_SPHERES + 1];
    for (int i = 0; i <= SAND_MAX_SPHERES; i++) many[i] = (SandShapeSphere){{0, 0, 0}, 1};
    refuse_clump(many, 0, "at least one");
    refuse_clump(many, SAND_MAX_SPHERES + 1, "at most 255");
    refuse_clump((SandShapeSphere[]){{{0, 0, 0}, 1}, {{NAN, 0, 0}, 1}}, 2, "sphere 1");
    refuse_clump((SandShapeSphere[]){{{0, 0, 0}, INFINITY}}, 1, "not finite");
    refuse_clump((SandShapeSphere[]){{{0, 0, 0}, 0}}, 1, "radius");
    refuse_clump((SandShapeSphere[]){{{0, 0, 0}, 1}, {{3, 0, 0}, 1}, {{0.5, 0, 0}, 1}}, 3, "two parts");
    refuse_clump((SandShapeSphere[]){{{0, 0, 0}, 1e-200}}, 1, "numbers can hold");
    SandShape shape;
    assert_false(sand_shape_box(&shape, v3_make(1, 0, 1), NULL));
    assert_false(sand_shape_box(&shape, v3_make(1, NAN, 1), NULL));
    assert_false(sand_shape_cylinder(&shape, 1, -1, NULL));
    assert_false(sand_shape_cylinder(&shape, INFINITY, 1, NULL));
}

// Signed distance of a point to a shape, by nearest points sampled on its surface.
static double sampled_distance(const SandShape *shape, double scale, SandVec3 p) {
    enum { N = 120 };
    SandVec3 h = v3_scale(scale, shape->half);
    double best = INFINITY;
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++) {
            double u = 2.0 * i / N - 1, v = 2.0 * j / N - 1;
            SandVec3 q[6];
            int n = 0;
            if (shape->kind == SAND_BOX)
                for (int s = -1; s <= 1; s += 2) {
                    q[n++] = v3_make(s * h.x, u * h.y, v * h.z);
                    q[n++] = v3_make(u * h.x, s * h.y, v * h.z);
                    q[n++] = v3_make(u * h.x, v * h.y, s * h.z);
                }
            else
                for (int s = -1; s <= 1; s++) {
                    double r = s ? h.x * 0.5 * (1 + v) : h.x; // caps and side
                    q[n++] = v3_make(r * cos(PI * u), r * sin(PI * u), s ? s * h.z : v * h.z);
                }
            for (int k = 0; k < n; k++) best = fmin(best, v3_length(v3_sub(p, q[k])));
        }
    bool in = shape->kind == SAND_BOX ? fabs(p.x) < h.x && fabs(p.y) < h.y && fabs(p.z) < h.z
                                      : hypot(p.x, p.y) < h.x && fabs(p.z) < h.z;
    return in ? -best : best;
}

static void distances_to_box_and_cylinder_are_true(void **state) {
    (void)state;
    SandShape shapes[2];
    assert_true(sand_shape_box(&shapes[0], v3_make(0.5, 0.8, 0.3), NULL));
    assert_true(sand_shape_cylinder(&shapes[1], 0.6, 1.4, NULL));
    double scale = 1.5;
    uint32_t most[2] = {26, 4}, seen[2] = {0, 0};
    for (int s = 0; s < 2; s++)
        for (int trial = 0; trial < 2000; trial++) {
            SandVec3 p = random_point(1.6), n, m;
            uint32_t feature, other;
            double d = sand_shape_distance(&shapes[s], scale, p, &n, &feature);
            // A sample is at most 0.04 away along the surface (side of 1.2 m, 120 cells; rim 5.7 m, 120 cells), so
            // the nearest one is further by at most that.
            double sampled = trial < 300 ? sampled_distance(&shapes[s], scale, p) : d;
            assert_true(fabs(sampled) >= fabs(d) - 1e-12 && fabs(sampled) <= fabs(d) + 0.04 && (sampled < 0) == (d < 0));
            NEAR(v3_length(n), 1, 1e-14);
            // Going back along the normal lands on the surface, and going out from there returns the normal.
            SandVec3 q = v3_madd(p, -d, n);
            NEAR(sand_shape_distance(&shapes[s], scale, q, &m, &other), 0, 1e-14);
            NEAR(sand_shape_distance(&shapes[s], scale, v3_madd(q, 0.1, n), &m, &other), 0.1, 1e-13);
            NEAR(v3_dot(m, n), 1, 1e-12);
            assert_true(feature <= most[s]);
            seen[s] |= 1u << feature;
        }
    assert_int_equal(seen[1], 31);                             // all five features of the cylinder occurred
    assert_int_equal(seen[0], ((1u << 27) - 1) & ~(1u << 13)); // and all of the box but its inside
    SandVec3 n;
    uint32_t feature;
    for (int s = 0; s < 2; s++) { // the center has a normal too
        assert_true(sand_shape_distance(&shapes[s], scale, v3_make(0, 0, 0), &n, &feature) < 0);
        NEAR(v3_length(n), 1, 0);
        sand_shape_free(&shapes[s]);
    }
}

static void simple_shapes_have_the_textbook_inertia(void **state) {
    (void)state;
    SandShape s;
    assert_true(sand_shape_box(&s, v3_make(1, 2, 3), NULL));
    NEAR(s.volume, 48, 1e-12);
    NEAR(s.inertia.x, 48.0 / 12 * (16 + 36), 1e-10);
    sand_shape_free(&s);
    assert_true(sand_shape_cylinder(&s, 2, 3, NULL));
    NEAR(s.volume, 12 * PI, 1e-12);
    NEAR(s.inertia.z, 24 * PI, 1e-10);
    NEAR(s.inertia.x, 12 * PI * (3 * 4 + 9) / 12, 1e-10);
    sand_shape_free(&s);
    assert_true(sand_shape_sphere(&s, NULL));
    NEAR(s.volume, 4 * PI / 3, 1e-14);
    NEAR(s.inertia.y, 8 * PI / 15, 1e-14);
    sand_shape_free(&s);
}

// Rows are in the order in which instances lie, names differ, and those with sizes are made from them.
static void the_table_of_shapes_is_in_order(void **state) {
    (void)state;
    for (int k = 0; k < SAND_SHAPE_KINDS; k++)
        for (int j = 0; j < k; j++) {
            assert_true(sand_shape_drawn((SandShapeKind)j) <= sand_shape_drawn((SandShapeKind)k));
            assert_string_not_equal(sand_shape_kind_name((SandShapeKind)j), sand_shape_kind_name((SandShapeKind)k));
        }
    assert_int_equal(sand_shape_drawn((SandShapeKind)SAND_FIRST_PART), SAND_DRAWN_PART);
    assert_int_equal(sand_shape_drawn((SandShapeKind)SAND_FIRST_STONE), SAND_DRAWN_STONE);
}

static void shapes_are_made_from_their_sizes(void **state) {
    (void)state;
    const SandShapeSizes sizes = {.radius = 0.5, .height = 2, .length = 3, .size = {1, 2, 3}};
    SandShape s;
    SandError error;
#define MAKE(KIND, name, ...) \
    assert_true(sand_shape_make(&s, SAND_##KIND, &sizes, &error)); \
    assert_true(s.kind == SAND_##KIND && s.volume > 0 && s.bound > 0 && s.half.x > 0 && s.sphere_count == 0); \
    sand_shape_free(&s);
    SAND_SIZED_SHAPES(MAKE)
#undef MAKE
    assert_true(sand_shape_make(&s, SAND_CYLINDER, &sizes, &error));
    NEAR(s.volume, 0.25 * PI * 2, 1e-15);
    assert_false(sand_shape_make(&s, SAND_HULL, &sizes, &error));
    assert_non_null(strstr(error.text, "a hull is not made from sizes"));
    assert_false(sand_shape_make(&s, (SandShapeKind)-1, &sizes, &error) ||
                 sand_shape_make(&s, SAND_SHAPE_KINDS, &sizes, &error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_equal_balls_have_the_volume_of_the_formula),
        cmocka_unit_test(two_balls_in_any_direction_have_the_inertia_of_discs),
        cmocka_unit_test(a_rock_agrees_with_a_count_of_voxels),
        cmocka_unit_test(the_input_frame_leads_to_the_principal_frame),
        cmocka_unit_test(hidden_and_double_balls_change_nothing),
        cmocka_unit_test(large_clumps_are_built),
        cmocka_unit_test(bad_shapes_are_refused),
        cmocka_unit_test(distances_to_box_and_cylinder_are_true),
        cmocka_unit_test(simple_shapes_have_the_textbook_inertia),
        cmocka_unit_test(the_table_of_shapes_is_in_order),
        cmocka_unit_test(shapes_are_made_from_their_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
