#include "solve.h"

#include <cuda_runtime.h>

extern "C" {
typedef bool SolveText(const SandTextLayout *layout, const SandProblem *problem, const SandSolveDef *def,
                       SandSolution *solution, SandError *error);
SolveText sand_cuda_solve_1f, sand_cuda_solve_1r, sand_cuda_solve_3f, sand_cuda_solve_3r;
}

extern "C" int sand_cuda_devices(SandError *why) {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count); // leaves the count as it was when there is no driver
    if (error != cudaSuccess) return sand_fail(why, "no CUDA device: %s", cudaGetErrorString(error)), 0;
    int cooperative = 0;
    if (count > 0) cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
    if (!cooperative) return sand_fail(why, "no CUDA device that can launch a cooperative kernel"), 0;
    return count;
}

extern "C" bool sand_cuda_solve(const SandTextLayout *layout, const SandProblem *problem, int rows, const SandSolveDef *def,
                                SandSolution *solution, SandError *error) {
    bool radial = problem->radial;
    SolveText *text = rows == 1 ? (radial ? sand_cuda_solve_1r : sand_cuda_solve_1f)
                      : radial  ? sand_cuda_solve_3r
                                : sand_cuda_solve_3f;
    return text(layout, problem, def, solution, error);
}
