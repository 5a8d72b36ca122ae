// SPDX-License-Identifier: MIT
// Meshes as boundaries, against brute force over all triangles, ray parity, and planes and blocks of the same shape.
#include "sim/geometry/mesh.h"
#include "tests/lab/boundary_lab.h"

#include <unistd.h>

static void a_ball_rolls_over_a_flat_mesh_as_over_a_plane(void **state) {
    (void)state;
    double heights[11 * 9];
    for (int i = 0; i < 11 * 9; i++) heights[i] = 0.25;
    SandBoundary b;
    assert_true(sand_boundary_terrain(&b, heights, 11, 9, v3_make(1, 0.8, 0), NULL));
    for (int i = 0; i < 20000; i++) {
        // Random points, and points exactly above edges, diagonals and vertices (the cells are 0.2 wide).
        double x = uniform(-0.95, 0.95), y = uniform(-0.75, 0.75);
        if (i % 4 == 1) x = -1 + 0.2 * (1 + i / 4 % 9);
        if (i % 4 == 2) y = x;
        if (i % 4 == 3) {
            x = -1 + 0.2 * (1 + i / 4 % 9);
            y = -0.8 + 0.2 * (1 + i / 36 % 7);
        }
        if (fabs(y) > 0.75) continue;
        SandTouch t[CAPACITY];
        for (double radius = 0.01; radius < 1; radius *= 5) {
            if (1 - fabs(x) < radius * 1.1 || 0.8 - fabs(y) < radius * 1.1) continue; // away from the rim
            int n =
                sand_boundary_touch(&b, &AT_ORIGIN, v3_make(x, y, 0.25 + 0.99 * radius), radius, 0.05 * radius, t, CAPACITY);
            if (n != 1) fail_msg("%d touches at (%.17g, %.17g) of a sphere of %g", n, x, y, radius);
            NEAR(v3_length(v3_sub(t[0].normal, v3_make(0, 0, -1))), 0, 1e-9); // the slack at a border is 1e-9
            NEAR(t[0].gap, -0.01 * radius, 1e-13);
        }
        int n = sand_boundary_touch(&b, &AT_ORIGIN, v3_make(x, y, 0.2), 0.1, 0, t, CAPACITY); // below it: pushed back up
        assert_int_equal(n, 1);
        NEAR(t[0].normal.z, -1, 1e-12);
        NEAR(t[0].gap, -0.15, 1e-13);
    }
    sand_boundary_free(&b);
}

// The nearest point of one triangle, by solving for its interior and clamping to its sides; shares no code with the library.
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

// How often the upward ray from p crosses the mesh: odd means inside a closed mesh, or below a terrain.
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
        NEAR(fabs(d), truth, 1e-8); // the slack at a border moves a foot by at most 1e-9 of the range
        // There is no inside behind a rim, so the sign is only checked where the rim is not the nearest.
        if (b->mesh->closed || (fabs(c.x) < 0.85 && fabs(c.y) < 0.85 && truth < 0.1))
            assert_int_equal(d < 0, ray_is_odd(b->mesh, c));
        SandTouch t[CAPACITY];
        int n = sand_boundary_touch(b, &AT_ORIGIN, c, radius, reach, t, CAPACITY);
        double least = INFINITY;
        for (int k = 0; k < n; k++) {
            NEAR(v3_length(t[k].normal), 1, 1e-13);
            NEAR(mesh_truth(b->mesh, v3_madd(c, t[k].gap + radius, t[k].normal)), 0, 1e-8); // each touch ends on the mesh
            if (fabs(t[k].gap + radius) < fabs(least)) least = t[k].gap + radius;
            for (int j = 0; j < k; j++) assert_int_not_equal(t[k].feature, t[j].feature);
        }
        bool expected = d <= radius + reach && d >= -radius;
        if (fabs(d - radius - reach) > 1e-8 && fabs(d + radius) > 1e-8) assert_int_equal(n > 0, expected);
        if (n > 0) {
            NEAR(least, d, 1e-8);
            touched++;
        }
    }
    assert_true(touched > trials / 50); // enough spheres touched the surface to be a test
}

static void a_rough_terrain_agrees_with_all_its_triangles(void **state) {
    (void)state;
    SandBoundary b = bumpy_terrain(9, 8, 0.1);
    compare_mesh(&b, 1.2, 4000, 0.1, 0.02);
    compare_mesh(&b, 1.2, 1000, 0.4, 0.1);
    sand_boundary_free(&b);
}

static const char *write_file(const char *text) {
    static char path[32];
    strcpy(path, "/tmp/sand_test_XXXXXX"); // mkstemp replaces the X
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
    assert_int_equal(cube.mesh->face_count, 12);
    assert_int_equal(cube.mesh->edge_count, 18);
    for (int i = 0; i < 3000; i++) {
        SandVec3 c = random_point(1.4);
        SandTouch a[CAPACITY], b[CAPACITY];
        NEAR(sand_boundary_distance(&cube, &AT_ORIGIN, c), sand_boundary_distance(&block, &AT_ORIGIN, c), 1e-8);
        int n = sand_boundary_touch(&cube, &AT_ORIGIN, c, 0.2, 0.05, a, CAPACITY);
        int m = sand_boundary_touch(&block, &AT_ORIGIN, c, 0.2, 0.05, b, CAPACITY);
        if (b[0].gap < -0.4) continue; // so deep a mesh reports no touch
        assert_int_equal(n, m);
        if (n) {
            NEAR(a[0].gap, b[0].gap, 1e-12);
            NEAR(v3_dot(a[0].normal, b[0].normal), 1, 1e-12);
        }
    }
    compare_mesh(&cube, 1.3, 2000, 0.2, 0.05);
    sand_boundary_free(&cube);
    sand_boundary_free(&block);
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
    refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.5 0.5 0\nf 1 2 3\nf 2 1 4\n", "lies on its neighbor", 6);
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
        cmocka_unit_test(a_ball_rolls_over_a_flat_mesh_as_over_a_plane),
        cmocka_unit_test(a_rough_terrain_agrees_with_all_its_triangles),
        cmocka_unit_test(a_cube_is_a_block),
        cmocka_unit_test(faces_may_be_written_in_every_way),
        cmocka_unit_test(bad_meshes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
