// SPDX-License-Identifier: MIT
// Meshes from files: one solid written in every format is the same mesh; the solid that a mesh encloses against closed
// forms; hulls of few corners against brute force; and files that are wrong, by hand and by chance.
#include "sim/core/random.h"
#include "sim/geometry/mesh.h"
#include "tests/lab/lab.h"

#include <unistd.h>

// --- files ------------------------------------------------------------------------------------------------

enum { MOST_BYTES = 1 << 16 };

typedef struct Bytes {
    size_t size;
    char data[MOST_BYTES];
} Bytes;

static void put(Bytes *b, const void *data, size_t size) {
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

__attribute__((format(printf, 2, 3))) static void put_text(Bytes *b, const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(b, text, strlen(text));
}

// The bytes of a number, the highest first where `big`.
static void put_number(Bytes *b, const void *number, size_t size, bool big) {
    const char *from = number;
    for (size_t k = 0; k < size; k++) put(b, from + (big ? size - 1 - k : k), 1);
}

static bool read_bytes(SandMeshData *mesh, const Bytes *b, const char *ending, SandError *error) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/sand_mesh_%ld%s", (long)getpid(), ending);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b->data, 1, b->size, file), b->size);
    fclose(file);
    bool good = sand_mesh_data_read(mesh, path, error);
    unlink(path);
    return good;
}

// --- one solid in every format ----------------------------------------------------------------------------

// A wedge: five faces, of which three are quadrangles.
static const SandVec3 wedge[6] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}, {0, 0, 1.5}, {0, 1, 1.5}};
static const int wedge_faces[5][5] = {
    {4, 0, 3, 2, 1}, {4, 0, 4, 5, 3}, {4, 1, 2, 5, 4}, {3, 0, 1, 4, 0}, {3, 2, 3, 5, 0}}; // count, corners

static void write_obj(Bytes *b) {
    for (int k = 0; k < 6; k++) put_text(b, "v %g %g %g\n", wedge[k].x, wedge[k].y, wedge[k].z);
    for (int f = 0; f < 5; f++) {
        put_text(b, "f");
        for (int k = 1; k <= wedge_faces[f][0]; k++) put_text(b, " %d", wedge_faces[f][k] + 1);
        put_text(b, "\n");
    }
}

static void write_text_stl(Bytes *b) {
    put_text(b, "solid wedge\n");
    for (int f = 0; f < 5; f++)
        for (int k = 2; k < wedge_faces[f][0]; k++) {
            put_text(b, "  facet normal 0 0 0\n    outer loop\n");
            for (int i = 0; i < 3; i++) {
                SandVec3 v = wedge[wedge_faces[f][i ? k + i - 1 : 1]];
                put_text(b, "      vertex %e %e %e\n", v.x, v.y, v.z);
            }
            put_text(b, "    endloop\n  endfacet\n");
        }
    put_text(b, "endsolid wedge\n");
}

// With a header that begins as a text file does, as many have.
static void write_binary_stl(Bytes *b) {
    char header[80] = "solid but binary";
    uint32_t count = 8;
    uint16_t color = 0x1234;
    float zero = 0;
    put(b, header, sizeof header);
    put_number(b, &count, 4, false);
    for (int f = 0; f < 5; f++)
        for (int k = 2; k < wedge_faces[f][0]; k++) {
            for (int i = 0; i < 3; i++) put_number(b, &zero, 4, false);
            for (int i = 0; i < 3; i++) {
                SandVec3 v = wedge[wedge_faces[f][i ? k + i - 1 : 1]];
                float place[3] = {(float)v.x, (float)v.y, (float)v.z};
                for (int a = 0; a < 3; a++) put_number(b, &place[a], 4, false);
            }
            put_number(b, &color, 2, false);
        }
}

// With a property and an element that are passed over.
static void write_ply(Bytes *b, const char *format) {
    bool text = !strcmp(format, "ascii"), big = !strcmp(format, "binary_big_endian");
    put_text(b, "ply\nformat %s 1.0\ncomment a wedge\nelement vertex 6\nproperty double x\nproperty float y\n", format);
    put_text(b, "property uchar quality\nproperty float z\nelement edge 1\nproperty list uchar short ends\n");
    put_text(b, "element face 5\nproperty list uchar int vertex_indices\nend_header\n");
    for (int k = 0; k < 6; k++) {
        float y = (float)wedge[k].y, z = (float)wedge[k].z;
        if (text) put_text(b, "%g %g %d %g\n", wedge[k].x, y, 7, z);
        if (text) continue;
        put_number(b, &wedge[k].x, 8, big);
        put_number(b, &y, 4, big);
        put(b, "\7", 1);
        put_number(b, &z, 4, big);
    }
    int16_t ends[2] = {-1, 300};
    if (text) put_text(b, "2 -1\n300\n");
    if (!text) put(b, "\2", 1);
    for (int k = 0; !text && k < 2; k++) put_number(b, &ends[k], 2, big);
    for (int f = 0; f < 5; f++)
        for (int k = 0; k <= wedge_faces[f][0]; k++) {
            char count = (char)wedge_faces[f][0];
            if (text) put_text(b, k < wedge_faces[f][0] ? "%d " : "%d\n", wedge_faces[f][k]);
            if (!text && k == 0) put(b, &count, 1);
            if (!text && k > 0) put_number(b, &wedge_faces[f][k], 4, big);
        }
}

// The numbers of a glTF file: indices of the wedge, then its places, of which the first stands there twice, with y up, half
// as large and 1 m too far along x.
static void put_gltf_numbers(Bytes *b) {
    for (int f = 0; f < 5; f++)
        for (int k = 2; k < wedge_faces[f][0]; k++)
            for (int i = 0; i < 3; i++) {
                uint16_t index = (uint16_t)wedge_faces[f][i ? k + i - 1 : 1];
                put_number(b, &index, 2, false);
            }
    for (int k = 0; k < 7; k++) {
        SandVec3 v = wedge[k % 6];
        float place[3] = {(float)(0.5 * v.x + 1), (float)(0.5 * v.z), (float)(-0.5 * v.y)};
        for (int a = 0; a < 3; a++) put_number(b, &place[a], 4, false);
    }
}

// Two nodes within each other move and scale it back. `uri` may be empty.
static void put_gltf_text(Bytes *b, const char *uri) {
    put_text(b, "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [1]}],\n\"nodes\": [");
    put_text(b, "{\"mesh\": 0, \"translation\": [-1, 0, 0]}, {\"children\": [0], \"scale\": [2, 2, 2]}],\n");
    put_text(b, "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 1}, \"indices\": 0}]}],\n\"accessors\": [");
    put_text(b, "{\"bufferView\": 0, \"componentType\": 5123, \"count\": 24, \"type\": \"SCALAR\"},\n");
    put_text(b, "{\"bufferView\": 1, \"componentType\": 5126, \"count\": 7, \"type\": \"VEC3\"}],\n\"bufferViews\": [");
    put_text(b, "{\"buffer\": 0, \"byteLength\": 48}, {\"buffer\": 0, \"byteOffset\": 48, \"byteLength\": 84}],\n");
    put_text(b, "\"buffers\": [{%s\"byteLength\": 132}]}", uri);
}

static void write_gltf(Bytes *b) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static Bytes numbers, uri;
    numbers.size = uri.size = 0;
    put_gltf_numbers(&numbers);
    put_text(&uri, "\"uri\": \"data:application/octet-stream;base64,");
    for (size_t k = 0; k < numbers.size; k += 3) {
        const unsigned char *at = (const unsigned char *)numbers.data + k; // 132 is a multiple of 3
        uint32_t bits = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
        for (int shift = 18; shift >= 0; shift -= 6) put(&uri, &digits[bits >> shift & 63], 1);
    }
    put(&uri, "\", ", 4);
    uri.data[uri.size - 1] = 0;
    put_gltf_text(b, uri.data);
}

static void write_glb(Bytes *b) {
    static Bytes text;
    text.size = 0;
    put_gltf_text(&text, "");
    while (text.size % 4) put(&text, " ", 1);
    uint32_t head[5] = {0x46546c67, 2, (uint32_t)(12 + 8 + text.size + 8 + 132), (uint32_t)text.size, 0x4e4f534a};
    uint32_t part[2] = {132, 0x004e4942};
    for (int k = 0; k < 5; k++) put_number(b, &head[k], 4, false);
    put(b, text.data, text.size);
    for (int k = 0; k < 2; k++) put_number(b, &part[k], 4, false);
    put_gltf_numbers(b);
}

enum { OBJ, TEXT_STL, BINARY_STL, TEXT_PLY, LITTLE_PLY, BIG_PLY, GLTF, GLB, FORMATS };
static const char *const endings[FORMATS] = {".obj", ".stl", ".STL", ".ply", ".ply", ".Ply", ".gltf", ".glb"};

static void write_wedge(Bytes *b, int format) {
    b->size = 0;
    switch (format) {
    case OBJ: write_obj(b); break;
    case TEXT_STL: write_text_stl(b); break;
    case BINARY_STL: write_binary_stl(b); break;
    case TEXT_PLY: write_ply(b, "ascii"); break;
    case LITTLE_PLY: write_ply(b, "binary_little_endian"); break;
    case GLTF: write_gltf(b); break;
    case GLB: write_glb(b); break;
    default: write_ply(b, "binary_big_endian");
    }
}

static void every_format_has_the_same_mesh(void **state) {
    (void)state;
    static Bytes b;
    for (int format = 0; format < FORMATS; format++) {
        SandMeshData mesh;
        SandSolid solid;
        SandError error = {""};
        write_wedge(&b, format);
        if (!read_bytes(&mesh, &b, endings[format], &error)) fail_msg("format %d: %s", format, error.text);
        assert_int_equal(mesh.vertex_count, 6);
        assert_int_equal(mesh.face_count, 8);
        if (!sand_solid_of_mesh(&solid, &mesh, &error)) fail_msg("format %d: %s", format, error.text);
        // A right triangle of 2 by 1.5, 1 thick.
        NEAR(solid.volume, 1.5, 1e-14);
        NEAR(v3_length(v3_sub(solid.center, v3_make(2 / 3., 0.5, 0.5))), 0, 1e-14);
        double xx = 1.5 * 4 / 18, yy = 1.5 / 12, zz = 1.5 * 2.25 / 18, xz = -1.5 * 3 / 36;
        NEAR(v3_length(v3_sub(solid.moments, v3_make(yy + zz, xx + zz, xx + yy))), 0, 1e-14);
        NEAR(v3_length(v3_sub(solid.products, v3_make(0, -xz, 0))), 0, 1e-14);
        sand_mesh_data_free(&mesh);
    }
}

// --- solids -----------------------------------------------------------------------------------------------

// A ring of `sides` by `sides` quadrangles: volume 2 pi^2 R r^2, and moments known, up to its facets.
static void a_torus_has_its_moments(void **state) {
    (void)state;
    enum { SIDES = 160 };
    double big = 2, small = 0.5;
    SandVec3 *vertices = calloc(SIDES * SIDES, sizeof *vertices);
    int(*faces)[3] = calloc(2 * SIDES * SIDES, sizeof *faces), count = 0;
    for (int i = 0; i < SIDES; i++)
        for (int k = 0; k < SIDES; k++) {
            double u = 2 * PI * i / SIDES, v = 2 * PI * k / SIDES, r = big + small * cos(v);
            vertices[i * SIDES + k] = v3_make(3 + r * cos(u), r * sin(u), small * sin(v));
            int a = i * SIDES + k, b = (i + 1) % SIDES * SIDES + k, c = (i + 1) % SIDES * SIDES + (k + 1) % SIDES,
                d = i * SIDES + (k + 1) % SIDES;
            int two[2][3] = {{a, b, c}, {a, c, d}};
            memcpy(faces[count], two, sizeof two);
            count += 2;
        }
    SandMeshData mesh = {SIDES * SIDES, count, vertices, faces, NULL};
    SandSolid solid;
    SandError error = {""};
    if (!sand_solid_of_mesh(&solid, &mesh, &error)) fail_msg("%s", error.text);
    double volume = 2 * PI * PI * big * small * small, rr = small * small, facets = 2e-3;
    NEAR(solid.volume / volume, 1, facets);
    NEAR(v3_length(v3_sub(solid.center, v3_make(3, 0, 0))), 0, 1e-12);
    NEAR(solid.moments.z / (volume * (big * big + 0.75 * rr)), 1, 2 * facets);
    NEAR(solid.moments.x / (volume * (0.5 * big * big + 0.625 * rr)), 1, 2 * facets);
    for (int f = 0; f < count; f++) { // inside out
        int swap = faces[f][0];
        faces[f][0] = faces[f][1];
        faces[f][1] = swap;
    }
    assert_false(sand_solid_of_mesh(&solid, &mesh, &error));
    assert_non_null(strstr(error.text, "inside out"));
    mesh.face_count--;
    assert_false(sand_solid_of_mesh(&solid, &mesh, &error));
    assert_non_null(strstr(error.text, "open"));
    free(vertices);
    free(faces);
}

// --- hulls of few corners ---------------------------------------------------------------------------------

static SandVec3 on_sphere(SandRandom *random) {
    for (;;) {
        SandVec3 v = {sand_random_signed(random), sand_random_signed(random), sand_random_signed(random)};
        double l = v3_length(v);
        if (l > 0.1 && l <= 1) return v3_scale(1 / l, v);
    }
}

// How far a point of the frame of the input is above the planes of a hull, at most.
static double above(const SandShape *hull, SandVec3 point) {
    SandVec3 p = pose_apply(hull->from_input, point);
    double most = -INFINITY;
    for (int f = 0; f < hull->core->face_count; f++)
        most = fmax(most, v3_dot(hull->core->faces[f].normal, p) - hull->core->faces[f].offset);
    return most;
}

static void a_hull_of_few_corners_is_near(void **state) {
    (void)state;
    enum { POINTS = 3000 };
    static SandVec3 points[POINTS];
    SandRandom random = sand_random(7);
    SandError error = {""};
    SandShape hull;
    for (int k = 0; k < POINTS; k++) points[k] = v3_add(on_sphere(&random), v3_make(100, 0, 0));
    assert_false(sand_shape_hull(&hull, points, POINTS, &error));
    assert_non_null(strstr(error.text, "at most 64"));
    double before = INFINITY, volume = 0;
    for (int most = 8; most <= SAND_MAX_CORNERS; most *= 2) {
        double beyond = -1, highest = -INFINITY;
        if (!sand_shape_hull_within(&hull, points, POINTS, most, &beyond, &error)) fail_msg("%s", error.text);
        for (int k = 0; k < POINTS; k++) highest = fmax(highest, above(&hull, points[k]));
        print_message("a sphere as a hull of %d corners: %.3f of its volume, a point is %.3f of the radius outside\n",
                      hull.core->corner_count, hull.volume / (4 * PI / 3), beyond);
        assert_int_equal(hull.core->corner_count, most);
        assert_true(beyond >= highest - 1e-12 && beyond < before && hull.volume > volume);
        before = beyond;
        volume = hull.volume;
        sand_shape_free(&hull);
    }
    assert_true(before < 0.1); // 64 caps of a sphere are as wide as 4 pi / 64 each, and 0.06 high
}

static void a_whole_hull_leaves_nothing_outside(void **state) {
    (void)state;
    SandVec3 points[40];
    SandRandom random = sand_random(9);
    SandShape whole, within;
    double beyond = -1;
    for (int k = 0; k < 40; k++) points[k] = v3_scale(k % 2 ? 1 : 0.4, on_sphere(&random));
    assert_true(sand_shape_hull(&whole, points, 40, NULL));
    assert_true(sand_shape_hull_within(&within, points, 40, SAND_MAX_CORNERS, &beyond, NULL));
    NEAR(beyond, 0, 0);
    assert_memory_equal(whole.core, within.core, sizeof *whole.core);
    sand_shape_free(&within);
    assert_false(sand_shape_hull_within(&within, points, 40, 3, NULL, NULL));
    assert_false(sand_shape_hull_within(&within, points, 40, 65, NULL, NULL));
    sand_shape_free(&whole);
}

// --- what is wrong ----------------------------------------------------------------------------------------

static void refuse(const char *text, const char *ending, const char *words) {
    static Bytes b;
    SandMeshData mesh;
    SandError error = {""};
    b.size = 0;
    put_text(&b, "%s", text);
    if (read_bytes(&mesh, &b, ending, &error)) fail_msg("accepted, though it should speak of '%s'", words);
    if (!strstr(error.text, words)) fail_msg("'%s' does not speak of '%s'", error.text, words);
}

static void mistakes_are_named(void **state) {
    (void)state;
    SandMeshData mesh;
    SandError error;
    assert_false(sand_mesh_data_read(&mesh, "/nonexistent/file.stl", &error));
    assert_non_null(strstr(error.text, "/nonexistent/file.stl"));
    refuse("not a mesh", ".stl", "10 bytes are no binary STL");
    refuse("solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0\n", ".stl", ":4: a vertex needs three numbers");
    refuse("solid\nouter loop\nvertex 0 0 0\nendloop\n", ".stl", ":4: the loop has not three");
    refuse("solid\nvertex 0 0 0\n", ".stl", ":2: a vertex stands in a loop");
    refuse("solid\nouter loop\nvertex 0 0 0\n", ".stl", "ends within a triangle");
    refuse("solid\nfacets\n", ".stl", ":2: expected facet");
    refuse("solid\nouter loop\nvertex 0 0 nan\nvertex 0 0 1\nvertex 0 1 0\nendloop\n", ".stl", "not finite");
    refuse("obj\n", ".ply", "begins with the line ply");
    refuse("ply\nformat ascii 1.0\n", ".ply", "ends within its header");
    refuse("ply\nformat utf8 1.0\n", ".ply", ":2: expected the format");
    refuse("ply\nelement vertex x\n", ".ply", ":2: expected element");
    refuse("ply\nelement vertex 1\nproperty quaternion x\n", ".ply", ":3: expected a type");
    refuse("ply\nproperty int x\n", ".ply", "behind its element");
    refuse("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", ".ply", "no x, y and z");
#define HEAD \
    "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n" \
    "property list uchar int vertex_index\nend_header\n"
    refuse("{\"a\" 1}", ".gltf", ":1: expected a key in quotes, and a colon");
    refuse("{\n\"a\": [1,\n}", ".gltf", ":3: expected a value");
    refuse("{\"buffers\": [\n{\"uri\": \"..\"}]}", ".gltf", ":2: its buffer /tmp/..: it is no file");
    refuse("[]", ".gltf", "a glTF file is a map");
    refuse("{}", ".gltf", "no scene with nodes");
    refuse("{\"extensionsRequired\": [\"KHR_draco_mesh_compression\"]}", ".gltf",
           "KHR_draco_mesh_compression is not supported");
    refuse("{\"buffers\": [{\"uri\": \"none.bin\"}]}", ".gltf", "/tmp/none.bin: cannot be opened");
    refuse("{\"buffers\": [{\"uri\": \"data:;base64,A*\"}]}", ".gltf", "no base64");
    refuse("{\"scenes\": [{\"nodes\": [3]}]}", ".gltf", "a node is named that is not there");
    refuse("{\"scenes\": [{\"nodes\": [0]}], \"nodes\": [{\"children\": [0]}]}", ".gltf", "nodes lie in each other");
    refuse("glTF\2xxxxxxxxxx", ".glb", "the GLB file has no text");
    refuse(HEAD "0 0\n", ".ply", "expected a number");
    refuse(HEAD "0 0 0\n3 0 0 1\n", ".ply", "there is no vertex 1; there are 1");
    refuse(HEAD "0 0 0\n2 0 0\n", ".ply", "at least three vertices");
}

// Bytes changed, cut out and doubled by chance: a mesh or a sentence, and vertices that exist.
static void files_changed_by_chance_are_read_or_refused(void **state) {
    (void)state;
    static Bytes b;
    SandRandom random = sand_random(11);
    int read = 0, refused = 0;
    for (int trial = 0; trial < 6000; trial++) {
        SandMeshData mesh;
        SandError error = {""};
        int format = trial % FORMATS, changes = 1 + (int)(4 * sand_random_unit(&random));
        write_wedge(&b, format);
        for (int k = 0; k < changes; k++) {
            size_t at = (size_t)(sand_random_unit(&random) * (double)b.size);
            if (k % 3 == 0) b.data[at] = (char)(256 * sand_random_unit(&random));
            if (k % 3 == 1) b.data[at] ^= (char)(1 << (int)(8 * sand_random_unit(&random)));
            if (k % 3 == 2 && at) b.size = at;
        }
        if (read_bytes(&mesh, &b, endings[format], &error)) {
            read++;
            for (int f = 0; f < 3 * mesh.face_count; f++)
                assert_true(mesh.faces[f / 3][f % 3] >= 0 && mesh.faces[f / 3][f % 3] < mesh.vertex_count);
            sand_mesh_data_free(&mesh);
        } else {
            refused++;
            assert_true(*error.text && !mesh.vertices && !mesh.faces);
        }
    }
    print_message("%d files are meshes still, %d are refused\n", read, refused);
    assert_true(read > 500 && refused > 500);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_format_has_the_same_mesh),
                                       cmocka_unit_test(a_torus_has_its_moments),
                                       cmocka_unit_test(a_hull_of_few_corners_is_near),
                                       cmocka_unit_test(a_whole_hull_leaves_nothing_outside),
                                       cmocka_unit_test(mistakes_are_named),
                                       cmocka_unit_test(files_changed_by_chance_are_read_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
