// SPDX-License-Identifier: MIT
// Reading a folder: its files whose endings are those of stored problems, sorted by name.
#include "app/cli/verbs/problem_list.h"

#include "sim/core/array.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

static bool is_problem(const char *name) {
    static const char *const endings[] = {".sand", ".hdf5", ".h5", ".dat"};
    const char *dot = strrchr(name, '.');
    for (size_t k = 0; dot && k < sizeof endings / sizeof *endings; k++)
        if (!strcmp(dot, endings[k])) return true;
    return false;
}

static bool add(ProblemList *list, const char *folder, const char *name, SandError *error) {
    if (strlen(name) >= PROFILE_NAME || strpbrk(name, ",\"\r\n"))
        return sand_fail(error,
                         "%.150s/%.256s: rename it: a problem of a race has at most %d characters, no comma and no quote",
                         folder, name, PROFILE_NAME - 1);
    if (!SAND_GROW(list->items, list->capacity, list->count + 1, "problems", error)) return false;
    strcpy(list->items[list->count++], name);
    return true;
}

bool problem_list_read(ProblemList *list, const char *folder, SandError *error) {
    DIR *handle = opendir(folder);
    if (!handle) return sand_fail(error, "%.300s: cannot read this folder: %s", folder, strerror(errno));
    bool ok = true;
    for (struct dirent *entry = readdir(handle); ok && entry; entry = readdir(handle))
        if (is_problem(entry->d_name)) ok = add(list, folder, entry->d_name, error);
    closedir(handle);
    if (ok && !list->count)
        ok = sand_fail(error, "%.300s: has no stored problem (.sand, .hdf5, .dat); `tests/bench/collection` makes some",
                       folder);
    if (ok) qsort(list->items, list->count, sizeof *list->items, compare_names);
    return ok;
}

void problem_list_free(ProblemList *list) {
    sand_free(list->items);
    *list = (ProblemList){0};
}
