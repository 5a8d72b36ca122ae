// SPDX-License-Identifier: MIT
// Many small worlds that step together, one thread block for each. A world is a row: of a launch of gridDim = (1, rows), of
// a table that says for each row where its arrays are, and of a memory of slices with one stride. Since a block knows
// nothing but its row, a world has the same bits in any batch; since a small world alone is solved by one block too
// (SMALL_BODIES of cuda/device.h), it has them alone.
//
//   batch.cu       the host: slices, uploads, reads, and the members of a batch as backends
//   step_rows.cu   the kernels of a step: prepare_rows, solve_rows, finish_rows
//   collide_row.inl   from the bodies of a row to its contacts and their adjacency, by one thread block
#pragma once
#include "cuda/device.h"

enum { ROW_THREADS = 512 }; // of a thread block

// How much of everything a slice has.
struct RowSizes {
    size_t bodies, boundaries, shapes, materials, contacts, cells; // contacts: a multiple of SAND_LANES
    size_t vectors, constants, launch_bytes;                       // of the solver
};

// What a step has kept for the next one, beside arrays.
struct RowKept {
    double step; // s, 0: nothing is kept
    int bodies, contacts;
};

// The arrays of a slice: type, name, and how many entries. Behind those of the bodies (SAND_BODY_ARRAYS), of which what a
// step changes comes first, so that it is read back as one piece.
// clang-format off
#define ROW_ARRAYS(ARRAY) \
    /* what the host gives for each step */ \
    ARRAY(SandCollision, collision, 1) \
    ARRAY(SandPose, pose, s.boundaries) \
    ARRAY(SandGuard, guard, s.boundaries) \
    ARRAY(SandVec3, wall_velocity, s.boundaries) \
    ARRAY(SandVec3, wall_spin, s.boundaries) \
    ARRAY(SandBoundary, wall, s.boundaries) \
    ARRAY(SandShape, shape_table, s.shapes) \
    ARRAY(SandShapeSphere, shape_sphere, s.shapes) \
    ARRAY(SandPair, laws, s.materials * s.materials) \
    /* what a step keeps for the next */ \
    ARRAY(int, kept_index, s.bodies) /* solver indices */ \
    ARRAY(int, kept_first, s.bodies + 1) \
    ARRAY(SandContactKey, kept_key, s.contacts) \
    ARRAY(Impulse, kept_impulse, s.contacts) \
    /* collision */ \
    ARRAY(Counts, counts, 1) \
    ARRAY(SandSphereProxy, spheres, s.bodies) \
    ARRAY(SandSphereProxy, sorted, s.bodies) \
    ARRAY(int, sphere_order, s.bodies) \
    ARRAY(int, cell_of, s.bodies) \
    ARRAY(int, cell_starts, s.cells + 1) \
    ARRAY(int, item, s.bodies + 1) \
    ARRAY(int, solver_index, s.bodies) \
    ARRAY(int, body, s.bodies) \
    ARRAY(int, first, s.bodies + 2) \
    ARRAY(int, cursor, s.bodies + 2) \
    ARRAY(SandContactCandidate, candidates, s.contacts) \
    ARRAY(int, order, s.contacts) /* candidates by owner */ \
    ARRAY(Impulse, start, s.contacts) \
    ARRAY(int, second, s.bodies + 2) /* rows of contacts by their second body */ \
    ARRAY(int, list, s.contacts + 1) \
    ARRAY(int, high_degree, s.contacts / (SAND_HIGH_DEGREE / 2) + 2) \
    ARRAY(int, high_degree_segment, s.contacts / (SAND_HIGH_DEGREE / 2) + 3) \
    ARRAY(int, segment_body, 2 * (s.contacts / (SAND_HIGH_DEGREE / 2) + 2)) \
    /* the problem and its solver */ \
    ARRAY(SandProblemBody, problem_body, s.bodies + s.boundaries + 2) \
    ARRAY(double, partials, s.contacts / BLOCK_THREADS + 2) \
    ARRAY(int, a, s.contacts) \
    ARRAY(int, b, s.contacts) \
    ARRAY(float, constant, s.contacts * s.constants) \
    ARRAY(float, record, 4 * s.contacts) \
    ARRAY(float, solver_vectors, 4 * s.contacts * s.vectors) \
    ARRAY(float, kernel_mass, s.bodies + s.boundaries + 2) \
    ARRAY(float, kernel_inertia, s.bodies + s.boundaries + 2) \
    ARRAY(float, kernel_free, 8 * (s.bodies + s.boundaries + 2)) \
    ARRAY(float, kernel_body, 8 * (s.bodies + s.boundaries + 2)) \
    ARRAY(float, kernel_scratch, 8 * (s.bodies + s.boundaries + 2)) \
    ARRAY(float, kernel_measured, 8 * (s.bodies + s.boundaries + 2)) \
    ARRAY(float, still, 8) \
    ARRAY(float, segment_sum, 8 * 2 * (s.contacts / (SAND_HIGH_DEGREE / 2) + 2)) \
    ARRAY(uint8_t, launch_shared, s.launch_bytes)
// clang-format on

#define ROW_POINTER(type, name, ...) type *name;
struct RowArrays {
    SAND_BODY_ARRAYS(SAND_BODY_POINTER)
    ROW_ARRAYS(ROW_POINTER)
    uint8_t *end;
};
#undef ROW_POINTER

// The arrays of the slice at `base`.
inline RowArrays row_arrays(uint8_t *base, const RowSizes &s) {
    RowArrays a;
    size_t at = 0;
#define PLACE(type, name, count) \
    a.name = (type *)(base + at); \
    at += ((size_t)(count) * sizeof(type) + 255) / 256 * 256;
#define PLACE_BODIES(type, name) PLACE(type, name, s.bodies)
    SAND_BODY_ARRAYS(PLACE_BODIES)
    ROW_ARRAYS(PLACE)
#undef PLACE_BODIES
#undef PLACE
    a.end = base + at;
    return a;
}

// What a thread block knows of its world in a step.
struct WorldRow {
    PackSource source; // its world has the settings of the host and the arrays of the slice
    KernelArrays kernel;
    RowArrays arrays;
    SearchParams search;
    RowKept kept;
};

// cuda/batch/step_rows.cu. The step of `count` rows, of which `rows` is the table on the host and `on_device` that on the
// device, with these settings of their solves; `tables` is memory on the device for the tables of the solver.
size_t rows_table_bytes(int count);
bool rows_have(int solver); // whether there is a kernel for the method
cudaError_t rows_step(const WorldRow *rows, const WorldRow *on_device, int count, const SandSolveDef *const *solves,
                      uint8_t *tables, cudaStream_t stream);
