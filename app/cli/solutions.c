#include "app/cli/solutions.h"

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
    }
    return true;
}
