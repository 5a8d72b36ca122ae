// SPDX-License-Identifier: MIT
// Saving the solution of each solver of a race: HDF5 and CSV always, .vtp where the problem has bodies to show.
#include "app/cli/verbs/solutions.h"

#include "app/io/export/format.h"
#include "app/io/export/vtp.h"
#include "sim/solver/contact_result.h"
#include "sim/solver/reference/fclib.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool solutions_is_hdf5(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".hdf5") || !strcmp(dot, ".h5"));
}

// Bodies and contacts for ParaView; a stored matrix has no bodies.
static bool save_vtp(const SandProblem *problem, const SandRaceEntry *entry, const char *folder, SandError *error) {
    ExportFrame frame = {0};
    Vtp vtp = {0};
    if (problem->matrix) return true;
    bool saved = export_capture_solution(&frame, problem, &entry->solution, error);
    for (int subject = 0; saved && subject < EXPORT_SUBJECTS; subject++) {
        char path[EXPORT_PATH];
        snprintf(path, sizeof path, "%.3900s/%s-%s.vtp", folder, sand_solver_table[entry->solver].name,
                 export_subject_names[subject]);
        saved = vtp_write(&vtp, path, &frame, &frame.tables[subject], error);
    }
    export_frame_free(&frame);
    vtp_free(&vtp);
    return saved;
}

bool solutions_save(const Options *options, const SandRace *race, const SandProblem *problem, SandError *error) {
    if (!options->values[OPTION_SOLUTIONS].given) return true;
    const char *folder = options->values[OPTION_SOLUTIONS].text;
    SandFclibForm form = options->values[OPTION_GLOBAL].given ? SAND_FCLIB_GLOBAL : SAND_FCLIB_LOCAL;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return sand_fail(error, "%.200s: cannot make this folder: %s", folder, strerror(errno));
    for (int i = 0; i < race->count; i++) {
        const SandRaceEntry *entry = &race->entries[i];
        char path[4096];
        if (!entry->ran) continue;
        snprintf(path, sizeof path, "%.3900s/%s.hdf5", folder, sand_solver_table[entry->solver].name);
        if (!sand_fclib_save(problem, &entry->solution, form, path, error)) return false;
        snprintf(path, sizeof path, "%.3900s/%s.csv", folder, sand_solver_table[entry->solver].name);
        if (!sand_solution_save_csv(problem, &entry->solution, path, error)) return false;
        if (!save_vtp(problem, entry, folder, error)) return false;
    }
    return true;
}
