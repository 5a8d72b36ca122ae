// SPDX-License-Identifier: MIT
// Reading a glTF file, as text with its buffers beside it or within it, or as GLB: the triangles of all nodes of its scene,
// where they are. y points up in such files, and becomes z. A corner of several normals or colors is several vertices there,
// so that equal places are joined.
#include "sim/geometry/json.h"
#include "sim/geometry/mesh_file.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST_NODE = 64, MOST_BUFFERS = 64, MOST_INSTANCES = 1 << 20 };
enum { UNSIGNED_BYTE = 5121, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, FLOAT = 5126, TRIANGLES = 4 }; // of the format

typedef struct Buffer {
    const unsigned char *data;
    size_t size;
    char *owned; // bytes that were read or decoded for it
} Buffer;

typedef struct Gltf {
    SandMeshReader *r;
    SandJson json;
    Buffer binary; // of a GLB file
    Buffer buffers[MOST_BUFFERS];
    int buffer_count, instances;
} Gltf;

// A transformation by rows, of which the fourth is 0 0 0 1.
typedef struct Affine {
    double m[3][4];
} Affine;

static bool wrong(Gltf *g, int value, const char *what) {
    int line = value < 0 ? 1 : g->json.values.data[value].line;
    return sand_fail(g->r->error, "%s:%d: %s", g->r->path, line, what);
}

// An index or a size that a member has; -1 where there is none, -2 where it is none.
static int64_t whole(const Gltf *g, int of, const char *key) {
    double number = sand_json_number(&g->json, of, key, -1);
    return number == -1 ? -1 : number >= 0 && number < 1e15 && number == (double)(int64_t)number ? (int64_t)number : -2;
}

// The index that a value is; -1 where it is none.
static int64_t index_of(const Gltf *g, int value) {
    const SandJsonValue *v = &g->json.values.data[value];
    return v->kind == SAND_JSON_NUMBER && v->number >= 0 && v->number < INT_MAX ? (int64_t)v->number : -1;
}

// The value at an index that a member has, in a list of the file; -1: there is none.
static int listed(const Gltf *g, const char *list, int64_t index) {
    if (index < 0 || index > INT_MAX) return -1;
    return sand_json_entry(&g->json, sand_json_member(&g->json, 0, list), (int)index);
}

// --- buffers ----------------------------------------------------------------------------------------------

static int digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

// Decodes base64 from `text` on.
static bool decode(Gltf *g, int value, const char *text, const char *end, Buffer *to) {
    size_t capacity = 0, size = 0;
    uint32_t bits = 0;
    int held = 0;
    if (!SAND_GROW(to->owned, capacity, (size_t)(end - text) + 1, "a mesh", g->r->error)) return false;
    for (; text < end && *text != '='; text++) {
        int digit = digit_of(*text);
        if (digit < 0) return wrong(g, value, "the buffer is no base64");
        bits = bits << 6 | (uint32_t)digit;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        to->owned[size++] = (char)(bits >> held & 255);
    }
    to->data = (const unsigned char *)to->owned;
    to->size = size;
    return true;
}

// Finds the bytes of a buffer: within the text, in a file beside it, or in the second part of a GLB file.
static bool open_buffer(Gltf *g, int value, Buffer *to) {
    static const char marker[] = ";base64,";
    int uri = sand_json_member(&g->json, value, "uri");
    if (uri < 0) return *to = g->binary, to->owned = NULL, to->data || wrong(g, value, "the buffer has no uri");
    const SandJsonValue *text = &g->json.values.data[uri];
    if (text->kind != SAND_JSON_TEXT) return wrong(g, uri, "the uri is no text");
    const char *end = text->text + text->length;
    if (text->length > 5 && !memcmp(text->text, "data:", 5)) {
        for (const char *at = text->text; at + sizeof marker - 1 <= end; at++)
            if (!memcmp(at, marker, sizeof marker - 1)) return decode(g, uri, at + sizeof marker - 1, end, to);
        return wrong(g, uri, "the buffer is no base64");
    }
    SandError error = {""};
    if (!sand_mesh_read_beside(g->r->path, text->text, text->length, &to->owned, &to->size, &error)) {
        char what[sizeof error.text + 32];
        snprintf(what, sizeof what, "its buffer %s", error.text);
        return wrong(g, uri, what);
    }
    to->data = (const unsigned char *)to->owned;
    return true;
}

static bool open_buffers(Gltf *g) {
    int list = sand_json_member(&g->json, 0, "buffers");
    for (int value = sand_json_entry(&g->json, list, 0); value >= 0; value = g->json.values.data[value].next) {
        if (g->buffer_count == MOST_BUFFERS) return wrong(g, value, "the file has too many buffers");
        if (!open_buffer(g, value, &g->buffers[g->buffer_count++])) return false;
    }
    return true;
}

// --- accessors --------------------------------------------------------------------------------------------

// Numbers of a buffer: `count` entries, `stride` bytes apart.
typedef struct Numbers {
    const unsigned char *data;
    int64_t count, stride;
    int type;
} Numbers;

static int bytes_of(int type) {
    return type == UNSIGNED_BYTE ? 1 : type == UNSIGNED_SHORT ? 2 : type == UNSIGNED_INT || type == FLOAT ? 4 : 0;
}

// Finds the numbers of an accessor; each entry has `width` of them.
static bool open_numbers(Gltf *g, int accessor, int width, Numbers *to) {
    int view = listed(g, "bufferViews", whole(g, accessor, "bufferView"));
    int64_t buffer = whole(g, view, "buffer"), start = whole(g, accessor, "byteOffset"),
            first = whole(g, view, "byteOffset");
    int64_t size = whole(g, view, "byteLength");
    if (sand_json_member(&g->json, accessor, "sparse") >= 0) return wrong(g, accessor, "a sparse accessor is not supported");
    if (view < 0 || buffer < 0 || buffer >= g->buffer_count) return wrong(g, accessor, "the accessor has no buffer");
    *to = (Numbers){.count = whole(g, accessor, "count"), .stride = whole(g, view, "byteStride")};
    to->type = (int)(whole(g, accessor, "componentType") & 0xffff);
    int64_t entry = (int64_t)width * bytes_of(to->type), begin = (start < 0 ? 0 : start) + (first < 0 ? 0 : first);
    if (to->stride < 0) to->stride = entry;
    if (!entry || to->count < 0 || to->count > SAND_MAX_FEATURE * 3LL || to->stride > 1 << 20 || size < 0)
        return wrong(g, accessor, "the accessor has no numbers of a known type");
    if ((uint64_t)(begin + (to->count ? (to->count - 1) * to->stride + entry : 0)) > g->buffers[buffer].size)
        return wrong(g, accessor, "the accessor goes beyond its buffer");
    to->data = g->buffers[buffer].data + begin;
    return true;
}

static uint32_t bits_at(const Numbers *n, int64_t entry, int k) {
    const unsigned char *at = n->data + entry * n->stride + (int64_t)k * bytes_of(n->type);
    uint32_t bits = at[0];
    for (int b = 1; b < bytes_of(n->type); b++) bits |= (uint32_t)at[b] << 8 * b;
    return bits;
}

static double float_at(const Numbers *n, int64_t entry, int k) {
    uint32_t bits = bits_at(n, entry, k);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// --- triangles --------------------------------------------------------------------------------------------

static SandVec3 placed(const Affine *a, SandVec3 p) {
    double v[3];
    for (int i = 0; i < 3; i++) v[i] = a->m[i][0] * p.x + a->m[i][1] * p.y + a->m[i][2] * p.z + a->m[i][3];
    return v3_make(v[0], -v[2], v[1]); // y up to z up
}

static bool mirrors(const Affine *a) {
    SandVec3 rows[3];
    for (int i = 0; i < 3; i++) rows[i] = v3_make(a->m[i][0], a->m[i][1], a->m[i][2]);
    return v3_dot(rows[0], v3_cross(rows[1], rows[2])) < 0;
}

// Reads the places of a primitive; vertex[k] is the vertex of the mesh that place k is.
static bool read_places(Gltf *g, const Numbers *places, const Affine *to, int *vertex) {
    for (int64_t k = 0; k < places->count; k++) {
        SandVec3 p = v3_make(float_at(places, k, 0), float_at(places, k, 1), float_at(places, k, 2));
        if ((vertex[k] = sand_mesh_join_vertex(g->r, placed(to, p))) < 0) return false;
    }
    return true;
}

static bool read_faces(Gltf *g, int primitive, const Numbers *indices, int64_t places, const int *vertex, bool mirrored) {
    int64_t count = indices->data ? indices->count : places;
    for (int64_t k = 0; k + 2 < count; k += 3) {
        int corner[3];
        for (int i = 0; i < 3; i++) {
            int64_t place = indices->data ? (int64_t)bits_at(indices, k + i, 0) : k + i;
            if (place >= places) return wrong(g, primitive, "an index goes beyond the places");
            corner[i] = vertex[place];
        }
        if (!sand_mesh_add_face(g->r, corner[0], corner[mirrored ? 2 : 1], corner[mirrored ? 1 : 2], true)) return false;
    }
    return true;
}

static bool read_primitive(Gltf *g, int primitive, const Affine *to) {
    Numbers places, indices = {0};
    int64_t index = whole(g, primitive, "indices");
    int attributes = sand_json_member(&g->json, primitive, "attributes"), *vertex = NULL;
    int accessor = listed(g, "accessors", whole(g, attributes, "POSITION"));
    size_t capacity = 0;
    g->r->line = g->json.values.data[primitive].line;
    if (sand_json_number(&g->json, primitive, "mode", TRIANGLES) != TRIANGLES)
        return wrong(g, primitive, "points, lines, strips and fans are not supported: a primitive has triangles");
    if (accessor < 0) return wrong(g, primitive, "the primitive has no POSITION");
    if (!open_numbers(g, accessor, 3, &places)) return false;
    if (places.type != FLOAT) return wrong(g, accessor, "places that are no floats are not supported");
    if (index != -1 && !open_numbers(g, listed(g, "accessors", index), 1, &indices)) return false;
    if (indices.data && indices.type == FLOAT) return wrong(g, primitive, "indices are whole numbers");
    if (!SAND_GROW(vertex, capacity, (size_t)places.count + 1, "vertices of a mesh", g->r->error)) return false;
    bool ok = read_places(g, &places, to, vertex) && read_faces(g, primitive, &indices, places.count, vertex, mirrors(to));
    sand_free(vertex);
    return ok;
}

// --- nodes ------------------------------------------------------------------------------------------------

// Reads a list of `count` numbers of a node; false where it has none, or it is another list.
static bool read_list(const Gltf *g, int node, const char *key, int count, double *to) {
    int list = sand_json_member(&g->json, node, key);
    if (list < 0 || g->json.values.data[list].kind != SAND_JSON_LIST || g->json.values.data[list].count != count)
        return false;
    for (int value = g->json.values.data[list].first; value >= 0; value = g->json.values.data[value].next)
        *to++ = g->json.values.data[value].number;
    return true;
}

static Affine local_of(const Gltf *g, int node) {
    double matrix[16], at[3] = {0}, turn[4] = {0, 0, 0, 1}, scale[3] = {1, 1, 1};
    Affine a;
    if (read_list(g, node, "matrix", 16, matrix)) { // by columns
        for (int k = 0; k < 12; k++) a.m[k % 3][k / 3] = matrix[k / 3 * 4 + k % 3];
        return a;
    }
    read_list(g, node, "translation", 3, at);
    read_list(g, node, "rotation", 4, turn);
    read_list(g, node, "scale", 3, scale);
    SandMat3 r = q_matrix(q_unit((SandQuat){turn[3], turn[0], turn[1], turn[2]}));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) a.m[i][k] = r.m[i][k] * scale[k];
        a.m[i][3] = at[i];
    }
    return a;
}

static Affine product(const Affine *a, const Affine *b) {
    Affine c;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            c.m[i][k] = k == 3 ? a->m[i][3] : 0;
            for (int j = 0; j < 3; j++) c.m[i][k] += a->m[i][j] * b->m[j][k];
        }
    return c;
}

static bool read_node(Gltf *g, int node, const Affine *parent, int depth) {
    if (node < 0) return wrong(g, -1, "a node is named that is not there");
    if (depth > DEEPEST_NODE || ++g->instances > MOST_INSTANCES) return wrong(g, node, "nodes lie in each other");
    Affine own = local_of(g, node), to = product(parent, &own);
    int64_t mesh = whole(g, node, "mesh");
    int primitives = sand_json_member(&g->json, listed(g, "meshes", mesh), "primitives");
    if (mesh != -1 && primitives < 0) return wrong(g, node, "the node has a mesh without primitives");
    for (int p = sand_json_entry(&g->json, primitives, 0); p >= 0; p = g->json.values.data[p].next)
        if (!read_primitive(g, p, &to)) return false;
    int children = sand_json_member(&g->json, node, "children");
    for (int c = sand_json_entry(&g->json, children, 0); c >= 0; c = g->json.values.data[c].next)
        if (!read_node(g, listed(g, "nodes", index_of(g, c)), &to, depth + 1)) return false;
    return true;
}

static bool read_scene(Gltf *g) {
    const Affine identity = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    int required = sand_json_member(&g->json, 0, "extensionsRequired");
    for (int e = sand_json_entry(&g->json, required, 0); e >= 0; e = g->json.values.data[e].next) {
        const SandJsonValue *name = &g->json.values.data[e];
        return sand_fail(g->r->error, "%s:%d: the extension %.*s is not supported", g->r->path, name->line,
                         name->kind == SAND_JSON_TEXT ? name->length < 60 ? name->length : 60 : 1,
                         name->kind == SAND_JSON_TEXT ? name->text : "?");
    }
    int64_t which = whole(g, 0, "scene");
    int nodes = sand_json_member(&g->json, listed(g, "scenes", which < 0 ? 0 : which), "nodes");
    if (nodes < 0) return wrong(g, -1, "the file has no scene with nodes");
    for (int n = sand_json_entry(&g->json, nodes, 0); n >= 0; n = g->json.values.data[n].next)
        if (!read_node(g, listed(g, "nodes", index_of(g, n)), &identity, 0)) return false;
    return true;
}

// --- files ------------------------------------------------------------------------------------------------

static uint32_t word_at(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

// Finds text and bytes of a GLB file: a head of 12 bytes, and parts, each behind its size and kind.
static bool split(Gltf *g, const char **text, size_t *size) {
    enum { HEAD = 12, PART = 8 };
    const char *at = g->r->at + HEAD, *end = g->r->end;
    *text = NULL;
    while (end - at >= PART) {
        uint32_t length = word_at(at);
        bool is_text = !memcmp(at + 4, "JSON", 4), is_binary = !memcmp(at + 4, "BIN\0", 4);
        if ((size_t)(end - at - PART) < length) break;
        if (is_text && !*text) *text = at + PART, *size = length;
        if (is_binary && !g->binary.data) g->binary = (Buffer){(const unsigned char *)at + PART, length, NULL};
        at += PART + length;
    }
    return *text || sand_fail(g->r->error, "%s: the GLB file has no text", g->r->path);
}

bool sand_mesh_read_gltf(SandMeshReader *r) {
    Gltf g = {.r = r};
    const char *text = r->at;
    size_t size = (size_t)(r->end - r->at);
    if (size >= 12 && !memcmp(text, "glTF", 4) && !split(&g, &text, &size)) return false;
    bool ok = sand_json_read(&g.json, r->path, text, size, r->error);
    if (ok && g.json.values.data[0].kind != SAND_JSON_MAP) ok = wrong(&g, 0, "a glTF file is a map");
    ok = ok && open_buffers(&g) && read_scene(&g);
    for (int k = 0; k < g.buffer_count; k++) sand_free(g.buffers[k].owned);
    sand_json_free(&g.json);
    return ok;
}
