// SPDX-License-Identifier: MIT
// The CSV log: its header, and one line per step.
#include "app/cli/session/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "app/io/json.h"

static void write_header(Log *log) {
    fputs("step,time_s,bodies,contacts,warm_started,iterations,status,residual,residual_rms,objective,penetration_max_m,"
          "penetration_walls_m,kinetic_energy_j,potential_energy_j,collide_ms,warm_start_ms,build_ms,solve_ms,integrate_ms,"
          "step_ms,host_bytes,solved_percent,asleep,solved_contacts,entered,left,left_mass_kg,joint_rows,islands,"
          "islands_solved,islands_rms,factorizations\n",
          log->file);
}

bool log_open(Log *log, const char *path, bool resumes, SandError *error) {
    log->path = path;
    log->file = resumes ? fopen(path, "r+") : NULL;
    bool kept = log->file != NULL;
    if (!kept) log->file = fopen(path, "w");
    if (!log->file) return sand_fail(error, "--log %s: %s", path, strerror(errno));
    if (!kept) write_header(log);
    return true;
}

int64_t log_flush(Log *log) {
    if (!log->file) return 0;
    return fflush(log->file) == 0 ? (int64_t)ftello(log->file) : -1;
}

bool log_resume(Log *log, int64_t bytes, SandError *error) {
    if (!log->file) return true;
    bool found = fflush(log->file) == 0 && fseeko(log->file, 0, SEEK_END) == 0;
    int64_t size = found ? (int64_t)ftello(log->file) : -1;
    if (size < bytes)
        return sand_fail(
            error, "--log %s: has %" PRId64 " bytes, and %" PRId64 " were written up to the checkpoint; name that file",
            log->path, size, bytes);
    if (ftruncate(fileno(log->file), (off_t)bytes) != 0 || fseeko(log->file, (off_t)bytes, SEEK_SET) != 0)
        return sand_fail(error, "--log %s: %s", log->path, strerror(errno));
    if (bytes == 0) write_header(log); // the run was not logged before
    return true;
}

bool log_step(Log *log, const SandSimulation *sim, SandError *error) {
    if (!log->file) return true;
    const SandWorld *world = sand_simulation_world(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    const SandProfile *p = sand_simulation_profile(sim);
    SandEnergy energy = sand_simulation_energy(sim);
    char number[JSON_NUMBER];
    fprintf(log->file, "%" PRIu64 ",%s,%d,%d,%d,%d,%s", world->step_index, json_shortest(world->time, number), c->bodies,
            c->contacts, c->warm_started, c->iterations, sand_status_text(c->status));
    const double figures[] = {c->metrics.residual,  c->metrics.residual_rms, c->metrics.objective, c->penetration_max,
                              c->penetration_walls, energy.kinetic,          energy.potential};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        fprintf(log->file, ",%s", json_shortest(figures[i], number));
    fprintf(log->file, ",%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%" PRIu64 ",%s,%d,%d", p->collide, p->warm_start, p->build, p->solve,
            p->integrate, p->step, p->downloaded, json_shortest(c->solved, number), c->asleep, c->solved_contacts);
    fprintf(log->file, ",%" PRId64 ",%" PRId64 ",%s,%d", c->entered_total, c->left_total,
            json_shortest(c->left_mass, number), c->joint_rows);
    fprintf(log->file, ",%d,%d,%s,%d\n", c->islands.count, c->islands.solved, json_shortest(c->islands.rms, number),
            c->islands.factorizations);
    if (ferror(log->file)) return sand_fail(error, "--log %s: %s", log->path, strerror(errno));
    return true;
}

bool log_close(Log *log, SandError *error) {
    if (!log->file) return true;
    bool written = !ferror(log->file);
    written = fclose(log->file) == 0 && written;
    log->file = NULL;
    return written || sand_fail(error, "--log %s: not everything could be written: %s", log->path, strerror(errno));
}
