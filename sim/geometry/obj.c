// SPDX-License-Identifier: MIT
// Reading a triangle mesh from a Wavefront OBJ file: `v` and `f` lines; lines about appearance and grouping are skipped.
#include "sim/core/array.h"
#include "sim/geometry/mesh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Triangle[3];

typedef struct Reader {
    const char *path;
    int line;
    SAND_ARRAY(SandVec3) vertices;
    SAND_ARRAY(Triangle) faces;
    SAND_ARRAY(int) lines; // of the faces
    int vertex_count, face_count;
    SandError *error;
} Reader;

// Fails with the file and line in front of the sentence.
static bool wrong(Reader *r, const char *what) { return sand_fail(r->error, "%s:%d: %s", r->path, r->line, what); }

static bool blank(const char *text) { return text[strspn(text, " \t\r\n")] == 0; }

static bool read_vertex(Reader *r, const char *text) {
    double value[3];
    for (int k = 0; k < 3; k++) {
        char *end;
        value[k] = strtod(text, &end);
        if (end == text) return wrong(r, "a vertex needs three numbers: v x y z");
        text = end;
    }
    SandVec3 vertex = v3_make(value[0], value[1], value[2]);
    if (!v3_finite(vertex)) return wrong(r, "the vertex is not finite");
    while (!blank(text)) { // a weight or a color may follow
        char *end;
        strtod(text, &end);
        if (end == text) return wrong(r, "a vertex has numbers only: v x y z");
        text = end;
    }
    if (r->vertex_count >= SAND_MAX_FEATURE) return wrong(r, "the mesh has too many vertices");
    if (!SAND_RESERVE(r->vertices, r->vertex_count + 1, "vertices of a mesh", r->error)) return false;
    r->vertices.data[r->vertex_count++] = vertex;
    return true;
}

// Reads one corner of a face: v, v/t, v//n or v/t/n. Only v is used; a negative one counts back from the last vertex.
static bool read_corner(Reader *r, const char **text, int *vertex) {
    char *end;
    long number = strtol(*text, &end, 10);
    if (end == *text) return wrong(r, "a face has vertex numbers only: f a b c");
    for (int k = 0; k < 2 && *end == '/'; k++) end += 1 + strspn(end + 1, "-0123456789");
    if (*end && !strchr(" \t\r\n", *end)) return wrong(r, "a face has vertex numbers only: f a b c");
    if (number < 0) number += r->vertex_count + 1;
    if (number < 1 || number > r->vertex_count)
        return sand_fail(r->error, "%s:%d: there is no vertex %ld; %d are known so far", r->path, r->line, number,
                         r->vertex_count);
    *vertex = (int)number - 1;
    *text = end;
    return true;
}

static bool add_face(Reader *r, int a, int b, int c) {
    if (r->face_count >= SAND_MAX_FEATURE) return wrong(r, "the mesh has too many triangles");
    if (!SAND_RESERVE(r->faces, r->face_count + 1, "triangles of a mesh", r->error)) return false;
    if (!SAND_RESERVE(r->lines, r->face_count + 1, "triangles of a mesh", r->error)) return false;
    int *face = r->faces.data[r->face_count];
    face[0] = a;
    face[1] = b;
    face[2] = c;
    r->lines.data[r->face_count++] = r->line;
    return true;
}

// Reads a face; a polygon becomes a fan of triangles around its first corner.
static bool read_face(Reader *r, const char *text) {
    int first = 0, last = 0, next = 0, count = 0;
    while (!blank(text)) {
        if (!read_corner(r, &text, &next)) return false;
        if (count >= 2 && !add_face(r, first, last, next)) return false;
        if (count == 0) first = next;
        last = next;
        count++;
    }
    return count >= 3 || wrong(r, "a face needs at least three vertices");
}

static bool read_line(Reader *r, char *text) {
    static const char *skipped[] = {"vt", "vn", "vp", "o", "g", "s", "l", "p", "usemtl", "mtllib"};
    text[strcspn(text, "#")] = 0;
    text += strspn(text, " \t");
    if (blank(text)) return true;
    size_t length = strcspn(text, " \t\r\n");
    const char *rest = text + length;
    if (length == 1 && *text == 'v') return read_vertex(r, rest);
    if (length == 1 && *text == 'f') return read_face(r, rest);
    for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
        if (strlen(skipped[i]) == length && !strncmp(skipped[i], text, length)) return true;
    return sand_fail(r->error, "%s:%d: '%.*s' is not known; expected v or f", r->path, r->line,
                     (int)(length < 40 ? length : 40), text);
}

static bool read_all(Reader *r, FILE *file) {
    char *text = NULL;
    size_t capacity = 0;
    bool good = true;
    while (good && getline(&text, &capacity, file) >= 0) {
        r->line++;
        good = read_line(r, text);
    }
    if (good && ferror(file)) good = sand_fail(r->error, "%s: cannot be read: %s", r->path, strerror(errno));
    free(text);
    return good;
}

SandTriangleMesh *sand_mesh_read_obj(const char *path, SandError *error) {
    FILE *file = fopen(path, "r");
    if (!file) return sand_fail(error, "%s: cannot be opened: %s", path, strerror(errno)), NULL;
    Reader r = {.path = path, .error = error};
    SandTriangleMesh *mesh = NULL;
    if (read_all(&r, file))
        mesh = sand_mesh_make(r.vertices.data, r.vertex_count, (const int(*)[3])r.faces.data, r.face_count, path,
                              r.lines.data, error);
    fclose(file);
    SAND_FREE_ARRAYS(&r.vertices, &r.faces, &r.lines);
    return mesh;
}
