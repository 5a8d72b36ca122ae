// SPDX-License-Identifier: MIT
// The solvers on the GPU: kernels that pack a problem, the solve itself in a persistent cooperative kernel, and a kernel
// that reads the impulses. The methods are the code of sim/solver, compiled for the device by the macros of
// cuda/solver/spmd_cuda.h.
//
// Compiled once for each number of rows, kind of arms and frame of an impulse: the build defines SAND_ROWS, SAND_RADIAL,
// SAND_LOCAL, SAND_JOINTS, SAND_ROLLING, SAND_COMPONENTS, SAND_RANKS and SAND_KERNEL_NAME, the name of the SolverKernel at
// the end, which is all that other files see of this one.
#define SAND_REAL float
#include "cuda/solver/kernel_problem.inl"

// Packs the bodies. The velocities of moving bodies are written by every gather_bodies; those of boundaries are written
// here, once.
static __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    pack_bodies(const __grid_constant__ PackSource from, KernelArrays to) {
    if (from.counts->retry) return;
    int moving = from.counts->bodies, all = moving + from.boundaries;
    EACH_BLOCK(base, all + 1) { // and a last one that never moves, for padding contacts
        int64_t k = base + threadIdx.x;
        SandProblemBody b = {0};
        if (k < all) b = from.candidates ? problem_body(&from.world, from.collision, (int)k) : from.bodies[k];
        if (from.pulls && k < moving) b = pull_body(&from.world, from.collision->body[k], &from.pulls[k], b);
#if SAND_JOINTS
        if (from.candidates && k < moving) lift_inertia(from, to, k, &b);
#endif
        if (from.candidates) write_records(from.bodies, base, all, b);
        if (k > all) continue;
        b = solver_body(from, k, b);
        Body body = pack_body(&b), still = {{0}, {0, 0, 0, body.w[3]}};
        to.mass[k] = (real)b.inverse_mass;
        for (int j = 0; j < SAND_INERTIA_SIZE; j++) to.inertia[SAND_INERTIA_SIZE * k + j] = (real)b.inverse_inertia[j];
        body_store(to.free, k, body);
        if (k < moving) continue;
        body_store(to.body, k, body);
        body_store(to.measured, k, body);
        body_store(to.scratch, k, still);
    }
}

// Sums the diagonals of all thread blocks, in a fixed order. One warp.
static __device__ void add_diagonals(const double *partials, Counts *counts) {
    double sum = 0;
    for (int k = threadIdx.x; k < (int)gridDim.x; k += 32) sum += partials[k];
    for (int s = 16; s; s >>= 1) sum += __shfl_down_sync(ALL_LANES, sum, s);
    if (threadIdx.x == 0) counts->diagonal_sum = sum;
}

// Packs the contacts, and sums the diagonals of their blocks of N. Contacts are padded to a multiple of SAND_LANES.
static __global__ void __launch_bounds__(BLOCK_THREADS, SAND_RADIAL ? 4 : 3)
    pack_contacts(const __grid_constant__ PackSource from, const __grid_constant__ KernelArrays to, PackTarget target) {
    __shared__ double shared[BLOCK_THREADS / 32];
    if (from.counts->retry) return;
    int contacts = from.counts->contacts, none = from.counts->bodies + from.boundaries;
    double diagonals = 0;
    EACH(i, padded(contacts)) {
        if (i < contacts)
            diagonals += pack_block(from, to, target, i);
        else
            pack_padding(target, i, none);
    }
    for (int s = 16; s; s >>= 1) diagonals += __shfl_down_sync(ALL_LANES, diagonals, s);
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = diagonals;
    __syncthreads();
    bool last = false;
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int k = 0; k < BLOCK_THREADS / 32; k++) sum += shared[k];
        from.partials[blockIdx.x] = sum;
        last = last_block_done(from.counts);
    }
    if (__syncthreads_or(last) && threadIdx.x < 32) add_diagonals(from.partials, from.counts);
}

static void pack(const PackSource &from, const KernelArrays &to, int64_t bodies, cudaStream_t stream) {
    pack_bodies<<<launch_blocks(bodies), BLOCK_THREADS, 0, stream>>>(from, to);
    int blocks = launch_blocks(to.capacity) < PACK_BLOCKS ? launch_blocks(to.capacity) : PACK_BLOCKS;
    pack_contacts<<<blocks, BLOCK_THREADS, 0, stream>>>(from, to, pack_target(to));
}

// The diagonal that a contact steps by in the batch, in which its bodies count times_a and times_b times. The rows of a
// joint may differ by far, and step by the largest.
static __device__ double batch_diagonal(const PackSource &from, const SandContact &c, int i, int times_a, int times_b) {
#if SAND_JOINTS
    double numbers[JOINT_CONSTANTS], times = times_a > times_b ? times_a : times_b;
    int block = block_of(from, i);
    if (block >= 0) return 3 * times * block_diagonal(from, c, block, numbers);
#else
    (void)i;
#endif
    return mean_diagonal(from, c, times_a, times_b);
}

// Computes the steps of the Jacobi batch. A high-degree body counts with all its contacts in the diagonal: then the contacts
// of the batch, relaxed all at once, cannot overshoot together.
static __global__ void pack_batch_steps(const __grid_constant__ PackSource from, const KernelArrays to) {
    const Counts *counts = from.counts;
    if (counts->retry) return;
    int begin = to.color_first[counts->colors], end = to.color_first[counts->colors + 1];
    EACH(e, end - begin) {
        SandContact c = contact_of(from, to.color_list[begin + e]);
        int a = body_degree(to.first, to.second, c.a), b = 1;
        if (c.b < counts->bodies) b = body_degree(to.first, to.second, c.b);
        a = a > SAND_HIGH_DEGREE ? a : 1;
        b = b > SAND_HIGH_DEGREE ? b : 1;
        to.batch_step[e] = (real)(1 / batch_diagonal(from, c, to.color_list[begin + e], a, b));
    }
}

static void pack_batch(const PackSource &from, const KernelArrays &to, cudaStream_t stream) {
    pack_batch_steps<<<launch_blocks(to.capacity), BLOCK_THREADS, 0, stream>>>(from, to);
}

// --- solving ----------------------------------------------------------------------------------------------

// The largest workspace that op_set_cells divides.
enum {
    COARSE_SIZE = COARSE_ELEMENT * (SAND_CELL_SLOTS + SAND_MAX_CELLS) + (COARSE_NEIGHBORS + COARSE_VECTORS) * SAND_MAX_NODES
};

#if SAND_RANKS
static_assert((int)GHOST_SIZE == (int)MAIL_NUMBERS, "a ghost fits its mail");

// What the kernel knows of the bodies that it exchanges; the host sends them. All that it holds are gathered as one range:
// nothing is gathered while they are on their way.
static __device__ Ghosts ghosts_of(const RankView &rank, int held) {
    Ghosts g = Ghosts();
    g.end_own = held;
    g.send_count = rank.send_count;
    g.receive_count = rank.receive_count;
    g.send = rank.send;
    g.receive = rank.receive;
    g.outgoing = rank.outgoing;
    g.incoming = rank.incoming;
    return g;
}
#endif

// The solve. In world coordinates there is one kernel for each method, so that none pays for the registers of another. The
// variants with all the methods have one kernel for all of them, ANY_METHOD, which calls what it needs: the compiler would
// translate every method again for each kernel, which took most of the time of a build. A small problem has little work for
// a thread and fewer threads with more registers; a large one has more threads, to hide the latency of memory.
enum { SMALL_THREADS = 512, LARGE_THREADS = SAND_LOCAL ? 512 : SOLVE_MAX_THREADS, LARGE_BODIES = 100000 };
enum { ANY_METHOD = -1 };
template <int METHOD, int THREADS>
static __global__ void __launch_bounds__(THREADS, 1)
    solve_kernel(SolveState *state, const __grid_constant__ Op host_op, Counts *counts, LaunchShared *shared, int method,
                 int most_iterations) {
    if (counts->retry) return;
    __shared__ Op op; // one for the thread block, which leaves the registers to the loops
    __shared__ SolveRequest request;
#if SAND_RANKS
    __shared__ Ghosts ghosts;
#endif
    if (threadIdx.x == 0) {
        op = host_op;
#if SAND_RANKS
        rank_begin(shared);
        ghosts = ghosts_of(shared_rank, counts->bodies);
        op.ghosts = &ghosts;
#endif
        op_measure(&op, counts);
        request = state->request;
        request_resolve(&request, all_contacts(counts));
    }
    __syncthreads();
    Worker w = worker_make(shared);
    solve_run(&w, state, &request, &op, METHOD == ANY_METHOD ? method : METHOD, most_iterations);
    if (worker_is_first(&w)) store_result(state, &request, counts);
#if SAND_RANKS
    if (worker_is_first(&w)) launch_end(shared);
#endif
}

#if !SAND_RANKS
// Ends a solve: its next launch finds that all iterations are done.
static __global__ void end_solve(SolveState *state) {
    state->request.most_iterations = state->iterations;
    state->request.canceled = true;
}
#endif

#include "cuda/solver/method_kernels.inl"

static bool has(int solver) { return method_kernels[solver].small != nullptr; }

// Uploads the state of a solve that is to begin.
static cudaError_t upload_state(const KernelArrays &arrays, const SandSolveDef &def, double step, SandRecovery recovery,
                                bool metrics, bool curve, cudaStream_t stream) {
    SolveState state;
    memset(&state, 0, sizeof state);
    state.request.reference = arrays.reference;
    solve_state_init(&state, &def, sand_accuracy_rms(&def, recovery, step), metrics, curve ? arrays.curve : NULL);
    cudaError_t error = cudaMemcpyAsync(arrays.solve_state, &state, sizeof state, cudaMemcpyHostToDevice, stream);
    return error == cudaSuccess ? cudaMemsetAsync(arrays.launch_shared, 0, sizeof(LaunchShared), stream) : error;
}

// The kernel of a method, and its threads. By the number of bodies, not by the capacity of contacts: the order of summation
// depends on it, and must not depend on the steps before.
static SolveFunction *solve_function(int solver, int64_t bodies, int *threads) {
    bool large = bodies >= LARGE_BODIES && !(sand_solver_table[solver].needs & SAND_NEEDS_BLOCKS);
    *threads = large ? LARGE_THREADS : SMALL_THREADS;
    return large ? method_kernels[solver].large : method_kernels[solver].small;
}

#if SAND_RANKS
// Sums the diagonals of the contacts of each own chunk, in a fixed order, and counts them. One thread block for each.
static __global__ void __launch_bounds__(BLOCK_THREADS)
    sum_diagonals(const float *constant, const __grid_constant__ RankView rank, const Counts *counts) {
    if (counts->retry) return;
    __shared__ double shared[BLOCK_THREADS / 32];
    int chunk = blockIdx.x, begin = rank.chunk_first[chunk], end = rank.chunk_first[chunk + 1];
    double sum = 0;
    for (int64_t i = begin + (int)threadIdx.x; i < end; i += BLOCK_THREADS)
        sum += 1 / (double)constant[CONTACT_CONSTANTS * i + CONTACT_INVERSE_DIAGONAL];
    sum = sum_warp(sum, false);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    double *part = rank.mailbox->part + RANK_FACTS * (rank.first_chunk + chunk);
    part[RANK_DIAGONALS] = 0;
    for (int k = 0; k < BLOCK_THREADS / 32; k++) part[RANK_DIAGONALS] += shared[k];
    part[RANK_CONTACTS] = end - begin;
}

// Enqueues the sums of the diagonals. Loads the kernel of the solve before any rank begins it: CUDA may wait for all kernels
// of a process to end when it loads one.
static cudaError_t begin_rank(const KernelArrays &arrays, const SandSolveDef &def, const RankView &rank,
                              const Counts *counts, cudaStream_t stream) {
    int threads;
    cudaFuncAttributes about;
    cudaError_t error = cudaFuncGetAttributes(&about, (const void *)solve_function(def.solver, rank.bodies, &threads));
    if (error == cudaSuccess && rank.chunks > 0)
        sum_diagonals<<<rank.chunks, BLOCK_THREADS, 0, stream>>>(arrays.constant, rank, counts);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

// Enqueues the solve in one launch: see SolverKernel. It is no cooperative one, since kernels of several ranks may share the
// GPU: their blocks are all resident together because the caller gives them no more than there is room for.
static cudaError_t solve_rank(const KernelArrays &arrays, const SandSolveDef &def, double step, SandRecovery recovery,
                              Counts *counts, bool metrics, bool curve, const RankView &rank, int blocks,
                              cudaStream_t stream) {
    SolveState *device_state = (SolveState *)arrays.solve_state;
    LaunchShared *shared = (LaunchShared *)arrays.launch_shared;
    cudaError_t error = upload_state(arrays, def, step, recovery, metrics, curve, stream);
    if (error == cudaSuccess) error = cudaMemcpyAsync(&shared->rank, &rank, sizeof rank, cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) return error;
    int threads, method = def.solver, all = def.iterations > 0 ? def.iterations : 1;
    SolveFunction *kernel = solve_function(def.solver, rank.bodies, &threads);
    Op op = op_of(arrays, &def, step, recovery);
    void *arguments[] = {&device_state, &op, &counts, &shared, &method, &all};
    return cudaLaunchKernel((const void *)kernel, blocks < LAUNCH_BLOCKS ? blocks : LAUNCH_BLOCKS, threads, arguments, 0,
                            stream);
}
#else
// Shared memory that a method's kernel takes beside its static variables: that of the warps that sweep.
static cudaError_t reserve_shared(SolveFunction *kernel, int solver, int threads, size_t *bytes) {
    *bytes = 0;
#if SAND_BLOCK_WARPS
    if (sand_solver_table[solver].needs & SAND_NEEDS_BLOCKS) *bytes = (size_t)(threads / 32) * sizeof(PartShared);
#else
    (void)solver, (void)threads;
#endif
    if (!*bytes) return cudaSuccess;
    return cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)*bytes);
}

// Enqueues the solve in launches of `slice` iterations: see SolverKernel.
static cudaError_t solve(const KernelArrays &arrays, const SandSolveDef &def, double step, SandRecovery recovery,
                         Counts *counts, bool metrics, bool curve, int slice, const int *stop, cudaStream_t stream) {
    cudaError_t error = upload_state(arrays, def, step, recovery, metrics, curve, stream);
    if (error != cudaSuccess) return error;
    int threads, device = 0, processors = 0;
    SolveFunction *kernel = solve_function(def.solver, arrays.bodies, &threads);
    size_t shared_bytes;
    error = reserve_shared(kernel, def.solver, threads, &shared_bytes);
    if (error != cudaSuccess) return error;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    int blocks = processors < LAUNCH_BLOCKS ? processors : LAUNCH_BLOCKS;
    if (arrays.bodies <= SMALL_BODIES) blocks = 1; // as in a batch (cuda/batch/rows.h): sums have its order
    SolveState *device_state = (SolveState *)arrays.solve_state;
    Op op = op_of(arrays, &def, step, recovery);
    LaunchShared *shared = (LaunchShared *)arrays.launch_shared;
    bool stopped = false;
    int method = def.solver;
    for (int done = 0; !stopped && (done < def.iterations || done == 0); done += slice) {
        stopped = stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
        if (stopped) end_solve<<<1, 1, 0, stream>>>(device_state);
        void *arguments[] = {&device_state, &op, &counts, &shared, &method, &slice};
        error = cudaLaunchCooperativeKernel((const void *)kernel, blocks, threads, arguments, shared_bytes, stream);
        if (error == cudaSuccess && stop) error = cudaStreamSynchronize(stream);
        if (error != cudaSuccess) return error;
    }
    return cudaGetLastError();
}
#endif

// --- reading ----------------------------------------------------------------------------------------------

static __device__ Impulse torque_of(const Op *op, ContactRef ref, Row r) {
#if SAND_ROLLING
    Vec t = contact_torque(op, ref, r);
    return {t.x, t.y, t.z};
#else
    return (void)op, (void)ref, (void)r, Impulse();
#endif
}

static __global__ void read_impulses(const SolveState *state, const __grid_constant__ Op op, const Counts *counts,
                                     Impulse *out, Impulse *torque) {
    if (counts->retry) return;
    EACH(i, counts->contacts) {
        ContactRef ref = contact_ref(&op, (Index)i);
        Row r = solve_best(&op, &state->solve, ref);
        Vec g = contact_impulse(&op, ref, r);
        out[i] = {g.x, g.y, g.z};
        if (torque) torque[i] = torque_of(&op, ref, r);
    }
}

static void impulses(const KernelArrays &arrays, const Counts *counts, Impulse *out, Impulse *torque, cudaStream_t stream) {
    read_impulses<<<launch_blocks(arrays.capacity), BLOCK_THREADS, 0, stream>>>(
        (const SolveState *)arrays.solve_state, op_of(arrays, NULL, 1, SandRecovery()), counts, out, torque);
}

extern const SolverKernel SAND_KERNEL_NAME = {
    .row_size = ROW_SIZE,
    .impulse_size = IMPULSE_SIZE,
    .local = SAND_LOCAL,
    .radial = SAND_RADIAL,
    .joints = SAND_JOINTS,
    .stores_impulses = !SAND_VEC4_ROWS,
    .constant_count = CONTACT_CONSTANTS,
    .inertia_size = SAND_INERTIA_SIZE,
    .state_bytes = sizeof(SolveState),
    .launch_bytes = sizeof(LaunchShared),
    .coarse_size = COARSE_SIZE,
    .moment_count = COARSE_MOMENTS,
    .has = has,
    .pack = pack,
    .pack_batch = pack_batch,
#if SAND_RANKS
    .solve = NULL,
    .impulses = impulses,
    .begin_rank = begin_rank,
    .solve_rank = solve_rank,
#else
    .solve = solve,
    .impulses = impulses,
    .begin_rank = NULL,
    .solve_rank = NULL,
#endif
};
