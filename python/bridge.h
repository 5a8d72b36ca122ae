// SPDX-License-Identifier: MIT
// What the Python package needs and include/sandglass lacks: a scene with the user's folder of settled states, a backend by
// its name, and the layout of the structs that Python reads.
#pragma once
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

// One row of the table of layouts, which the compiler fills (layout.c): a struct with its size, then its fields.
typedef struct SandLayoutRow {
    const char *structure; // NULL ends the table
    const char *field;     // NULL: the struct itself
    size_t offset, size;   // bytes
    size_t count;          // of an array, else 1
    const char *type;      // a letter of Python's struct module (P a pointer, s text), or the name of a struct
} SandLayoutRow;
SAND_API extern const SandLayoutRow sand_layout[];

// Constants of the headers that Python uses, by name.
typedef struct SandConstant {
    const char *name; // NULL ends the table
    int value;
} SandConstant;
SAND_API extern const SandConstant sand_constants[];

// Whether the library was compiled for processors with AVX2 and FMA (x86-64-v3), as wheels are: on others it would end by an
// illegal instruction, and so Python asks before it calls anything.
#if defined(__x86_64__) && defined(__AVX2__) && defined(__FMA__)
enum { SAND_PYTHON_AVX2 = 1 };
#else
enum { SAND_PYTHON_AVX2 = 0 };
#endif

// Makes the reference methods available where this library has them.
SAND_API void sand_python_enable(void);

// Builds the scene and settles its bodies where they are to start settled (app/engine/settled.h).
SAND_API bool sand_python_build(SandScene *scene, int threads, SandError *error);

// The backend for a name, auto, cpu or cuda; NULL stands for the CPU (app/engine/backends.h).
SAND_API bool sand_python_backend(const char *name, const SandSolveDef *solve, SandPrecision precision,
                                  const SandBackend **backend, SandError *error);
// What is known of a state that a simulation saved. Refuses bytes that are no whole state.
typedef struct SandStateInfo {
    double time;   // s
    int64_t steps; // taken since time 0
    int bodies;
} SandStateInfo;
SAND_API bool sand_python_state(const void *bytes, size_t size, const char *name, SandStateInfo *info, SandError *error);

// The local problem u = W r + q of contacts with three rows each, normal first. W is in compressed columns, sorted.
typedef struct SandMatrixDef {
    int contacts;
    const int *begin, *row; // entries begin[j] .. begin[j + 1] - 1 are those of column j
    const double *value, *q, *mu;
} SandMatrixDef;
// Makes a problem of it, which copies everything. Refuses a W that is not symmetric or has a negative diagonal; a build
// without the reference methods refuses every one.
SAND_API bool sand_python_matrix(SandProblem *problem, const SandMatrixDef *def, SandError *error);

// Reserves arrays for this many bodies in a world, and does not free the arrays that are too small: others still look at
// them. They are added to `retired`, of at most SAND_PYTHON_ARRAYS entries, for the caller to free with sand_free; *count is
// how many there are.
enum { SAND_PYTHON_ARRAYS = 32 };
SAND_API bool sand_python_reserve(SandWorld *world, int bodies, void **retired, int *count, SandError *error);

// Whether the arrays of the host are those that the steps work on; false: they are copies of a device's.
SAND_API bool sand_python_on_host(const SandSimulation *sim);
