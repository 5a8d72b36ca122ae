// SPDX-License-Identifier: MIT
// The table of what each option writes and under which endings, and the check of all options against it, whose sentence
// names the endings that work.
#include "app/cli/options/endings.h"

#include <string.h>
#include <sys/stat.h>

enum { MOST_ENDINGS = 4 };
#define ALL_VERBS (~0u)

// What an option writes. Exports have a table of formats of their own (app/io/export/exporter.h).
typedef struct Written {
    OptionId id;
    const char *name;
    unsigned verbs;                    // bit 1 << Verb
    const char *endings[MOST_ENDINGS]; // of a file; none: it is a folder
    const char *instead;               // of a folder: how the file is written that its name promises
} Written;

static const Written written[] = {
    {OPTION_LOG, "log", ALL_VERBS, {".csv"}, NULL},
    {OPTION_CSV, "csv", ALL_VERBS, {".csv"}, NULL},
    {OPTION_PLOT, "plot", ALL_VERBS, {".png", ".svg", ".csv"}, NULL},
    {OPTION_MP4, "mp4", ALL_VERBS, {".mp4"}, NULL},
    {OPTION_WEBM, "webm", ALL_VERBS, {".webm"}, NULL},
    {OPTION_GIF, "gif", ALL_VERBS, {".gif"}, NULL},
    {OPTION_TAKE, "take", ALL_VERBS, {".take"}, NULL},
    {OPTION_OUT, "out", 1u << VERB_FREEZE, {".sand", ".hdf5", ".h5"}, NULL},
    {OPTION_OUT, "out", 1u << VERB_RECORD | 1u << VERB_DEMO, {NULL}, "a film is written by --mp4, --webm or --gif FILE"},
    {OPTION_OUT, "out", 1u << VERB_SWEEP, {NULL}, "its table is FOLDER/table.csv"},
    {OPTION_PROBES, "probes", ALL_VERBS, {NULL}, "each probe has a file FOLDER/NAME.csv"},
    {OPTION_SOLUTIONS, "solutions", ALL_VERBS, {NULL}, "each solver has files there"},
};

// The ending of a path with its dot; empty where the name has none.
static const char *ending_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return dot && dot > name && dot[1] ? dot : "";
}

static bool is_folder(const char *path) {
    struct stat found;
    return path && stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

// How many of its endings an option takes: the sheet of a race on one problem has several plots, which only a PNG holds.
static int ending_count(const Written *w, const Options *options) {
    int count = 0;
    while (count < MOST_ENDINGS && w->endings[count]) count++;
    return w->id == OPTION_PLOT && options->verb == VERB_RACE && !is_folder(options->subject) ? 1 : count;
}

static bool check_file(const Written *w, const char *path, int count, SandError *error) {
    const char *ending = ending_of(path);
    char expected[64] = "";
    for (int k = 0; k < count; k++) {
        if (!*ending || !strcmp(ending, w->endings[k])) return true;
        size_t used = strlen(expected);
        snprintf(expected + used, sizeof expected - used, "%s%s",
                 k == 0           ? ""
                 : k == count - 1 ? " or "
                                  : ", ",
                 w->endings[k]);
    }
    return sand_fail(error, "--%s %.200s: expected a name that ends in %s", w->name, path, expected);
}

static bool check_folder(const Written *w, const char *path, SandError *error) {
    static const char *const files[] = {".mp4", ".webm", ".gif", ".avi", ".mov", ".mkv", ".png",  ".jpg",  ".jpeg",
                                        ".bmp", ".svg",  ".csv", ".txt", ".vtp", ".h5",  ".hdf5", ".take", ".sand"};
    for (size_t k = 0; k < sizeof files / sizeof *files && !is_folder(path); k++)
        if (!strcmp(ending_of(path), files[k]))
            return sand_fail(error, "--%s %.200s: expected the name of a folder; %s", w->name, path, w->instead);
    return true;
}

bool endings_check(const Options *options, SandError *error) {
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        const Written *w = &written[i];
        const OptionValue *value = &options->values[w->id];
        if (!value->given || !(w->verbs & 1u << options->verb)) continue;
        int count = ending_count(w, options);
        if (!(count ? check_file(w, value->text, count, error) : check_folder(w, value->text, error))) return false;
    }
    return true;
}
