// SPDX-License-Identifier: MIT
// Taking one run of a sweep in this process, sampling its probes on the way, and writing its line of names and its line of
// values, or the sentence by which it failed.
#include "app/cli/sweep/sweep_run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "app/cli/sweep/csv.h"
#include "app/cli/session/session.h"
#include "app/io/export/whole_file.h"

const char SWEEP_ERROR[] = "error";

// Samples of a column of a probe that has one cell.
typedef struct Samples {
    double last;   // NAN: none yet
    double sum;    // of the finite ones in the second half of the run
    int64_t count; // of those
} Samples;

// What a run has measured.
typedef struct Measured {
    Session session;
    int64_t steps;        // of the whole run
    double penetration;   // m, the largest so far
    double wall_seconds;  // of the steps
    const char *sentence; // why it failed; empty: it did not
    Samples samples[SAND_MAX_PROBES][SAND_MAX_PROBE_COLUMNS];
} Measured;

// --- steps --------------------------------------------------------------------------------------------------------

static bool is_scalar(const SandProbe *probe) { return sand_probe_cells(probe) == 1; }

static void take_sample(Samples *samples, double value, bool second_half) {
    samples->last = value;
    if (!second_half || !isfinite(value)) return;
    samples->sum += value;
    samples->count++;
}

static void read_probes(Measured *m, const SandWorld *world) {
    bool second_half = 2 * (int64_t)world->step_index > m->steps;
    for (int p = 0; p < world->probe_count; p++) {
        if (!is_scalar(&world->probes[p]) || !sand_probe_sampled(world, p)) continue;
        const double *values = sand_probe_values(world, p);
        for (int c = 0; c < sand_probe_columns(&world->probes[p]); c++)
            take_sample(&m->samples[p][c], values[c], second_half);
    }
}

static bool take_steps(Measured *m, SandError *error) {
    const SandWorld *world = sand_simulation_world(m->session.sim);
    while ((int64_t)world->step_index < m->steps && !session_interrupted()) {
        if (!session_step(&m->session, (int64_t)world->step_index, m->steps, error)) return false;
        m->penetration = fmax(m->penetration, sand_simulation_counters(m->session.sim)->penetration_max);
        read_probes(m, world);
    }
    m->wall_seconds = progress_now() - m->session.begin;
    return sand_simulation_fetch(m->session.sim, error);
}

static bool measure(Measured *m, const Options *options, SandError *error) {
    for (int p = 0; p < SAND_MAX_PROBES; p++)
        for (int c = 0; c < SAND_MAX_PROBE_COLUMNS; c++) m->samples[p][c] = (Samples){.last = NAN};
    if (session_open(&m->session, options, "sweep", error) != OUTCOME_DONE) return false;
    m->steps = session_steps(&m->session, options);
    return take_steps(m, error);
}

// --- the file -----------------------------------------------------------------------------------------------------

void sweep_run_path(char path[SWEEP_PATH], const char *folder, int run, const char *ending) {
    snprintf(path, SWEEP_PATH, "%.4000s/runs/%d.%s", folder, run + 1, ending);
}

static void write_names(const SweepGrid *grid, const SandWorld *world, FILE *out) {
    fputs("run", out);
    for (int k = 0; k < grid->axis_count; k++) {
        fputc(',', out);
        csv_put_text(out, grid->axes[k].name);
    }
    fprintf(out,
            ",%s,time_s,bodies,contacts,residual,residual_rms,solved_percent,penetration_peak_m,kinetic_energy_j,"
            "potential_energy_j,lost,left_mass_kg,wall_s,hash",
            SWEEP_ERROR);
    for (int p = 0; world && p < world->probe_count; p++)
        for (int c = 0; is_scalar(&world->probes[p]) && c < sand_probe_columns(&world->probes[p]); c++) {
            const char *probe = world->probes[p].name, *column = sand_probe_column(&world->probes[p], c);
            fprintf(out, ",%s.%s,%s.%s.mean", probe, column, probe, column);
        }
    fputc('\n', out);
}

static void write_figures(const Measured *m, const SandWorld *world, FILE *out) {
    const SandCounters *c = sand_simulation_counters(m->session.sim);
    SandEnergy energy = sand_simulation_energy(m->session.sim);
    const double figures[] = {world->time,  c->bodies,      c->contacts,    c->metrics.residual, c->metrics.residual_rms,
                              c->solved,    m->penetration, energy.kinetic, energy.potential,    c->lost_total,
                              c->left_mass, m->wall_seconds};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        fputc(',', out);
        csv_put_number(out, figures[i]);
    }
    fprintf(out, ",%016" PRIx64, sand_world_hash(world));
}

static void write_samples(const Measured *m, const SandWorld *world, FILE *out) {
    for (int p = 0; p < world->probe_count; p++)
        for (int c = 0; is_scalar(&world->probes[p]) && c < sand_probe_columns(&world->probes[p]); c++) {
            const Samples *samples = &m->samples[p][c];
            fputc(',', out);
            csv_put_number(out, samples->last);
            fputc(',', out);
            csv_put_number(out, samples->count ? samples->sum / (double)samples->count : NAN);
        }
}

static void write_values(const SweepGrid *grid, int run, const Measured *m, const SandWorld *world, FILE *out) {
    fprintf(out, "%d", run + 1);
    for (int k = 0; k < grid->axis_count; k++) {
        fputc(',', out);
        csv_put_text(out, sweep_grid_value(grid, run, k));
    }
    fputc(',', out);
    csv_put_text(out, m->sentence);
    if (world) {
        write_figures(m, world, out);
        write_samples(m, world, out);
    } else {
        fputs(",,,,,,,,,,,,,", out);
    }
    fputc('\n', out);
}

static bool write_file(const SweepGrid *grid, int run, const Measured *m, const char *folder, SandError *error) {
    const SandWorld *world = m->session.sim ? sand_simulation_world(m->session.sim) : NULL;
    char path[SWEEP_PATH];
    WholeFile file;
    sweep_run_path(path, folder, run, "csv");
    if (!whole_file_begin(&file, path, error)) return false;
    write_names(grid, world, file.out);
    write_values(grid, run, m, world, file.out);
    return whole_file_end(&file, true, error);
}

bool sweep_run_take(const SweepGrid *grid, int run, const Options *options, const char *folder, SandError *error) {
    static Measured m; // with a place for every probe; a process takes one run
    static SweepPoint point;
    SandError why = {""};
    bool done = sweep_grid_point(grid, run, options, &point, &why) && measure(&m, &point.options, &why);
    m.sentence = done ? "" : why.text;
    bool written = session_interrupted() || write_file(grid, run, &m, folder, error);
    session_close(&m.session, OUTCOME_DONE, &why);
    return written;
}

bool sweep_run_fail(const SweepGrid *grid, int run, const char *folder, const char *sentence, SandError *error) {
    static Measured nothing;
    nothing.sentence = sentence;
    return write_file(grid, run, &nothing, folder, error);
}
