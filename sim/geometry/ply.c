// SPDX-License-Identifier: MIT
// Reading a PLY file, text or binary of either order of bytes: x, y and z of its vertices, and the lists of vertices of its
// faces, which may be polygons. Other elements and properties are passed over.
#include "sim/geometry/mesh_file.h"

#include <stdio.h>
#include <string.h>

typedef enum Kind { NONE, SIGNED, UNSIGNED, REAL } Kind;

typedef struct Type {
    Kind kind;
    int bytes;
} Type;

typedef enum Use { OTHER, X, Y, Z, CORNERS } Use;

typedef struct Property {
    Type type, count; // count: of a list; NONE: a single number
    Use use;
} Property;

enum { MOST_PROPERTIES = 64, MOST_ELEMENTS = 16, MOST_CORNERS = 1000 };

typedef struct Element {
    bool is_vertex, is_face;
    int64_t count;
    int property_count;
    Property properties[MOST_PROPERTIES];
} Element;

typedef struct Ply {
    SandMeshReader *r;
    bool text, big; // big: the first byte of a number is its highest
    int element_count;
    Element elements[MOST_ELEMENTS];
} Ply;

// --- the header -------------------------------------------------------------------------------------------

static bool read_type(SandMeshReader *r, Type *type) {
    static const struct {
        const char *name;
        Type type;
    } rows[] = {{"char", {SIGNED, 1}},  {"int8", {SIGNED, 1}},  {"uchar", {UNSIGNED, 1}},  {"uint8", {UNSIGNED, 1}},
                {"short", {SIGNED, 2}}, {"int16", {SIGNED, 2}}, {"ushort", {UNSIGNED, 2}}, {"uint16", {UNSIGNED, 2}},
                {"int", {SIGNED, 4}},   {"int32", {SIGNED, 4}}, {"uint", {UNSIGNED, 4}},   {"uint32", {UNSIGNED, 4}},
                {"float", {REAL, 4}},   {"float32", {REAL, 4}}, {"double", {REAL, 8}},     {"float64", {REAL, 8}}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (sand_mesh_word(r, rows[k].name)) return *type = rows[k].type, true;
    return sand_mesh_wrong(r, "expected a type: char, uchar, short, ushort, int, uint, float or double");
}

static bool read_property(Ply *ply) {
    SandMeshReader *r = ply->r;
    Property p = {.count = {NONE, 0}};
    if (!ply->element_count) return sand_mesh_wrong(r, "a property stands behind its element");
    Element *e = &ply->elements[ply->element_count - 1];
    if (e->property_count == MOST_PROPERTIES) return sand_mesh_wrong(r, "the element has too many properties");
    if (sand_mesh_word(r, "list") && !read_type(r, &p.count)) return false;
    if (p.count.kind == REAL) return sand_mesh_wrong(r, "the length of a list is a whole number");
    if (!read_type(r, &p.type)) return false;
    if (e->is_vertex && p.count.kind == NONE)
        p.use = sand_mesh_word(r, "x") ? X : sand_mesh_word(r, "y") ? Y : sand_mesh_word(r, "z") ? Z : OTHER;
    if (e->is_face && p.count.kind != NONE)
        p.use = sand_mesh_word(r, "vertex_indices") || sand_mesh_word(r, "vertex_index") ? CORNERS : OTHER;
    e->properties[e->property_count++] = p;
    return true;
}

static bool read_element(Ply *ply) {
    SandMeshReader *r = ply->r;
    Element e = {0};
    double count;
    e.is_vertex = sand_mesh_word(r, "vertex");
    e.is_face = !e.is_vertex && sand_mesh_word(r, "face");
    sand_mesh_skip_blanks(r);
    if (!e.is_vertex && !e.is_face) r->at += strcspn(r->at, " \t\r\n");
    if (!sand_mesh_number(r, &count) || !(count >= 0 && count <= 1e9) || count != (double)(int64_t)count)
        return sand_mesh_wrong(r, "expected element, a name and how many there are");
    if (ply->element_count == MOST_ELEMENTS) return sand_mesh_wrong(r, "the file has too many elements");
    e.count = (int64_t)count;
    ply->elements[ply->element_count++] = e;
    return true;
}

static bool read_format(Ply *ply) {
    SandMeshReader *r = ply->r;
    ply->text = sand_mesh_word(r, "ascii");
    if (ply->text || sand_mesh_word(r, "binary_little_endian")) return true;
    ply->big = sand_mesh_word(r, "binary_big_endian");
    return ply->big || sand_mesh_wrong(r, "expected the format ascii, binary_little_endian or binary_big_endian");
}

// A line of the header; `done` is set by the last.
static bool read_header_line(Ply *ply, bool *done) {
    SandMeshReader *r = ply->r;
    if (sand_mesh_word(r, "end_header")) return *done = true;
    if (sand_mesh_line_ends(r) || sand_mesh_word(r, "comment") || sand_mesh_word(r, "obj_info")) return true;
    if (sand_mesh_word(r, "format")) return read_format(ply);
    if (sand_mesh_word(r, "element")) return read_element(ply);
    if (sand_mesh_word(r, "property")) return read_property(ply);
    return sand_mesh_wrong(r, "expected format, element, property or end_header");
}

static bool read_header(Ply *ply) {
    SandMeshReader *r = ply->r;
    bool done = false;
    if (!sand_mesh_word(r, "ply")) return sand_mesh_wrong(r, "a PLY file begins with the line ply");
    for (sand_mesh_next_line(r); !done; sand_mesh_next_line(r)) {
        if (r->at >= r->end) return sand_mesh_wrong(r, "the file ends within its header");
        if (!read_header_line(ply, &done)) return false;
    }
    return true;
}

// --- numbers ----------------------------------------------------------------------------------------------

static double number_of(uint64_t bits, Type type) {
    double wide;
    float narrow;
    uint32_t low = (uint32_t)bits;
    if (type.kind == UNSIGNED) return (double)bits;
    if (type.kind == SIGNED) return type.bytes == 1 ? (int8_t)bits : type.bytes == 2 ? (int16_t)bits : (int32_t)bits;
    if (type.bytes == 4) return memcpy(&narrow, &low, sizeof narrow), narrow;
    return memcpy(&wide, &bits, sizeof wide), wide;
}

// Numbers of a text may stand on any line.
static bool read_text_number(SandMeshReader *r, double *number) {
    while (r->at < r->end && sand_mesh_line_ends(r)) sand_mesh_next_line(r);
    return sand_mesh_number(r, number) || sand_mesh_wrong(r, "expected a number");
}

static bool read_number(Ply *ply, Type type, double *number) {
    SandMeshReader *r = ply->r;
    if (ply->text) return read_text_number(r, number);
    if (r->end - r->at < type.bytes) return sand_mesh_wrong(r, "the file ends within its numbers");
    uint64_t bits = 0;
    for (int k = 0; k < type.bytes; k++) {
        int place = ply->big ? type.bytes - 1 - k : k;
        bits |= (uint64_t)(unsigned char)r->at[k] << 8 * place;
    }
    r->at += type.bytes;
    *number = number_of(bits, type);
    return true;
}

// --- elements ---------------------------------------------------------------------------------------------

static bool corner_of(Ply *ply, double number, int *vertex) {
    SandMeshReader *r = ply->r;
    if (!(number >= 0 && number < r->vertex_count))
        return sand_fail(r->error, "%s:%d: there is no vertex %.0f; there are %d", r->path, r->line, number,
                         r->vertex_count);
    *vertex = (int)number;
    return true;
}

// Reads a list; that of a face becomes a fan of triangles.
static bool read_list(Ply *ply, const Property *p) {
    double length, number;
    int first = 0, last = 0, next = 0;
    if (!read_number(ply, p->count, &length)) return false;
    if (!(length >= 0 && length <= MOST_CORNERS)) return sand_mesh_wrong(ply->r, "the list is too long");
    if (p->use == CORNERS && length < 3) return sand_mesh_wrong(ply->r, "a face needs at least three vertices");
    for (int k = 0; k < (int)length; k++) {
        if (!read_number(ply, p->type, &number)) return false;
        if (p->use != CORNERS) continue;
        if (!corner_of(ply, number, &next)) return false;
        if (k >= 2 && !sand_mesh_add_face(ply->r, first, last, next, true)) return false;
        if (k == 0) first = next;
        last = next;
    }
    return true;
}

static bool read_entry(Ply *ply, const Element *e) {
    double place[3] = {0};
    for (int k = 0; k < e->property_count; k++) {
        const Property *p = &e->properties[k];
        double number;
        if (p->count.kind != NONE && !read_list(ply, p)) return false;
        if (p->count.kind != NONE) continue;
        if (!read_number(ply, p->type, &number)) return false;
        if (p->use >= X && p->use <= Z) place[p->use - X] = number;
    }
    return !e->is_vertex || sand_mesh_add_vertex(ply->r, v3_make(place[0], place[1], place[2]));
}

static bool has_places(const Element *e) {
    int found = 0;
    for (int k = 0; k < e->property_count; k++) found |= 1 << e->properties[k].use;
    return (found & (1 << X | 1 << Y | 1 << Z)) == (1 << X | 1 << Y | 1 << Z);
}

bool sand_mesh_read_ply(SandMeshReader *r) {
    Ply ply = {.r = r};
    if (!read_header(&ply)) return false;
    for (int k = 0; k < ply.element_count; k++) {
        const Element *e = &ply.elements[k];
        if (e->is_vertex && !has_places(e)) return sand_fail(r->error, "%s: its vertices have no x, y and z", r->path);
        if (!e->property_count) continue;
        for (int64_t i = 0; i < e->count; i++) {
            if (!ply.text) r->line = (int)i;
            if (!read_entry(&ply, e)) return false;
        }
    }
    return true;
}
