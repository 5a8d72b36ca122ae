// SPDX-License-Identifier: MIT
// Convex shapes: hulls have the faces they should, mass properties agree with closed forms, and what is no hull is refused.
#include "sim/geometry/hull.h"
#include "tests/lab/lab.h"

#include <unistd.h>

static SandRandom dice;
static double uniform(double a, double b) { return a + (b - a) * sand_random_unit(&dice); }
static SandVec3 random_point(double r) { return v3_make(uniform(-r, r), uniform(-r, r), uniform(-r, r)); }

// Every corner lies on or below every face, a face's own corners on it, and Euler's formula holds.
static void assert_convex(const SandPolytope *p, double size) {
    assert_int_equal(p->corner_count - p->edge_count + p->face_count, 2);
    for (int f = 0; f < p->face_count; f++) {
        const SandFace *face = &p->faces[f];
        NEAR(v3_length(face->normal), 1, 1e-14);
        for (int k = 0; k < p->corner_count; k++)
            assert_true(v3_dot(face->normal, p->corners[k]) - face->offset <= 1e-8 * size);
        for (int k = 0; k < face->count; k++)
            NEAR(v3_dot(face->normal, p->corners[p->loop[face->first + k]]), face->offset, 1e-8 * size);
    }
    for (int e = 0; e < p->edge_count; e++) // the faces of an edge meet at an angle
        assert_true(p->edges[e].left != p->edges[e].right);
}

static void sort3(double v[3]) {
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            if (v[k] > v[k + 1]) {
                double t = v[k];
                v[k] = v[k + 1];
                v[k + 1] = t;
            }
}

// Rotates and moves points, so that no axis is special.
static void place(SandVec3 *points, int count) {
    SandPose pose = {random_point(3), sand_random_rotation(&dice)};
    for (int i = 0; i < count; i++) points[i] = pose_apply(pose, points[i]);
}

static void boxes_with_points_inside_have_six_faces(void **state) {
    (void)state;
    for (int trial = 0; trial < 200; trial++) {
        SandVec3 half = v3_make(uniform(0.2, 2), uniform(0.2, 2), uniform(0.2, 2)), points[60];
        for (int k = 0; k < 60; k++) { // corners, then points inside, on faces and on edges
            double s[3];
            for (int a = 0; a < 3; a++) s[a] = k < 8 ? (k >> a & 1 ? 1 : -1) : uniform(-1, 1);
            if (k >= 20) s[k % 3] = k & 1 ? 1 : -1;
            if (k >= 40) s[(k + 1) % 3] = k & 2 ? 1 : -1;
            points[k] = v3_make(s[0] * half.x, s[1] * half.y, s[2] * half.z);
        }
        place(points, 60);
        SandShape shape, box;
        assert_true(sand_shape_hull(&shape, points, 60, NULL) && sand_shape_box(&box, half, NULL));
        assert_int_equal(shape.core->corner_count, 8);
        assert_int_equal(shape.core->face_count, 6);
        assert_int_equal(shape.core->edge_count, 12);
        assert_convex(shape.core, shape.bound);
        NEAR(shape.volume, box.volume, 1e-10 * box.volume);
        NEAR(shape.bound, box.bound, 1e-8);
        double got[3] = {shape.inertia.x, shape.inertia.y, shape.inertia.z},
               want[3] = {box.inertia.x, box.inertia.y, box.inertia.z};
        sort3(got);
        sort3(want);
        for (int k = 0; k < 3; k++) NEAR(got[k], want[k], 1e-9 * want[k]);
        sand_shape_free(&shape);
        sand_shape_free(&box);
    }
}

static void a_regular_tetrahedron_has_its_closed_form(void **state) {
    (void)state;
    SandVec3 points[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    place(points, 4);
    SandShape shape;
    assert_true(sand_shape_hull(&shape, points, 4, NULL));
    double edge = sqrt(8.), volume = edge * edge * edge / (6 * sqrt(2.)), moment = volume * edge * edge / 20;
    NEAR(shape.volume, volume, 1e-13);
    NEAR(shape.inertia.x, moment, 1e-13);
    NEAR(shape.inertia.y, moment, 1e-13);
    NEAR(shape.inertia.z, moment, 1e-13);
    SandVec3 center = v3_scale(0.25, v3_add(v3_add(points[0], points[1]), v3_add(points[2], points[3])));
    NEAR(v3_length(v3_add(q_rotate(shape.from_input.rotation, center), shape.from_input.position)), 0, 1e-13);
    sand_shape_free(&shape);
}

// The frame is principal: products of inertia vanish, and the center of mass is the origin.
static void stones_are_convex_and_in_their_principal_frame(void **state) {
    (void)state;
    int corners = 0, stones = 2000;
    for (int i = 0; i < stones; i++) {
        SandStoneDef def = sand_default_stone();
        SandShape shape;
        SandError error = {""};
        def.seed = (uint64_t)i + 1;
        def.points = 8 + i % 25;
        def.cuts = i % 9;
        def.elongation = 0.3 + 0.07 * (i % 11);
        def.flatness = 0.3 + 0.1 * (i % 8);
        if (!sand_shape_stone(&shape, &def, &error)) fail_msg("stone %d: %s", i, error.text);
        SandMoments m = sand_polytope_moments(shape.core);
        corners += shape.core->corner_count;
        assert_convex(shape.core, shape.bound);
        NEAR(shape.volume, 4 * PI / 3, 1e-12);
        NEAR(fabs(m.x) + fabs(m.y) + fabs(m.z), 0, 1e-12);
        NEAR(fabs(m.xy) + fabs(m.xz) + fabs(m.yz), 0, 1e-10);
        NEAR(m.yy + m.zz, shape.inertia.x, 1e-10);
        sand_shape_free(&shape);
    }
    print_message("%d stones, %.1f corners on average\n", stones, (double)corners / stones);
}

static void a_seed_gives_the_same_stone(void **state) {
    (void)state;
    SandStoneDef def = sand_default_stone();
    SandShape a, b, c;
    def.seed = 7;
    assert_true(sand_shape_stone(&a, &def, NULL) && sand_shape_stone(&b, &def, NULL));
    def.seed = 8;
    assert_true(sand_shape_stone(&c, &def, NULL));
    assert_memory_equal(a.core, b.core, sizeof *a.core);
    assert_true(memcmp(a.core, c.core, sizeof *a.core) != 0);
    sand_shape_free(&a);
    sand_shape_free(&b);
    sand_shape_free(&c);
}

// Sums discs along the axis.
static void a_capsule_has_the_inertia_of_its_discs(void **state) {
    (void)state;
    double radius = 0.4, length = 1.3, volume = 0, along = 0, across = 0;
    enum { N = 200000 };
    double high = 0.5 * length + radius, w = 2 * high / N;
    for (int i = 0; i < N; i++) {
        double z = -high + (i + 0.5) * w, beyond = fmax(fabs(z) - 0.5 * length, 0), rr = radius * radius - beyond * beyond;
        volume += PI * rr * w;
        along += PI * rr * rr / 2 * w;
        across += PI * rr * (rr / 4 + z * z) * w;
    }
    SandShape shape;
    assert_true(sand_shape_capsule(&shape, radius, length, NULL));
    NEAR(shape.volume, volume, 1e-9);
    NEAR(shape.inertia.x, across, 1e-9);
    NEAR(shape.inertia.z, along, 1e-9);
    sand_shape_free(&shape);
}

static void expect_refusal(bool made, const SandError *error, const char *words) {
    assert_false(made);
    if (!strstr(error->text, words)) fail_msg("got \"%s\", wanted words \"%s\"", error->text, words);
}

static void what_is_no_hull_is_refused(void **state) {
    (void)state;
    SandShape shape;
    SandError error;
    SandVec3 flat[50], ball[400];
    for (int i = 0; i < 50; i++) flat[i] = v3_make(uniform(-1, 1), uniform(-1, 1), 0);
    place(flat, 50);
    expect_refusal(sand_shape_hull(&shape, flat, 50, &error), &error, "lie in one plane");
    expect_refusal(sand_shape_hull(&shape, flat, 3, &error), &error, "at least four points");
    for (int i = 0; i < 400; i++) ball[i] = v3_unit_or(random_point(1), v3_make(1, 0, 0));
    expect_refusal(sand_shape_hull(&shape, ball, 400, &error), &error, "at most 64");
    ball[3].x = NAN;
    expect_refusal(sand_shape_hull(&shape, ball, 5, &error), &error, "not finite");
    expect_refusal(sand_shape_capsule(&shape, 0, 1, &error), &error, "above 0");
    SandStoneDef def = sand_default_stone();
    def.points = 3;
    expect_refusal(sand_shape_stone(&shape, &def, &error), &error, "4 to 32");
}

static void write_obj(const char *path, bool open) {
    FILE *file = fopen(path, "w");
    fprintf(file, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n");
    if (!open) fprintf(file, "f 3 1 4\n");
    fclose(file);
}

static void a_closed_mesh_becomes_a_hull_and_an_open_one_does_not(void **state) {
    (void)state;
    char path[] = "/tmp/sand-hull-XXXXXX";
    int file = mkstemp(path);
    SandShape shape;
    SandError error;
    close(file);
    write_obj(path, false);
    assert_true(sand_shape_hull_file(&shape, path, &error));
    NEAR(shape.volume, 1. / 6, 1e-15);
    sand_shape_free(&shape);
    write_obj(path, true);
    expect_refusal(sand_shape_hull_file(&shape, path, &error), &error, "the mesh is open");
    unlink(path);
}

// Every kind of shape arrives in the world, and a variety of stones is as many shapes.
static void shapes_arrive_from_a_scene_file(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    SandSceneOptions options = {.bodies = 40};
    if (!sand_scene_load(&scene, SAND_SOURCE_DIR "/tests/lab/stones.yaml", &options, &error)) fail_msg("%s", error.text);
    const SandWorld *w = &scene.world;
    assert_int_equal(w->shape_count, 1 + 6 + 4);
    SandShapeKind kinds[] = {SAND_HULL, SAND_BOX, SAND_CAPSULE, SAND_HULL, SAND_CYLINDER};
    for (int k = 0; k < 5; k++) assert_int_equal(w->shapes[6 + k].kind, kinds[k]);
    assert_true(fabs(w->shapes[7].half.x - 1) < 1e-15 && fabs(w->shapes[8].rounding - 0.5) < 1e-15);
    assert_int_equal(w->shapes[9].core->face_count, 5);
    assert_memory_not_equal(w->shapes[1].core, w->shapes[2].core, sizeof(SandPolytope));
    assert_int_equal(w->body_count, 70);
    sand_scene_free(&scene);
}

static void bad_shapes_of_a_scene_get_one_line(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"box: {radius: 1, size: [1, 1, 1]}", "t.yaml:3: radius: a box has no such key"},
        {"cylinder: {radius: 1}", "t.yaml:3: height: missing: a cylinder needs it"},
        {"capsule: {radius: 1, length: -1}", "t.yaml:3: length: expected a number from"},
        {"stone: {points: 99}", "t.yaml:3: stone: a stone has 99 points; 4 to 32 are possible"},
        {"hull: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}", "t.yaml:3: hull: the 4 points lie in one plane"},
        {"hull: {file: nowhere.obj}", "t.yaml:3: hull: "},
        {"hull: {}", "t.yaml:3: hull: expected `points` or `file`"},
        {"box: {size: [1, 1, 1]}, stone: {}",
         "t.yaml:3: name: expected one of spheres, box, cylinder, capsule, hull, stone and compound"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char text[300];
        SandScene scene;
        SandError error = {""};
        int size = snprintf(text, sizeof text, "name: t\nshapes:\n  - {name: a, %s}\n", bad[k][0]);
        expect_refusal(sand_scene_load_text(&scene, text, (size_t)size, "t.yaml", NULL, &error), &error, bad[k][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_with_points_inside_have_six_faces),
        cmocka_unit_test(a_regular_tetrahedron_has_its_closed_form),
        cmocka_unit_test(stones_are_convex_and_in_their_principal_frame),
        cmocka_unit_test(a_seed_gives_the_same_stone),
        cmocka_unit_test(a_capsule_has_the_inertia_of_its_discs),
        cmocka_unit_test(what_is_no_hull_is_refused),
        cmocka_unit_test(a_closed_mesh_becomes_a_hull_and_an_open_one_does_not),
        cmocka_unit_test(shapes_arrive_from_a_scene_file),
        cmocka_unit_test(bad_shapes_of_a_scene_get_one_line),
    };
    dice = sand_random(11);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
