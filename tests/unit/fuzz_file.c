// libFuzzer targets of the readers that take any bytes: problems saved by `freeze` (FUZZ_SAND), text files of Siconos
// (FUZZ_DAT), takes (FUZZ_TAKE) and meshes (FUZZ_OBJ). Any bytes give what is promised or a sentence, and nothing leaks.
#include "tests/unit/fuzz_file.h"

#include "app/engine/take.h"
#include "sandglass/geometry.h"
#include "sandglass/problem.h"
#include "sim/solver/reference/siconos_text.h"

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
#else
#error "say which reader"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    SandError error = {""};
    const char *path = fuzz_write(data, size);
    if (!read_file(path, &error)) fuzz_check_error(path, &error);
    return 0;
}
