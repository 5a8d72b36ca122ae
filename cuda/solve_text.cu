// The solver texts on the GPU. Compiled once for each number of rows and kind of arms: the build defines SAND_ROWS,
// SAND_RADIAL and SAND_CUDA_SOLVE, the name of the function at the end.
#define SAND_REAL float
#include "solve.h"

#include "spmd_cuda.h"

#include <string.h>
#include <vector>

#include "sim/operator.inl"

#include "sim/metrics.inl"

#include "sim/projected.inl"

#include "sim/solve.inl"

static __global__ void __launch_bounds__(SAND_CUDA_THREADS) solve_kernel(Run *run, double *partials) {
    Worker w = worker_make(partials);
    solve_text(&w, run);
}

// Device memory that goes with the solve.
struct Arena {
    std::vector<void *> blocks;
    cudaError_t error = cudaSuccess;
    ~Arena() {
        for (void *p : blocks) cudaFree(p);
    }
    void *copy(const void *host, size_t bytes) {
        void *p = NULL;
        if (error == cudaSuccess) error = cudaMalloc(&p, bytes ? bytes : 1);
        if (error != cudaSuccess) return NULL;
        blocks.push_back(p);
        error = host ? cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice) : cudaMemset(p, 0, bytes);
        return p;
    }
};

extern "C" bool SAND_CUDA_SOLVE(const SandTextLayout *layout, const SandProblem *problem, const SandSolveDef *def,
                                SandSolution *solution, SandError *error) {
    Arena arena;
    Run run;
    if (layout->operator_bytes != sizeof(Op)) return sand_fail(error, "the layout is not that of this solver");
    memset(&run, 0, sizeof run);
    memcpy(&run.solve.op, layout->op, sizeof(Op));
    for (int k = 0; k < layout->array_count; k++) {
        void *p = arena.copy(layout->arrays[k].host, layout->arrays[k].bytes);
        memcpy((char *)&run.solve.op + layout->arrays[k].offset, &p, sizeof p);
    }
    run.solve.op.still = run.solve.op.free + run.solve.op.body_count - 1;
    size_t vector = (size_t)run.solve.op.n * SAND_ROWS * sizeof(real);
    for (int v = 0; v < SAND_MAX_VECTORS; v++) run.solve.vector[v] = (real *)arena.copy(v ? NULL : layout->start, vector);
    run.reference = (real *)arena.copy(NULL, vector);
    memcpy(run.solve.params, def->params, sizeof run.solve.params);
    run.method = def->solver;
    run.most_iterations = def->iterations;
    run.most_seconds = 1e-3 * def->budget_ms;
    run.tolerance = def->tolerance;
    run.want_metrics = solution->want_metrics;
    Run *on_device = (Run *)arena.copy(&run, sizeof run);

    int device = 0, processors = 0, fit = 0;
    if (arena.error == cudaSuccess) arena.error = cudaGetDevice(&device);
    if (arena.error == cudaSuccess)
        arena.error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (arena.error == cudaSuccess)
        arena.error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, solve_kernel, SAND_CUDA_THREADS, 0);
    int blocks = processors * (fit < 1 ? 1 : fit > 2 ? 2 : fit);
    double *partials = (double *)arena.copy(NULL, 2 * (size_t)blocks * SAND_MAX_SUMS * sizeof(double));
    void *arguments[] = {&on_device, &partials};
    if (arena.error == cudaSuccess)
        arena.error = cudaLaunchCooperativeKernel((const void *)solve_kernel, blocks, SAND_CUDA_THREADS, arguments, 0, 0);
    if (arena.error == cudaSuccess) arena.error = cudaMemcpy(&run, on_device, sizeof run, cudaMemcpyDeviceToHost);
    std::vector<real> best((size_t)run.solve.op.n * SAND_ROWS + 1);
    if (arena.error == cudaSuccess)
        arena.error = cudaMemcpy(best.data(), run.solve.vector[run.solve.best], vector, cudaMemcpyDeviceToHost);
    if (arena.error != cudaSuccess) return sand_fail(error, "CUDA: %s", cudaGetErrorString(arena.error));

    for (int64_t i = 0; i < run.solve.op.blocks; i++) {
        int64_t tile = i & ~(int64_t)(SAND_LANES - 1), lane = i - tile;
        SandVec3 *g = &solution->impulse[i];
        if (SAND_ROWS == 3)
            *g = v3_make(best[3 * tile + lane], best[3 * tile + SAND_LANES + lane], best[3 * tile + 2 * SAND_LANES + lane]);
        else
            *g = v3_scale(best[i], problem->contacts[i].normal);
    }
    solution->status = run.solve.status;
    solution->iterations = run.iterations;
    solution->seconds = run.seconds;
    solution->metrics.residual = run.measure.residual;
    solution->metrics.objective = run.measure.objective;
    solution->metrics.complementarity = run.measure.complementarity;
    return true;
}
