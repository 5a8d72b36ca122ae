// SPDX-License-Identifier: MIT
// Reading an STL file, binary or text. It has triangles of three places each and no vertices: equal places become one.
// Normals are not read, as the order of the corners has them.
#include "sim/geometry/mesh_file.h"

#include <string.h>

enum { HEADER = 80, RECORD = 50 }; // bytes of a binary file: before the number of triangles, and of each

static uint32_t word_at(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double float_at(const char *bytes) {
    uint32_t word = word_at(bytes);
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static bool add_corners(SandMeshReader *r, const SandVec3 corner[3]) {
    int vertex[3];
    for (int k = 0; k < 3; k++)
        if ((vertex[k] = sand_mesh_join_vertex(r, corner[k])) < 0) return false;
    return sand_mesh_add_face(r, vertex[0], vertex[1], vertex[2], true);
}

static bool read_binary(SandMeshReader *r, uint32_t count) {
    const char *at = r->at + HEADER + 4;
    for (uint32_t k = 0; k < count; k++, at += RECORD) {
        SandVec3 corner[3];
        r->line = (int)k;
        for (int i = 0; i < 3; i++) {
            const char *p = at + 12 * (i + 1); // behind the normal
            corner[i] = v3_make(float_at(p), float_at(p + 4), float_at(p + 8));
        }
        if (!add_corners(r, corner)) return false;
    }
    return true;
}

// A line of a text file. `corners` of the triangle under way are known; -1: none is.
static bool read_line(SandMeshReader *r, SandVec3 corner[3], int *corners) {
    double v[3];
    if (sand_mesh_line_ends(r) || sand_mesh_word(r, "solid") || sand_mesh_word(r, "endsolid") ||
        sand_mesh_word(r, "facet") || sand_mesh_word(r, "endfacet"))
        return true;
    if (sand_mesh_word(r, "outer")) return *corners = 0, true;
    if (sand_mesh_word(r, "endloop")) {
        if (*corners != 3) return sand_mesh_wrong(r, "the loop has not three vertices");
        return *corners = -1, add_corners(r, corner);
    }
    if (!sand_mesh_word(r, "vertex")) return sand_mesh_wrong(r, "expected facet, outer loop, vertex, endloop or endfacet");
    if (*corners < 0 || *corners > 2) return sand_mesh_wrong(r, "a vertex stands in a loop of three");
    for (int k = 0; k < 3; k++)
        if (!sand_mesh_number(r, &v[k])) return sand_mesh_wrong(r, "a vertex needs three numbers: vertex x y z");
    corner[(*corners)++] = v3_make(v[0], v[1], v[2]);
    return true;
}

static bool read_text(SandMeshReader *r) {
    SandVec3 corner[3];
    int corners = -1;
    for (; r->at < r->end; sand_mesh_next_line(r))
        if (!read_line(r, corner, &corners)) return false;
    return corners < 0 || sand_mesh_wrong(r, "the file ends within a triangle");
}

// A binary file is known by its size: many of them begin with the word of a text file.
bool sand_mesh_read_stl(SandMeshReader *r) {
    size_t size = (size_t)(r->end - r->at);
    uint32_t count = size >= HEADER + 4 ? word_at(r->at + HEADER) : 0;
    if (size >= HEADER + 4 && size == HEADER + 4 + (size_t)RECORD * count) return read_binary(r, count);
    SandMeshReader ahead = *r;
    if (sand_mesh_word(&ahead, "solid")) return read_text(r);
    return sand_fail(r->error, "%s: %zu bytes are no binary STL of %u triangles, and no text that begins with solid",
                     r->path, size, count);
}
