// SPDX-License-Identifier: MIT
// The step of many small worlds, a thread block for each (rows.h): three kernels, between which nothing goes to the host.
//
//   prepare_rows   contacts of the coming step (collide_row.inl), packed for the solver
//   solve_rows     the solve, by the code that solves one world (cuda/solver/spmd_cuda.h), as a launch of one block: its
//                  shares, barriers and sums look at the x components of the grid alone
//   finish_rows    impulses are kept for the next step, and the bodies move
//
// Where the contacts of a world do not fit, its last two kernels do nothing: nothing has moved, and the host repeats it.
#define SAND_REAL float
#define SAND_ROWS 3
#define SAND_RADIAL 1
#define SAND_LOCAL 0
#define SAND_JOINTS 0
#define SAND_ROLLING 0
#define SAND_COMPONENTS 0
#define SAND_RANKS 0
#include "cuda/solver/kernel_problem.inl"

#include "cuda/batch/collide_row.inl"
#include "sim/step/integrate.inl"

#include <string.h>
#include <vector>

#ifndef LAUNCH_ROWS
#define LAUNCH_ROWS(kernel, count, stream, ...) kernel<<<dim3(1, (unsigned)(count)), ROW_THREADS, 0, stream>>>(__VA_ARGS__)
#endif

// --- packing --------------------------------------------------------------------------------------------------

// The sum over the threads of a block, in the order of launches of BLOCK_THREADS: threads by warps, warps in turn. In every
// thread with a multiple of BLOCK_THREADS as its number.
static __device__ double sum_parts_here(double v) {
    __shared__ double of_warp[ROW_THREADS / 32];
    for (int s = 16; s; s >>= 1) v += __shfl_down_sync(ALL_LANES, v, s);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = v;
    __syncthreads();
    double sum = 0;
    if (threadIdx.x % BLOCK_THREADS == 0)
        for (int k = 0; k < BLOCK_THREADS / 32; k++) sum += of_warp[(threadIdx.x >> 5) + k];
    return sum;
}

static __device__ void pack_bodies_here(const PackSource &from, const KernelArrays &to) {
    int moving = from.counts->bodies, all = moving + from.boundaries;
    EACH_HERE(k, all + 1) {
        SandProblemBody b = {0};
        if (k < all) from.bodies[k] = b = problem_body(&from.world, from.collision, k);
        Body body = pack_body(&b), still = {{0}, {0, 0, 0, body.w[3]}};
        to.mass[k] = (real)b.inverse_mass;
        for (int j = 0; j < SAND_INERTIA_SIZE; j++) to.inertia[SAND_INERTIA_SIZE * k + j] = (real)b.inverse_inertia[j];
        body_store(to.free, k, body);
        if (k < moving) continue;
        body_store(to.body, k, body);
        body_store(to.measured, k, body);
        body_store(to.scratch, k, still);
    }
    __syncthreads();
}

// Sums the diagonals as pack_contacts and add_diagonals of cuda/solver/solve_kernel.cu do.
static __device__ void pack_contacts_here(const PackSource &from, const KernelArrays &to) {
    PackTarget target = pack_target(to);
    int contacts = from.counts->contacts, none = from.counts->bodies + from.boundaries, all = (int)padded(contacts),
        parts = 0;
    for (int base = 0; base < all; base += (int)blockDim.x) {
        int i = base + (int)threadIdx.x;
        double diagonal = 0;
        if (i < contacts)
            diagonal = pack_block(from, to, target, i);
        else if (i < all)
            pack_padding(target, i, none);
        double sum = sum_parts_here(diagonal);
        if (threadIdx.x % BLOCK_THREADS == 0) from.partials[i / BLOCK_THREADS] = sum;
        parts = (base + (int)blockDim.x) / BLOCK_THREADS;
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    double sum = 0;
    for (int k = threadIdx.x; k < parts; k += 32) sum += from.partials[k];
    for (int s = 16; s; s >>= 1) sum += __shfl_down_sync(ALL_LANES, sum, s);
    if (threadIdx.x == 0) from.counts->diagonal_sum = sum;
}

static __global__ void __launch_bounds__(ROW_THREADS) prepare_rows(const WorldRow *rows) {
    const WorldRow &row = rows[blockIdx.y];
    Counts *counts = row.arrays.counts;
    for (int k = threadIdx.x; k < (int)(sizeof *counts / sizeof(int)); k += (int)blockDim.x) ((int *)counts)[k] = 0;
    __syncthreads();
    collide_here(row);
    __syncthreads();
    if (counts->retry) return;
    pack_bodies_here(row.source, row.kernel);
    pack_contacts_here(row.source, row.kernel);
}

// --- solving --------------------------------------------------------------------------------------------------

template <int METHOD>
static __global__ void __launch_bounds__(ROW_THREADS, 1)
    solve_rows(const WorldRow *rows, SolveState *states, const Op *ops, int most_iterations) {
    const WorldRow &row = rows[blockIdx.y];
    Counts *counts = row.arrays.counts;
    if (counts->retry) return;
    SolveState *state = &states[blockIdx.y];
    LaunchShared *shared = (LaunchShared *)row.kernel.launch_shared;
    __shared__ Op op;
    __shared__ SolveRequest request;
    if (threadIdx.x == 0) {
        op = ops[blockIdx.y];
        op_measure(&op, counts);
        request = state->request;
        request_resolve(&request, all_contacts(counts));
        shared->arrived = 0;
        for (int k = 0; k < SAND_WORKER_STATE; k++) shared->state[0][k] = 0;
    }
    __syncthreads();
    Worker w = worker_make(shared);
    solve_run(&w, state, &request, &op, METHOD, most_iterations);
    if (worker_is_first(&w)) store_result(state, &request, counts);
}

typedef void RowSolve(const WorldRow *, SolveState *, const Op *, int);
template <int METHOD, bool HERE> struct RowKernel { static constexpr RowSolve *value = solve_rows<METHOD>; };
template <int METHOD> struct RowKernel<METHOD, false> { static constexpr RowSolve *value = nullptr; };

// Colors, cells and blocks are made by launches of their own, for one world.
static constexpr bool in_a_block(int needs) {
    return !(needs & (SAND_NEEDS_COLORS | SAND_NEEDS_CELLS | SAND_NEEDS_BODIES | SAND_NEEDS_BLOCKS));
}

static RowSolve *const row_solves[] = {
#define SAND_ROW(id, name, vectors, on_cuda, owns, needs, ...) RowKernel<METHOD_##id, on_cuda && in_a_block(needs)>::value,
#define SAND_COMPONENT_ROW(id, ...) nullptr,
#include "sim/solver/solver_table.inl"
};

bool rows_have(int solver) {
    return solver >= 0 && solver < (int)(sizeof row_solves / sizeof *row_solves) && row_solves[solver];
}

// --- moving ---------------------------------------------------------------------------------------------------

// Keeps the impulses for the next step, by the contacts of this one.
static __device__ void keep_here(const WorldRow &row, const Op &op, const SolveState *state) {
    const RowArrays &a = row.arrays;
    EACH_HERE(i, a.counts->contacts) {
        ContactRef ref = contact_ref(&op, (Index)i);
        Row r = solve_best(&op, &state->solve, ref);
        Vec g = contact_impulse(&op, ref, r);
        a.kept_impulse[i] = {g.x, g.y, g.z};
        a.kept_key[i] = a.candidates[a.order[i]].key;
    }
    EACH_HERE(i, row.source.world.body_count) a.kept_index[i] = a.solver_index[i];
    EACH_HERE(k, a.counts->bodies + 1) a.kept_first[k] = a.first[k];
}

// The velocity and the mean spin of a body of the problem after the solve.
static __device__ SandVec3 solved_velocity(const WorldRow &row, int k) {
    const Body change = ((const Body *)row.kernel.body)[k];
    return v3_add(row.source.bodies[k].velocity, v3_make(change.v[0], change.v[1], change.v[2]));
}
static __device__ SandVec3 solved_spin(const WorldRow &row, int k) {
    const Body change = ((const Body *)row.kernel.body)[k];
    return v3_add(row.source.bodies[k].spin, v3_make(change.w[0], change.w[1], change.w[2]));
}

// Takes back the velocity that would carry a body through a boundary, as cuda/step/integrate.cu does.
static __device__ void stop_here(const WorldRow &row, int k) {
    const RowArrays &a = row.arrays;
    Body *change = &((Body *)row.kernel.body)[k];
    for (int i = a.first[k]; i < a.first[k + 1]; i++) {
        const SandContactCandidate *contact = &a.candidates[a.order[i]];
        if (contact->b >= 0) continue;
        SandVec3 velocity = solved_velocity(row, k);
        SandVec3 by = v3_sub(stop_at_boundary(&row.source.world, a.collision, contact, velocity), velocity);
        change->v[0] += (float)by.x;
        change->v[1] += (float)by.y;
        change->v[2] += (float)by.z;
    }
}

static __device__ void lose_here(const WorldRow &row, int body, SandLoss loss) {
    Counts *counts = row.arrays.counts;
    int at = atomicAdd(&counts->lost, 1);
    if (at < SAND_MAX_LOST) counts->lost_bodies[at] = {body, loss};
}

// Moves a body that takes part. False: it was lost.
static __device__ bool move_here(const WorldRow &row, SandWorld *w, int body, int k) {
    int outlet = -1;
    stop_here(row, k);
    move_body(w, body, &row.source.bodies[k], solved_velocity(row, k), solved_spin(row, k), 1);
    SandLoss loss = body_loss(w, body, &outlet);
    if (loss == SAND_PRESENT) return true;
    remove_body(w, body, loss, outlet);
    lose_here(row, body, loss);
    return false;
}

// The sum over the threads of a block, in the first.
static __device__ double sum_here(double v) {
    __shared__ double of_warp[ROW_THREADS / 32];
    for (int s = 16; s; s >>= 1) v += __shfl_down_sync(ALL_LANES, v, s);
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = v;
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < (int)blockDim.x / 32; k++) sum += of_warp[k];
    __syncthreads();
    return sum;
}

static __global__ void __launch_bounds__(ROW_THREADS)
    finish_rows(const WorldRow *rows, const SolveState *states, const Op *ops) {
    const WorldRow &row = rows[blockIdx.y];
    if (row.arrays.counts->retry) return;
    __shared__ Op op;
    __shared__ SandWorld world;
    if (threadIdx.x == 0) {
        op = ops[blockIdx.y];
        world = row.source.world;
    }
    __syncthreads();
    keep_here(row, op, &states[blockIdx.y]);
    double kinetic = 0, potential = 0;
    EACH_HERE(i, world.body_count) {
        int k = row.arrays.solver_index[i];
        if (k < 0 || !move_here(row, &world, i, k)) continue;
        kinetic += sand_body_kinetic_energy(&world, i);
        potential += sand_body_potential_energy(&world, i);
    }
    kinetic = sum_here(kinetic);
    potential = sum_here(potential);
    if (threadIdx.x > 0) return;
    row.arrays.counts->kinetic = kinetic;
    row.arrays.counts->potential = potential;
}

// --- the step -------------------------------------------------------------------------------------------------

size_t rows_table_bytes(int count) { return (size_t)count * (sizeof(SolveState) + sizeof(Op) + 256); }

cudaError_t rows_step(const WorldRow *rows, const WorldRow *on_device, int count, const SandSolveDef *const *solves,
                      uint8_t *tables, cudaStream_t stream) {
    std::vector<SolveState> states((size_t)count);
    std::vector<Op> ops((size_t)count);
    size_t n = (size_t)count, op_at = (n * sizeof(SolveState) + 255) / 256 * 256;
    memset((void *)states.data(), 0, n * sizeof(SolveState));
    for (size_t k = 0; k < n; k++) {
        const PackSource &from = rows[k].source;
        states[k].request.reference = rows[k].kernel.reference;
        solve_state_init(&states[k], solves[k], sand_accuracy_rms(solves[k], from.recovery, from.step), false, NULL);
        ops[k] = op_of(rows[k].kernel, solves[k], from.step, from.recovery);
    }
    SolveState *device_states = (SolveState *)tables;
    Op *device_ops = (Op *)(tables + op_at);
    cudaError_t error =
        cudaMemcpyAsync(device_states, states.data(), n * sizeof(SolveState), cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(device_ops, ops.data(), n * sizeof(Op), cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) return error;
    LAUNCH_ROWS(prepare_rows, count, stream, on_device);
    LAUNCH_ROWS(row_solves[solves[0]->solver], count, stream, on_device, device_states, device_ops,
                solves[0]->iterations > 0 ? solves[0]->iterations : 1);
    LAUNCH_ROWS(finish_rows, count, stream, on_device, device_states, device_ops);
    return cudaGetLastError();
}
