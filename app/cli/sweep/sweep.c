// SPDX-License-Identifier: MIT
// `sandglass sweep`: a scene for every point of a grid. Each run is a process of its own and leaves a file in the folder of
// the sweep; the table is made from those files, so that a sweep that was killed goes on where it was, and the runs may as
// well be the tasks of a batch system.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/session/notes.h"
#include "app/cli/sweep/sweep_jobs.h"
#include "app/cli/sweep/sweep_plot.h"
#include "app/cli/sweep/sweep_run.h"
#include "sim/world/world_key.h"

typedef struct Sweep {
    Options options; // of all runs
    SweepGrid grid;
    SweepTable table;
    const char *folder;
} Sweep;

// --- the call -----------------------------------------------------------------------------------------------------

// The cores are for the runs: each has one thread, and none takes the GPU unless --backend asks for it.
static bool set_defaults(Options *options, SandError *error) {
    const OptionValue *values = options->values;
    return (values[OPTION_THREADS].given || options_set(options, OPTION_THREADS, "1", error)) &&
           (values[OPTION_BACKEND].given || options_set(options, OPTION_BACKEND, "cpu", error));
}

static bool check_names(const Sweep *s, SandError *error) {
    SandScene scene = {0};
    SandSceneOptions options = session_scene_options(&s->options);
    if (take_is(s->options.subject))
        return sand_fail(error, "sweep %.200s: a take is replayed as it was; give its scene", s->options.subject);
    bool ok = sand_scene_open(&scene, s->options.subject, &options, error) && sweep_grid_check(&s->grid, &scene, error);
    sand_scene_free(&scene);
    return ok;
}

static bool check_task(const Sweep *s, SandError *error) {
    const OptionValue *task = &s->options.values[OPTION_TASK];
    return !task->given || task->integer <= s->grid.count ||
           sand_fail(error, "--task %s: the sweep has %d runs", task->text, s->grid.count);
}

static bool read_call(Sweep *s, const Options *options, SandError *error) {
    s->options = *options;
    s->folder = options->values[OPTION_OUT].text;
    if (s->folder && strlen(s->folder) > 4000) return sand_fail(error, "--out: the path is too long");
    return sweep_grid_read(&s->grid, options, error) && set_defaults(&s->options, error) && check_names(s, error) &&
           check_task(s, error);
}

// --- notes --------------------------------------------------------------------------------------------------------

// A key of the world of the first run, for what the options do not say: an edited scene. 0 where that run cannot start.
static uint64_t first_key(const Sweep *s) {
    SweepPoint *point = malloc(sizeof *point);
    SandScene scene = {0};
    SandError ignored;
    uint64_t key = 0;
    if (point && sweep_grid_point(&s->grid, 0, &s->options, point, &ignored)) {
        SandSceneOptions options = session_scene_options(&point->options);
        if (sand_scene_open(&scene, s->options.subject, &options, &ignored) && sand_scene_build(&scene, &ignored))
            key = sand_world_key(&scene.world);
        sand_scene_free(&scene);
    }
    free(point);
    return key;
}

static char *make_notes(const Sweep *s, SandError *error) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        options_write_sweep(&s->options, out);
        fprintf(out, "sandglass %s, compiled by %s\nscene with key %016" PRIx64 "\n", sand_version(), __VERSION__,
                first_key(s));
        if (fclose(out) == 0) return text;
    }
    free(text);
    return sand_fail(error, "out of memory for the notes of a sweep"), NULL;
}

// Writes the notes whole, under a name of their own first: the tasks of a batch system start at the same time.
static bool write_notes(const char *path, const char *text, SandError *error) {
    char part[SWEEP_PATH + 16];
    snprintf(part, sizeof part, "%s.XXXXXX", path);
    int descriptor = mkstemp(part);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) written = false;
    if (written && rename(part, path) == 0) return true;
    sand_fail(error, "%.300s: %s", path, strerror(errno));
    if (descriptor >= 0) unlink(part);
    return false;
}

static bool compare_notes(const Sweep *s, const char *path, FILE *file, const char *text, SandError *error) {
    char *was = NULL;
    size_t size = 0;
    bool same = getdelim(&was, &size, '\0', file) >= 0
                    ? notes_compare("out", was, text, s->folder, "sweep into another folder", error)
                    : sand_fail(error, "%.300s: is empty; sweep into another folder", path);
    free(was);
    return same;
}

static bool make_folder(const char *path, SandError *error) {
    return mkdir(path, 0777) == 0 || errno == EEXIST || sand_fail(error, "--out %.300s: %s", path, strerror(errno));
}

// Makes the folder, or finds that what it has is of this sweep.
static bool open_folder(const Sweep *s, SandError *error) {
    char path[SWEEP_PATH], runs[SWEEP_PATH];
    snprintf(path, sizeof path, "%.4000s/sweep.notes", s->folder);
    snprintf(runs, sizeof runs, "%.4000s/runs", s->folder);
    char *text = make_notes(s, error);
    if (!text || !make_folder(s->folder, error)) return free(text), false;
    FILE *file = fopen(path, "r");
    bool ok;
    if (file)
        ok = compare_notes(s, path, file, text, error);
    else if (access(runs, F_OK) == 0)
        ok = sand_fail(error, "--out %.200s: has runs, and no notes of how they were made; sweep into another folder",
                       s->folder);
    else
        ok = write_notes(path, text, error);
    if (file) fclose(file);
    free(text);
    return ok && make_folder(runs, error);
}

// --- runs ---------------------------------------------------------------------------------------------------------

static SweepJobs plan_jobs(Sweep *s) {
    const OptionValue *values = s->options.values, *task = &values[OPTION_TASK];
    Options all_cores = {0};
    int share = session_threads(&all_cores) / session_threads(&s->options);
    return (SweepJobs){.grid = &s->grid,
                       .options = &s->options,
                       .table = &s->table,
                       .at_once = values[OPTION_JOBS].given ? (int)values[OPTION_JOBS].integer
                                  : share > 1               ? share
                                                            : 1,
                       .first = task->given ? (int)task->integer - 1 : 0,
                       .count = task->given ? 1 : s->grid.count,
                       .saves = !task->given};
}

// Says how the sweep ended; a run that failed is a failure of the sweep.
static bool tell_end(const Sweep *s, const SweepJobs *jobs, SandError *error) {
    char sentence[SAND_SENTENCE];
    int first = 0, failed = sweep_table_failed(&s->table, &first, sentence, sizeof sentence);
    if (!jobs->saves && sweep_table_has(&s->table, jobs->first)) return true; // other tasks are not this one's
    if (!failed) return fprintf(stderr, "%s: %d runs, %s/table.csv\n", s->options.subject, jobs->count, s->folder), true;
    return sand_fail(error, "%d of %d runs failed; run %d: %.400s", failed, s->grid.count, first + 1, sentence);
}

static bool draw(const Sweep *s, SandError *error) {
    const OptionValue *values = s->options.values;
    char title[160];
    if (!values[OPTION_PLOT].given) return true;
    if (values[OPTION_SEEDS].given)
        snprintf(title, sizeof title, "%.80s: mean of %s seeds, bars of one standard deviation", s->options.subject,
                 values[OPTION_SEEDS].text);
    else
        snprintf(title, sizeof title, "%.80s", s->options.subject);
    return sweep_plot_save(&s->table, &s->grid, title, values[OPTION_COLUMN].text, values[OPTION_PLOT].text, error);
}

static Outcome take_runs(Sweep *s, SandError *error) {
    if (!open_folder(s, error)) return OUTCOME_WRONG;
    if (!sweep_table_open(&s->table, &s->grid, s->folder, error)) return OUTCOME_FAILED;
    SweepJobs jobs = plan_jobs(s);
    SandError saving;
    bool taken = sweep_jobs_take(&jobs, error);
    bool saved = !jobs.saves || sweep_table_save(&s->table, taken ? error : &saving);
    return taken && saved && draw(s, error) && tell_end(s, &jobs, error) ? OUTCOME_DONE : OUTCOME_FAILED;
}

Outcome sweep_scene(const Options *options, SandError *error) {
    Sweep *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for a sweep"), OUTCOME_FAILED;
    Outcome outcome = OUTCOME_WRONG;
    if (read_call(s, options, error)) {
        if (options->values[OPTION_TASKS].given)
            outcome = printf("%d\n", s->grid.count) > 0 ? OUTCOME_DONE : OUTCOME_FAILED;
        else
            outcome = take_runs(s, error);
    }
    sweep_table_free(&s->table);
    sweep_grid_free(&s->grid);
    free(s);
    return outcome;
}
