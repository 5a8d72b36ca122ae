// SPDX-License-Identifier: MIT
// Reading a Wavefront OBJ file: `v` and `f` lines; lines about appearance and grouping are skipped.
#include "sim/geometry/mesh_file.h"

#include <stdlib.h>
#include <string.h>

// Whether the rest of a line is blank, or a comment.
static bool is_over(const SandMeshReader *r) {
    SandMeshReader ahead = *r;
    sand_mesh_skip_blanks(&ahead);
    return ahead.at == ahead.end || *ahead.at == '\n' || *ahead.at == '#';
}

static bool read_vertex(SandMeshReader *r) {
    double value[3], more;
    for (int k = 0; k < 3; k++)
        if (!sand_mesh_number(r, &value[k])) return sand_mesh_wrong(r, "a vertex needs three numbers: v x y z");
    if (!sand_mesh_add_vertex(r, v3_make(value[0], value[1], value[2]))) return false;
    while (!is_over(r)) // a weight or a color may follow
        if (!sand_mesh_number(r, &more)) return sand_mesh_wrong(r, "a vertex has numbers only: v x y z");
    return true;
}

// Reads one corner of a face: v, v/t, v//n or v/t/n. Only v is used; a negative one counts back from the last vertex.
static bool read_corner(SandMeshReader *r, int *vertex) {
    char *end;
    sand_mesh_skip_blanks(r);
    long number = strtol(r->at, &end, 10);
    if (end == r->at) return sand_mesh_wrong(r, "a face has vertex numbers only: f a b c");
    for (int k = 0; k < 2 && *end == '/'; k++) end += 1 + strspn(end + 1, "-0123456789");
    if (*end && !strchr(" \t\r\n#", *end)) return sand_mesh_wrong(r, "a face has vertex numbers only: f a b c");
    if (number < 0) number += r->vertex_count + 1;
    if (number < 1 || number > r->vertex_count)
        return sand_fail(r->error, "%s:%d: there is no vertex %ld; %d are known so far", r->path, r->line, number,
                         r->vertex_count);
    *vertex = (int)number - 1;
    r->at = end;
    return true;
}

// Reads a face; a polygon becomes a fan of triangles around its first corner.
static bool read_face(SandMeshReader *r) {
    int first = 0, last = 0, next = 0, count = 0;
    while (!is_over(r)) {
        if (!read_corner(r, &next)) return false;
        if (count >= 2 && !sand_mesh_add_face(r, first, last, next, false)) return false;
        if (count == 0) first = next;
        last = next;
        count++;
    }
    return count >= 3 || sand_mesh_wrong(r, "a face needs at least three vertices");
}

static bool read_line(SandMeshReader *r) {
    static const char *skipped[] = {"vt", "vn", "vp", "o", "g", "s", "l", "p", "usemtl", "mtllib"};
    if (is_over(r)) return true;
    sand_mesh_skip_blanks(r);
    size_t length = strcspn(r->at, " \t\r\n#");
    const char *word = r->at;
    r->at += length;
    if (length == 1 && *word == 'v') return read_vertex(r);
    if (length == 1 && *word == 'f') return read_face(r);
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (strlen(skipped[i]) == length && !strncmp(skipped[i], word, length)) return true;
    return sand_fail(r->error, "%s:%d: '%.*s' is not known; expected v or f", r->path, r->line,
                     (int)(length < 40 ? length : 40), word);
}

bool sand_mesh_read_obj(SandMeshReader *r) {
    for (; r->at < r->end; sand_mesh_next_line(r))
        if (!read_line(r)) return false;
    return true;
}
