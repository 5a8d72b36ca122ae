// SPDX-License-Identifier: MIT
// What readers of meshes share: the bytes of a file, words and numbers of its lines, vertices, equal ones joined, and
// triangles.
#include "sim/geometry/mesh_file.h"
#include "sim/geometry/mesh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

bool sand_mesh_wrong(SandMeshReader *r, const char *what) {
    return sand_fail(r->error, "%s:%d: %s", r->path, r->line, what);
}

// --- vertices and triangles -------------------------------------------------------------------------------

bool sand_mesh_add_vertex(SandMeshReader *r, SandVec3 vertex) {
    if (!v3_finite(vertex)) return sand_mesh_wrong(r, "the vertex is not finite");
    if (r->vertex_count >= SAND_MAX_FEATURE) return sand_mesh_wrong(r, "the mesh has too many vertices");
    if (!SAND_RESERVE(r->vertices, r->vertex_count + 1, "vertices of a mesh", r->error)) return false;
    r->vertices.data[r->vertex_count++] = vertex;
    return true;
}

enum { BUCKETS = 1 << 16 };

static int bucket_of(SandVec3 v) {
    double numbers[3] = {v.x + 0., v.y + 0., v.z + 0.}; // minus zero is zero
    uint64_t words[3], hash = 0;
    memcpy(words, numbers, sizeof words);
    for (int k = 0; k < 3; k++) hash = (hash ^ words[k]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
    return (int)(hash % BUCKETS);
}

int sand_mesh_join_vertex(SandMeshReader *r, SandVec3 v) {
    bool fresh = !r->buckets.data;
    if (!SAND_RESERVE(r->buckets, BUCKETS, "vertices of a mesh", r->error)) return -1;
    if (fresh) memset(r->buckets.data, -1, BUCKETS * sizeof *r->buckets.data);
    int *bucket = &r->buckets.data[bucket_of(v)];
    for (int k = *bucket; k >= 0; k = r->next.data[k])
        if (r->vertices.data[k].x == v.x && r->vertices.data[k].y == v.y && r->vertices.data[k].z == v.z) return k;
    if (!sand_mesh_add_vertex(r, v) || !SAND_RESERVE(r->next, r->vertex_count, "vertices of a mesh", r->error)) return -1;
    r->next.data[r->vertex_count - 1] = *bucket;
    return *bucket = r->vertex_count - 1;
}

bool sand_mesh_add_face(SandMeshReader *r, int a, int b, int c, bool lenient) {
    if (lenient && (a == b || b == c || c == a)) return true;
    if (r->face_count >= SAND_MAX_FEATURE) return sand_mesh_wrong(r, "the mesh has too many triangles");
    if (!SAND_RESERVE(r->faces, r->face_count + 1, "triangles of a mesh", r->error)) return false;
    if (!SAND_RESERVE(r->lines, r->face_count + 1, "triangles of a mesh", r->error)) return false;
    int *face = r->faces.data[r->face_count];
    face[0] = a;
    face[1] = b;
    face[2] = c;
    r->lines.data[r->face_count++] = r->line;
    return true;
}

// --- text -------------------------------------------------------------------------------------------------

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

void sand_mesh_skip_blanks(SandMeshReader *r) {
    while (r->at < r->end && is_blank(*r->at)) r->at++;
}

bool sand_mesh_line_ends(const SandMeshReader *r) {
    const char *at = r->at;
    while (at < r->end && is_blank(*at)) at++;
    return at == r->end || *at == '\n';
}

void sand_mesh_next_line(SandMeshReader *r) {
    while (r->at < r->end && *r->at != '\n') r->at++;
    if (r->at < r->end) r->at++;
    r->line++;
}

bool sand_mesh_word(SandMeshReader *r, const char *word) {
    sand_mesh_skip_blanks(r);
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || strncasecmp(r->at, word, length) != 0) return false;
    const char *after = r->at + length;
    if (after < r->end && !is_blank(*after) && *after != '\n') return false;
    r->at = after;
    return true;
}

bool sand_mesh_number(SandMeshReader *r, double *number) {
    char *end;
    sand_mesh_skip_blanks(r);
    if (r->at >= r->end || *r->at == '\n') return false; // strtod would go on in the next line
    *number = strtod(r->at, &end);
    if (end == r->at) return false;
    r->at = end;
    return true;
}

// --- files ------------------------------------------------------------------------------------------------

// Reads a whole file, and a zero byte behind it.
static bool read_bytes(const char *path, char **bytes, size_t *size, SandError *error) {
    enum { MORE = 1 << 16 };
    FILE *file = fopen(path, "rb");
    size_t capacity = 0, got = 1;
    if (!file) return sand_fail(error, "%s: cannot be opened: %s", path, strerror(errno));
    bool ok = true;
    *bytes = NULL;
    for (*size = 0; ok && got > 0; *size += got) {
        ok = SAND_GROW(*bytes, capacity, *size + MORE + 1, "a mesh", error);
        got = ok ? fread(*bytes + *size, 1, MORE, file) : 0;
    }
    if (ok && ferror(file)) ok = sand_fail(error, "%s: cannot be read: %s", path, strerror(errno));
    if (ok) (*bytes)[*size] = 0;
    fclose(file);
    return ok;
}

bool sand_mesh_read_beside(const char *path, const char *name, int length, char **bytes, size_t *size, SandError *error) {
    char beside[4096];
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    if ((size_t)folder + (size_t)length >= sizeof beside) return sand_fail(error, "%s: it names too long a path", path);
    snprintf(beside, sizeof beside, "%.*s%.*s", folder, path, length, name);
    struct stat about;
    if (stat(beside, &about) == 0 && !S_ISREG(about.st_mode)) return sand_fail(error, "%s: it is no file", beside);
    return read_bytes(beside, bytes, size, error);
}

// A format, by how names of its files end; any other name is that of an OBJ file.
typedef struct Format {
    const char *ending;
    bool (*read)(SandMeshReader *);
} Format;
static const Format formats[] = {{".stl", sand_mesh_read_stl},
                                 {".ply", sand_mesh_read_ply},
                                 {".gltf", sand_mesh_read_gltf},
                                 {".glb", sand_mesh_read_gltf},
                                 {"", sand_mesh_read_obj}};

static const Format *format_of(const char *path) {
    const Format *format = formats;
    for (size_t length = strlen(path);; format++) {
        size_t ending = strlen(format->ending);
        if (length >= ending && strcasecmp(path + length - ending, format->ending) == 0) return format;
    }
}

bool sand_mesh_data_read(SandMeshData *mesh, const char *path, SandError *error) {
    SandMeshReader r = {.path = path, .line = 1, .error = error};
    char *bytes = NULL;
    size_t size = 0;
    *mesh = (SandMeshData){0};
    bool ok = read_bytes(path, &bytes, &size, error);
    r.at = bytes;
    r.end = ok ? bytes + size : bytes;
    ok = ok && format_of(path)->read(&r);
    sand_free(bytes);
    SAND_FREE_ARRAYS(&r.buckets, &r.next);
    *mesh = (SandMeshData){r.vertex_count, r.face_count, r.vertices.data, r.faces.data, r.lines.data};
    if (!ok) sand_mesh_data_free(mesh);
    return ok;
}

SandTriangleMesh *sand_mesh_read(const char *path, SandError *error) {
    SandMeshData data;
    SandTriangleMesh *mesh = NULL;
    if (sand_mesh_data_read(&data, path, error))
        mesh = sand_mesh_make(data.vertices, data.vertex_count, (const int(*)[3])data.faces, data.face_count, path,
                              data.lines, error);
    sand_mesh_data_free(&data);
    return mesh;
}

void sand_mesh_data_free(SandMeshData *mesh) {
    sand_free(mesh->vertices);
    sand_free(mesh->faces);
    sand_free(mesh->lines);
    *mesh = (SandMeshData){0};
}
