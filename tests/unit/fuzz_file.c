// SPDX-License-Identifier: MIT
// libFuzzer targets of the readers that take any bytes: problems saved by `freeze` (FUZZ_SAND), text files of Siconos
// (FUZZ_DAT), takes (FUZZ_TAKE), meshes (FUZZ_OBJ, FUZZ_STL, FUZZ_PLY, FUZZ_GLTF, FUZZ_GLB) and checkpoints
// (FUZZ_CHECKPOINT: what lies between the head and a checksum that is right). Any bytes give what is promised or a sentence,
// and nothing leaks.
#ifdef FUZZ_STL
#define FUZZ_ENDING "stl"
#elif defined FUZZ_PLY
#define FUZZ_ENDING "ply"
#elif defined FUZZ_GLTF
#define FUZZ_ENDING "gltf"
#elif defined FUZZ_GLB
#define FUZZ_ENDING "glb"
#endif
#include "tests/unit/fuzz_file.h"

#include "app/engine/take.h"
#include "sandglass/geometry.h"
#include "sandglass/problem.h"
#include "sim/solver/reference/siconos_text.h"
#include "sim/step/checkpoint_file.h"

#if defined FUZZ_SAND || defined FUZZ_DAT
static bool read_file(const char *path, SandError *error) {
    SandProblem p = {0};
#ifdef FUZZ_SAND
    bool ok = sand_problem_load(&p, path, error);
#else
    bool ok = sand_siconos_text_load(&p, path, error);
#endif
    for (int i = 0; ok && i < p.contact_count; i++)
        if (!(p.contacts[i].mu >= 0) || !v3_finite(p.bodies[p.contacts[i].a].velocity)) abort();
    for (int e = 0; ok && p.matrix && e < p.matrix->first[p.contact_count]; e++)
        if (p.matrix->mirror[p.matrix->mirror[e]] != e) abort();
    sand_problem_free(&p);
    return ok;
}
#elif defined FUZZ_TAKE
static bool read_file(const char *path, SandError *error) {
    Take take;
    bool ok = take_load(&take, path, error);
    if (ok) take_free(&take);
    return ok;
}
#elif defined FUZZ_OBJ
static bool read_file(const char *path, SandError *error) {
    SandBoundary boundary = {0};
    bool ok = sand_boundary_mesh_file(&boundary, path, error);
    if (ok) sand_boundary_free(&boundary);
    return ok;
}
#elif defined FUZZ_ENDING
// Of what is read, each face is made of vertices, and it may enclose a solid.
static bool read_file(const char *path, SandError *error) {
    SandMeshData mesh = {0};
    SandSolid solid;
    SandError open = {""};
    bool ok = sand_mesh_data_read(&mesh, path, error);
    for (int f = 0; ok && f < mesh.face_count; f++)
        for (int k = 0; k < 3; k++)
            if (mesh.faces[f][k] < 0 || mesh.faces[f][k] >= mesh.vertex_count) abort();
    if (ok && !sand_solid_of_mesh(&solid, &mesh, &open) && !open.text[0]) abort();
    if (ok) sand_mesh_data_free(&mesh);
    return ok;
}
#elif defined FUZZ_CHECKPOINT
static bool read_file(const char *path, SandError *error) {
    SandCheckpoint checkpoint = {0};
    SandCheckpointNotes notes;
    bool ok = sand_checkpoint_read(&checkpoint, &notes, path, error);
    if (ok && sand_checkpoint_bytes(&checkpoint) > SIZE_MAX / 2) abort();
    if (ok) sand_checkpoint_notes_free(&notes);
    sand_checkpoint_free(&checkpoint);
    return ok;
}
#else
#error "say which reader"
#endif

#ifdef FUZZ_CHECKPOINT
// Words between a head and a checksum that are right, so that the reader looks at them.
static const char *write_file(const uint8_t *data, size_t size) {
    static uint64_t words[1 << 16];
    size_t count = 2, most = sizeof words / sizeof *words - 3;
    uint64_t sum = 0;
    memcpy(words, "SANDCKPT", 8);
    words[1] = SAND_CHECKPOINT_VERSION;
    size_t more = size / 8 < most ? size / 8 : most;
    memcpy(words + count, data, more * 8);
    count += more;
    for (size_t i = 0; i < count; i++) sum += sand_checkpoint_term(i, words[i]);
    words[count++] = sum;
    return fuzz_write((const uint8_t *)words, count * 8);
}
#else
static const char *write_file(const uint8_t *data, size_t size) { return fuzz_write(data, size); }
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    SandError error = {""};
    const char *path = write_file(data, size);
    if (!read_file(path, &error)) fuzz_check_error(path, &error);
    return 0;
}
