// The solver texts on the GPU: how a problem is laid out, and the solve itself in a persistent cooperative kernel. Compiled
// once for each number of rows, kind of arms and frame of an impulse: the build defines SAND_ROWS, SAND_RADIAL, SAND_LOCAL
// and SAND_TEXT_NAME, the name of the table of verbs at the end.
#define SAND_REAL float
#include "cuda/device.h"

#include "cuda/spmd_cuda.h"

#include "sim/step/integrate.inl"

#include "sim/solver/kernel/operator.inl"

#include "sim/solver/kernel/pack.inl"

#include "sim/solver/kernel/residual.inl"

#include "sim/solver/kernel/active_set.inl"

#include "sim/solver/kernel/driver.inl"

static __device__ int64_t padded(int64_t n) { return (n + SAND_LANES - 1) / SAND_LANES * SAND_LANES; }

// --- laying out -------------------------------------------------------------------------------------------

static Laid laid_of(const TextArrays &to) {
    Laid laid = {to.a, to.b, to.block, to.spoke, to.spoke_a, to.spoke_b, to.vectors};
    return laid;
}

static __device__ SandContact contact_of(const Laying &from, int64_t i) {
    return from.found ? problem_contact(&from.world, from.collision, &from.found[from.order[i]]) : from.contacts[i];
}

static __device__ void body_store(void *bodies, int64_t k, const Body &body) {
    four_store(((Body *)bodies)[k].v, four_make(body.v[0], body.v[1], body.v[2], body.v[3]));
    four_store(((Body *)bodies)[k].w, four_make(body.w[0], body.w[1], body.w[2], body.w[3]));
}

// The velocities of moving bodies are written by every push; those of the others are laid out here once.
static __global__ void __launch_bounds__(CUDA_THREADS, 3) lay_bodies(const __grid_constant__ Laying from, TextArrays to) {
    if (from.counts->again) return;
    int moving = from.counts->bodies, all = moving + from.boundaries;
    EACH_BLOCK(base, all + 1) { // and one last that never moves
        int64_t k = base + threadIdx.x;
        SandProblemBody b = {0};
        if (k < all) b = from.found ? problem_body(&from.world, from.collision, (int)k) : from.bodies[k];
        if (from.found) write_records(from.bodies, base, all, b);
        if (k > all) continue;
        Body body = body_lay(&b), still = {{0}, {0, 0, 0, body.w[3]}};
        to.mass[k] = (real)b.inverse_mass;
        for (int j = 0; j < SAND_INERTIA; j++) to.inertia[SAND_INERTIA * k + j] = (real)b.inverse_inertia[j];
        body_store(to.free, k, body);
        if (k < moving) continue;
        body_store(to.body, k, body), body_store(to.measured, k, body), body_store(to.scratch, k, still);
    }
}

// The mean diagonal of a contact. That of spheres from a few numbers that are laid out: the arms are not asked for, so that
// nobody looks up where the bodies are.
static __device__ double diagonal_of(const Laying &from, const TextArrays &to, const SandContact &c) {
#if SAND_RADIAL
    double all = 0, normal = 0;
    for (int k : {c.a, c.b})
        radial_trace(to.mass[k], to.inertia[k], ((const Body *)to.free)[k].w[3] + 0.5 * c.gap, &all, &normal);
    return trace_mean(all, normal, c.mu);
#else
    (void)to;
    return block_diagonal(from.bodies, &c, 1, 1);
#endif
}

// Adds up the diagonals of all blocks of threads. One warp.
static __device__ void add_diagonals(const double *partials, Counts *counts) {
    double sum = 0;
    for (int k = threadIdx.x; k < (int)gridDim.x; k += 32) sum += partials[k];
    for (int s = 16; s; s >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, s);
    if (threadIdx.x == 0) counts->diagonals = sum;
}

// Blocks, and the sum of their diagonals.
static __global__ void __launch_bounds__(CUDA_THREADS, SAND_RADIAL ? 4 : 3)
    lay_blocks(const __grid_constant__ Laying from, const __grid_constant__ TextArrays to, Laid laid) {
    __shared__ double shared[CUDA_THREADS / 32];
    if (from.counts->again) return;
    int contacts = from.counts->contacts, none = from.counts->bodies + from.boundaries;
    double diagonals = 0;
    EACH(i, padded(contacts)) {
        if (i < contacts) {
            SandContact c = contact_of(from, i);
            double d = diagonal_of(from, to, c);
            diagonals += d;
            block_lay(&laid, i, &c, d, impulse_vector(from.start[i]));
        } else {
            SandContact c = {none, none};
            block_lay(&laid, i, &c, 1, v3_make(0, 0, 0));
        }
    }
    for (int s = 16; s; s >>= 1) diagonals += __shfl_down_sync(0xffffffffu, diagonals, s);
    if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = diagonals;
    __syncthreads();
    bool last = false;
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int k = 0; k < CUDA_THREADS / 32; k++) sum += shared[k];
        from.partials[blockIdx.x] = sum;
        last = last_to_come(from.counts);
    }
    if (__syncthreads_or(last) && threadIdx.x < 32) add_diagonals(from.partials, from.counts);
}

static void lay(const Laying &from, const TextArrays &to, int64_t bodies, cudaStream_t stream) {
    lay_bodies<<<grid_of(bodies), CUDA_THREADS, 0, stream>>>(from, to);
    int blocks = grid_of(to.capacity) < LAY_BLOCKS ? grid_of(to.capacity) : LAY_BLOCKS;
    lay_blocks<<<blocks, CUDA_THREADS, 0, stream>>>(from, to, laid_of(to));
}

// In the batch a body counts as often as it has contacts there: then the batch cannot overshoot.
static __global__ void lay_batch_steps(const __grid_constant__ Laying from, const TextArrays to) {
    const Counts *counts = from.counts;
    if (counts->again) return;
    int begin = to.colour_first[counts->colours], end = to.colour_first[counts->colours + 1];
    EACH(e, end - begin) {
        SandContact c = contact_of(from, to.colour_list[begin + e]);
        int a = to.first[c.a + 1] - to.first[c.a] + to.second[c.a + 1] - to.second[c.a], b = 1;
        if (c.b < counts->bodies) b = to.first[c.b + 1] - to.first[c.b] + to.second[c.b + 1] - to.second[c.b];
        to.batch_step[e] = (real)(1 / block_diagonal(from.bodies, &c, a > SAND_HUB ? a : 1, b > SAND_HUB ? b : 1));
    }
}

static void lay_batch(const Laying &from, const TextArrays &to, cudaStream_t stream) {
    lay_batch_steps<<<grid_of(to.capacity), CUDA_THREADS, 0, stream>>>(from, to);
}

// --- solving ----------------------------------------------------------------------------------------------

// The operator as the host knows it; sizes are on the device.
static Op op_of(const TextArrays &t, const SandSolveDef *def, double step, double recovery) {
    Op op;
    memset(&op, 0, sizeof op);
#if SAND_LOCAL
    op.bound = t.bound, op.lift = t.lift;
    if (def) op_ask(&op, def, sand_solver_can(def->solver, SAND_CONE));
#else
    (void)def;
#endif
    op.per_half = (real)(2 / step), op.recovery = (real)recovery;
    op.ratio = def ? (real)sand_solve_param(def, "ratio") : (real)1;
    op.a = t.a, op.b = t.b, op.block = t.block, op.impulse = t.impulse;
    op.vectors = t.vectors, op.distance = ROW_NUMBERS * t.capacity;
    op.spoke = t.spoke;
#if !SAND_RADIAL
    op.spoke_a = t.spoke_a, op.spoke_b = t.spoke_b;
#endif
    op.inverse_mass = t.mass, op.inverse_inertia = t.inertia;
    op.free = (const Body *)t.free, op.still = (const Body *)t.still, op.body = (Body *)t.body;
    op.scratch = (Body *)t.scratch, op.measured = (Body *)t.measured;
    op.first = t.first, op.second = t.second, op.list = t.list;
    op.hub = t.hub, op.hub_piece = t.hub_piece, op.piece_hub = t.piece_hub, op.piece_sum = (Body *)t.piece_sum;
    op.colour_first = t.colour_first, op.colour_list = t.colour_list, op.batch_step = t.batch_step;
    return op;
}

static __device__ void op_measure(Op *op, const Counts *counts) {
    op->blocks = counts->contacts, op->n = padded(counts->contacts);
    op->dynamic_count = counts->bodies;
    op_scale(op, counts->diagonals);
    op->hub_count = (int)(counts->hubs >> 32), op->piece_count = (int)(unsigned)counts->hubs;
    op->colour_count = counts->colours;
}

// The first thread tells how the run stands.
static __device__ void tell_run(const Run *run, Counts *counts) {
    counts->status = run->solve.status, counts->iterations = run->iterations, counts->curve = run->curve_count;
    counts->seconds = run->seconds, counts->residual = run->measure.residual;
    counts->objective = run->measure.objective, counts->complementarity = run->measure.complementarity;
}

// One kernel for each method, so that none pays for the registers of another. In a small problem threads are short of work
// and have many registers; in a large one there are more of them, to wait for memory side by side.
enum { SMALL_THREADS = 512, LARGE_THREADS = SAND_LOCAL ? 512 : SAND_CUDA_THREADS, LARGE_BODIES = 100000 };
template <int METHOD, int THREADS>
static __global__ void __launch_bounds__(THREADS, 1)
    solve_kernel(Run *run, const __grid_constant__ Op sizeless, Counts *counts, GridShared *shared, int most) {
    if (counts->again) return;
    __shared__ Op op; // one for the block: whoever works on it has its registers for other things
    __shared__ Asked asked;
    if (threadIdx.x == 0) {
        op = sizeless;
        op_measure(&op, counts);
        asked = run->asked;
    }
    __syncthreads();
    Worker w = worker_make(shared);
    solve_text(&w, run, &asked, &op, METHOD, most);
    if (worker_is_first(&w)) tell_run(run, counts);
}

// A run that is cut short here finds itself at its end in its next piece.
static __global__ void cut_short(Run *run) { run->asked.most_iterations = run->iterations; }

typedef void SolveKernel(Run *, const Op, Counts *, GridShared *, int);
struct Kernels {
    SolveKernel *small, *large;
};
template <int METHOD, bool ON_CUDA> struct Kernel {
    static constexpr Kernels value = {solve_kernel<METHOD, SMALL_THREADS>, solve_kernel<METHOD, LARGE_THREADS>};
};
template <int METHOD> struct Kernel<METHOD, false> { static constexpr Kernels value = {nullptr, nullptr}; };

static const Kernels kernels[] = {
#define SAND_ROW(id, name, vectors, on_cuda, ...) Kernel<METHOD_##id, on_cuda>::value,
#define SAND_ROW_OF_PARTS(id, name, vectors, on_cuda, ...) Kernel<METHOD_##id, SAND_PARTS && on_cuda>::value,
#include "sim/solver/solver_table.inl"
};

static cudaError_t solve(const TextArrays &t, const SandSolveDef &def, double step, double recovery, Counts *counts,
                         bool metrics, bool curve, int piece, const int *stop, cudaStream_t stream) {
    Run run;
    memset(&run, 0, sizeof run);
    run.asked.reference = t.reference;
    run_ask(&run, &def, metrics, curve ? t.curve : NULL);
    cudaError_t error = cudaMemcpyAsync(t.run, &run, sizeof run, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(t.grid, 0, sizeof(GridShared), stream);
    if (error != cudaSuccess) return error;

    // By the bodies, not by the contacts that fit: the order of sums hangs on it, and must not hang on what went before.
    bool large = t.bodies >= LARGE_BODIES;
    SolveKernel *kernel = large ? kernels[def.solver].large : kernels[def.solver].small;
    int threads = large ? LARGE_THREADS : SMALL_THREADS, device = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    int blocks = processors < GRID_BLOCKS ? processors : GRID_BLOCKS;
    Run *on_device = (Run *)t.run;
    Op op = op_of(t, &def, step, recovery);
    GridShared *shared = (GridShared *)t.grid;
    bool stopped = false;
    for (int done = 0; !stopped && (done < def.iterations || done == 0); done += piece) {
        stopped = stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
        if (stopped) cut_short<<<1, 1, 0, stream>>>(on_device);
        void *arguments[] = {&on_device, &op, &counts, &shared, &piece};
        error = cudaLaunchCooperativeKernel((const void *)kernel, blocks, threads, arguments, 0, stream);
        if (error == cudaSuccess && stop) error = cudaStreamSynchronize(stream);
        if (error != cudaSuccess) return error;
    }
    return cudaGetLastError();
}

// --- reading ----------------------------------------------------------------------------------------------

static __global__ void read_impulses(const Run *run, const __grid_constant__ Op op, const Counts *counts, Impulse *out) {
    if (counts->again) return;
    EACH(i, counts->contacts) {
        At at = at_of(&op, (Index)i);
        Vec g = block_impulse(&op, at, solve_best(&op, &run->solve, at));
        out[i] = {g.x, g.y, g.z};
    }
}

static void impulses(const TextArrays &t, const Counts *counts, Impulse *out, cudaStream_t stream) {
    read_impulses<<<grid_of(t.capacity), CUDA_THREADS, 0, stream>>>((const Run *)t.run, op_of(t, NULL, 1, 0), counts, out);
}

extern const TextVerbs SAND_TEXT_NAME = {ROW_NUMBERS, SAND_LOCAL,         SAND_RADIAL, BLOCK_NUMBERS, SAND_INERTIA,
                                         sizeof(Run), sizeof(GridShared), lay,         lay_batch,     solve,
                                         impulses};
