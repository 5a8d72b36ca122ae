// SPDX-License-Identifier: MIT
// What the kernels of a solver do to one body and one contact, for a problem that a whole launch has (solve_kernel.cu) and
// for one that a thread block has (cuda/batch/step_rows.cu): packing, the operator, and the result. Of the variant that is
// being compiled.
#pragma once
#include "cuda/device.h"
#include "cuda/solver/spmd_cuda.h" // before the kernel: it chooses the device and the layout

#include "sim/solver/accuracy.h"
#include "sim/solver/kernel/driver.inl"
#include "sim/solver/kernel/pack.inl"
#include "sim/step/build_problem.inl"
#include "sim/step/joint_rows.inl"
#include "sim/step/sleep.inl"

static __device__ int64_t padded(int64_t n) { return (n + SAND_LANES - 1) / SAND_LANES * SAND_LANES; }

// --- packing ----------------------------------------------------------------------------------------------

static inline __host__ __device__ PackTarget pack_target(const KernelArrays &to) {
    PackTarget target = {to.a, to.b, to.constant, to.record, to.arm_a_record, to.arm_b_record, to.vectors, to.bounce};
    return target;
}

#if SAND_JOINTS
// Which block of a joint contact i is; below 0: none. The candidates of joints follow all others.
static __device__ int block_of(const PackSource &from, int64_t i) {
    if (from.candidates) return from.candidate_order[i] - from.counts->joint_first;
    return from.joint ? from.joint[i] : -1;
}
#endif

static __device__ SandContact contact_of(const PackSource &from, int64_t i) {
#if SAND_JOINTS
    if (from.candidates && block_of(from, i) >= 0) return from.blocks[block_of(from, i)];
#endif
    if (!from.candidates) return from.contacts[i];
    const SandContactCandidate *candidate = &from.candidates[from.candidate_order[i]];
    SandContact c = problem_contact(&from.world, from.collision, candidate);
#if SAND_ROLLING
    contact_set_rolling(&from.world, from.collision, candidate, &c);
#endif
    if (from.impacts) c.bounce = from.impacts[from.candidate_order[i]].bounce;
    return c;
}

// A body as the solver sees it.
static __device__ SandProblemBody solver_body(const PackSource &from, int64_t k, const SandProblemBody &b) {
    bool rests = from.leaves_out && k < from.counts->bodies && body_is_asleep(&from.world, from.collision->body[k]);
    return rests ? sleep_fixed(b) : b;
}

static __device__ void body_store(void *bodies, int64_t k, const Body &body) {
    vec4_store(((Body *)bodies)[k].v, vec4_make(body.v[0], body.v[1], body.v[2], body.v[3]));
    vec4_store(((Body *)bodies)[k].w, vec4_make(body.w[0], body.w[1], body.w[2], body.w[3]));
}

#if SAND_JOINTS
// What contact i, if it is a block of a joint, pulls at the arm of one of its bodies.
static __device__ double tension_of(const PackSource &from, int i, bool second) {
    int block = block_of(from, i);
    return block < 0 ? 0 : joint_tension(&from.blocks[block], impulse_vector(from.start[i]), second);
}

// Lifts the inertia of body k to the tension of its joints, summed in the order of the contacts as on the CPU: the owners of
// those where it is the second body come before it.
static __device__ void lift_inertia(const PackSource &from, const KernelArrays &to, int64_t k, SandProblemBody *b) {
    double tension = 0;
    for (int e = to.second[k]; e < to.second[k + 1]; e++) tension += tension_of(from, to.list[e], true);
    for (int i = to.first[k]; i < to.first[k + 1]; i++) tension += tension_of(from, i, false);
    lifted_inertia(&from.world, from.collision->body[k], from.world.step * tension, b->inverse_inertia);
}
#endif

// A contact with its two bodies alone.
struct ContactPair {
    SandProblemBody bodies[2];
    SandContact contact;
};
static __device__ ContactPair contact_pair(const PackSource &from, const SandContact &c) {
    ContactPair pair = {{solver_body(from, c.a, from.bodies[c.a]), solver_body(from, c.b, from.bodies[c.b])}, c};
    pair.contact.a = 0;
    pair.contact.b = 1;
    return pair;
}

static __device__ double mean_diagonal(const PackSource &from, const SandContact &c, int times_a, int times_b) {
    ContactPair pair = contact_pair(from, c);
    return contact_mean_diagonal(pair.bodies, &pair.contact, times_a, times_b);
}

#if SAND_JOINTS
// The mean diagonal of a block of a joint; its constants go to `numbers`.
static __device__ double block_diagonal(const PackSource &from, const SandContact &c, int block, double *numbers) {
    ContactPair pair = contact_pair(from, c);
    return joint_pack(pair.bodies, &pair.contact, &from.joints[block], numbers);
}

// Packs contact i, which may be a block of a joint, and returns the mean diagonal of its block of N. Its springs do not
// yield before the solve.
static __device__ double pack_block(const PackSource &from, const KernelArrays &to, const PackTarget &target, int64_t i) {
    SandContact c = contact_of(from, i);
    int block = block_of(from, i);
    double numbers[JOINT_CONSTANTS] = {0};
    if (from.frictionless) c.mu = 0;
    double d = block >= 0 ? block_diagonal(from, c, block, numbers) : mean_diagonal(from, c, 1, 1);
    if (block < 0) c.gap = sand_recovery_gap(from.recovery, c.gap, from.step);
    pack_contact(&target, i, &c, d, impulse_vector(from.start[i]));
    pack_joint(&target, i, numbers);
#if SAND_ROLLING
    ContactPair pair = contact_pair(from, c);
    double arm = block >= 0 ? 1 : rolling_arm(pair.bodies, &pair.contact, d);
    pack_rolling(&target, i, &c, arm, impulse_vector(from.start_torque[i]));
#endif
    body_store(to.free, to.bodies + 1 + i, Body());
    return d;
}
#else
// The mean diagonal of the contact's block of N. For spheres it is computed from a few packed numbers: the arms are not
// needed, so that the positions of the bodies are not loaded.
static __device__ double diagonal_of(const PackSource &from, const KernelArrays &to, const SandContact &c) {
#if SAND_RADIAL
    double all = 0, normal = 0;
    for (int k : {c.a, c.b})
        radial_trace(to.mass[k], to.inertia[k], ((const Body *)to.free)[k].w[3] + 0.5 * c.gap, &all, &normal);
    return trace_mean(all, normal, c.mu);
#else
    (void)to;
    return mean_diagonal(from, c, 1, 1);
#endif
}

static __device__ double pack_block(const PackSource &from, const KernelArrays &to, const PackTarget &target, int64_t i) {
    SandContact c = contact_of(from, i);
    double d = diagonal_of(from, to, c);
    c.gap = sand_recovery_gap(from.recovery, c.gap, from.step);
    pack_contact(&target, i, &c, d, impulse_vector(from.start[i]));
    return d;
}
#endif

static __device__ void pack_padding(const PackTarget &target, int64_t i, int none) {
    SandContact c = {none, none};
    pack_contact(&target, i, &c, 1, v3_make(0, 0, 0));
#if SAND_JOINTS
    double numbers[JOINT_CONSTANTS] = {0};
    pack_joint(&target, i, numbers);
#endif
#if SAND_ROLLING
    pack_rolling(&target, i, &c, 1, v3_make(0, 0, 0));
#endif
}

// --- the operator -----------------------------------------------------------------------------------------

// The operator as far as the host knows it; its sizes are on the device: see op_measure.
static Op op_of(const KernelArrays &arrays, const SandSolveDef *def, double step, SandRecovery recovery) {
    Op op;
    memset(&op, 0, sizeof op);
#if SAND_LOCAL
    op.bound = arrays.bound;
    op.de_saxce = arrays.de_saxce;
    if (def) op_set_friction(&op, def, sand_solver_can(def->solver, SAND_FRICTION_CONE));
#else
    (void)def;
#endif
    op.two_per_step = (real)(2 / step);
    op_set_recovery(&op, recovery);
    op.ratio = def ? (real)sand_solve_param(def, "ratio") : (real)1;
    op.a = arrays.a;
    op.b = arrays.b;
    op.constant = arrays.constant;
    op.bounce = arrays.bounce;
    op.impulse = arrays.impulse;
    op.vectors = arrays.vectors;
    op.vector_stride = ROW_SIZE * arrays.capacity;
    op.record = arrays.record;
#if !SAND_RADIAL
    op.arm_a_record = arrays.arm_a_record;
    op.arm_b_record = arrays.arm_b_record;
#endif
    op.inverse_mass = arrays.mass;
    op.inverse_inertia = arrays.inertia;
    op.free = (const Body *)arrays.free;
    op.still = (const Body *)arrays.still;
    op.body = (Body *)arrays.body;
    op.scratch = (Body *)arrays.scratch;
    op.measured = (Body *)arrays.measured;
    op.body_count = (int)arrays.bodies + 1; // behind them are the springs of joints
    op.first = arrays.first;
#if SAND_RANKS
    op.first_end = arrays.first + 1;
#endif
    op.second = arrays.second;
    op.list = arrays.list;
    op.high_degree = arrays.high_degree;
    op.high_degree_segment = arrays.high_degree_segment;
    op.segment_body = arrays.segment_body;
    op.segment_sum = (Body *)arrays.segment_sum;
    op.color_first = arrays.color_first;
    op.color_list = arrays.color_list;
    op.batch_step = arrays.batch_step;
    op.place = arrays.place;
    op.field = arrays.field;
    op.moments = arrays.moments;
    op.cell_parts = arrays.coarse;
    op.cell_first = arrays.cell_first;
    op.cell_list = arrays.cell_list;
    op.block_color_count = SAND_BLOCK_COLORS;
    op.block_color_first = arrays.block_color_first;
    op.block_sum = arrays.block_sum;
    op.parts = arrays.parts;
    op.last = (Body *)arrays.last;
    return op;
}

// The number of contacts of the whole problem, and the sum of the mean diagonals of their blocks of N.
#if SAND_RANKS
static __device__ double all_contacts(const Counts *) { return shared_rank.contacts; }
static __device__ double all_diagonals(const Counts *) { return shared_rank.diagonal_sum; }
#else
static __device__ double all_contacts(const Counts *counts) { return counts->contacts; }
static __device__ double all_diagonals(const Counts *counts) { return counts->diagonal_sum; }
#endif

// Fills in the sizes of the operator.
static __device__ void op_measure(Op *op, const Counts *counts) {
    op->contact_count = counts->contacts;
    op->n = padded(counts->contacts);
    op->dynamic_count = counts->bodies;
    op_scale(op, all_contacts(counts), all_diagonals(counts));
    op->high_degree_count = (int)(counts->high_degree >> 32);
    op->segment_count = (int)(unsigned)counts->high_degree;
    op->color_count = counts->colors;
    if (op->place) op_set_cells(op, &counts->grid);
}

// Stores the result of the solve so far. One thread.
static __device__ void store_result(const SolveState *state, const SolveRequest *request, Counts *counts) {
    counts->end = state->solve.end;
    counts->iterations = state->iterations;
    counts->curve = state->curve_count;
    counts->seconds = state->seconds;
    counts->evidence = evidence_of(request, state->measure);
    counts->complementarity = state->measure.complementarity;
    counts->least_energy = state->solve.least_energy;
}
