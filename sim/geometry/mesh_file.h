// SPDX-License-Identifier: MIT
// Reading triangles from files, format by format. Internal to sim/geometry: sand_mesh_data_read calls these by how the name
// of a file ends.
#pragma once
#include "sim/core/array.h"
#include "sandglass/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int SandTriangle[3];

// A file as it is read, and what was read so far.
typedef struct SandMeshReader {
    const char *path;
    const char *at, *end; // the rest of the file, which ends with a zero byte at `end`
    int line;             // of `at`, from 1 on; binary formats: the number of the triangle, from 0 on
    SAND_ARRAY(SandVec3) vertices;
    SAND_ARRAY(SandTriangle) faces;
    SAND_ARRAY(int) lines;
    SAND_ARRAY(int) buckets; // of vertices that are to be joined: the first of each, or -1
    SAND_ARRAY(int) next;    // in its bucket, or -1
    int vertex_count, face_count;
    SandError *error;
} SandMeshReader;

// Fails with the file and line in front of the sentence.
bool sand_mesh_wrong(SandMeshReader *r, const char *what);
bool sand_mesh_add_vertex(SandMeshReader *r, SandVec3 vertex);
// The same where the file names corners by their place: returns the vertex that has it already, or a new one; -1 on failure.
int sand_mesh_join_vertex(SandMeshReader *r, SandVec3 vertex);
// Adds a triangle of vertices that exist. One with two equal corners encloses nothing, and is left out where `lenient`.
bool sand_mesh_add_face(SandMeshReader *r, int a, int b, int c, bool lenient);

// Whether a word follows, before a space or the end of its line; if so it is passed.
bool sand_mesh_word(SandMeshReader *r, const char *word);
// Whether nothing but blanks is left of the line.
bool sand_mesh_line_ends(const SandMeshReader *r);
void sand_mesh_skip_blanks(SandMeshReader *r); // those of a line
void sand_mesh_next_line(SandMeshReader *r);
bool sand_mesh_number(SandMeshReader *r, double *number); // false: none follows on this line

// Reads the bytes of a file beside another one, of which it is named with `length` letters; the caller frees them, also on
// failure.
bool sand_mesh_read_beside(const char *path, const char *name, int length, char **bytes, size_t *size, SandError *error);

bool sand_mesh_read_obj(SandMeshReader *r);  // Wavefront: v and f lines
bool sand_mesh_read_stl(SandMeshReader *r);  // binary or text
bool sand_mesh_read_ply(SandMeshReader *r);  // text, or binary of either order of bytes
bool sand_mesh_read_gltf(SandMeshReader *r); // glTF and GLB

#ifdef __cplusplus
}
#endif
