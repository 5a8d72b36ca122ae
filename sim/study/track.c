// SPDX-License-Identifier: MIT
// Solving a problem on a track: on its device where the method is compiled for it and the problem has bodies, else on the
// CPU.
#include "sim/study/track.h"

bool sand_track_open(SandTrack *track, const SandBackend *backend, int threads, SandPrecision precision, SandError *error) {
    const SandDeviceDef def = {.threads = threads, .precision = precision};
    *track = (SandTrack){.backend = backend && !backend->on_host ? backend : NULL};
    track->cpu = sand_cpu_create(threads, precision, error);
    if (track->cpu && track->backend) track->device = track->backend->create(&def, error);
    return track->cpu && (track->device || !track->backend);
}

void sand_track_close(SandTrack *track) {
    if (track->device) track->backend->destroy(track->device);
    sand_cpu_free(track->cpu);
    *track = (SandTrack){0};
}

static bool is_on_device(const SandTrack *track, const SandProblem *problem, const SandSolveDef *def) {
    return track->backend && !problem->matrix && sand_solver_table[def->solver].on_cuda;
}

const char *sand_track_device(const SandTrack *track, const SandProblem *problem, const SandSolveDef *def) {
    return is_on_device(track, problem, def) ? track->backend->name : "cpu";
}

bool sand_track_solve(SandTrack *track, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                      SandError *error) {
    const SandBackend *b = track->backend;
    SandStepReport report;
    if (!is_on_device(track, problem, def)) return sand_cpu_solve(track->cpu, problem, def, solution, error);
    return b->upload_problem(track->device, problem, def, error) &&
           b->solve(track->device, def, solution->want_curve, solution->want_metrics, solution->stop, error) &&
           b->finish(track->device, &report, error) && b->read_solution(track->device, solution, error);
}
