// SPDX-License-Identifier: MIT
// Compounds as GSD has them: a mesh that is read back encloses the volume of the pieces, about their center of mass.
#include "app/io/export/shape_text.h"
#include "sim/geometry/json.h"
#include "tests/lab/compound_lab.h"

static SandVec3 vector_of(const SandJson *json, int list) {
    double v[3];
    for (int k = 0; k < 3; k++) v[k] = json->values.data[sand_json_entry(json, list, k)].number;
    return v3_make(v[0], v[1], v[2]);
}

// The volume that the triangles of a shape enclose, and the center of it.
static double volume_of(const SandShape *shape, double scale, SandVec3 *center) {
    char *text = NULL;
    size_t size = 0;
    SandJson json;
    SandError error = {""};
    FILE *out = open_memstream(&text, &size);
    shape_text_write(out, shape, scale);
    fclose(out);
    if (!sand_json_read(&json, "shape", text, size, &error)) fail_msg("%s", error.text);
    assert_true(sand_json_is(&json, sand_json_member(&json, 0, "type"), "Mesh"));
    int vertices = sand_json_member(&json, 0, "vertices"), triangles = sand_json_member(&json, 0, "indices");
    double volume = 0;
    *center = v3_make(0, 0, 0);
    for (int t = sand_json_entry(&json, triangles, 0); t >= 0; t = json.values.data[t].next) {
        SandVec3 corners = vector_of(&json, t), p[3];
        int index[3] = {(int)corners.x, (int)corners.y, (int)corners.z};
        for (int k = 0; k < 3; k++) p[k] = vector_of(&json, sand_json_entry(&json, vertices, index[k]));
        double part = v3_dot(p[0], v3_cross(p[1], p[2])) / 6;
        volume += part;
        *center = v3_madd(*center, 0.25 * part, v3_add(p[0], v3_add(p[1], p[2])));
    }
    *center = v3_scale(1 / volume, *center);
    sand_json_free(&json);
    free(text);
    return volume;
}

static void compounds_are_meshes_of_their_pieces(void **state) {
    (void)state;
    SandWorld w = lab_world(0.5);
    SandPiece pieces[5];
    SandVec3 center;
    int bucket = lab_bucket(&w, 0.5), motley = lab_compound(&w, pieces, lab_motley(pieces, 0.4));
    const SandShape *box = &w.shapes[bucket], *all = &w.shapes[motley];
    NEAR(volume_of(box, 2, &center), 8 * box->volume, 1e-6);
    NEAR(v3_length(center), 0, 1e-7);
    double volume = volume_of(all, 1, &center); // what is round has facets, which lie within it
    print_message("a motley of %.4f m^3 is a mesh of %.4f m^3\n", all->volume, volume);
    assert_true(volume < all->volume && volume > 0.88 * all->volume);
    NEAR(v3_length(center), 0, 0.02 * all->bound);
    sand_world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compounds_are_meshes_of_their_pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
