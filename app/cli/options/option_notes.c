// SPDX-License-Identifier: MIT
// Notes of the options that decide what is computed: unchanged, a film or a sweep goes on; else it is refused.
#include "app/cli/options/option_table.h"

static bool is_among(int id, const OptionId *ids, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (id == (int)ids[k]) return true;
    return false;
}

static void write_list(const char *name, const OptionList *list, FILE *out) {
    for (int i = 0; i < list->count; i++) fprintf(out, "--%s %s\n", name, list->items[i]);
}

void options_write_film(const Options *options, FILE *out) {
    static const OptionId apart[] = {OPTION_OUT,
                                     OPTION_FRAMES,
                                     OPTION_SECONDS,
                                     OPTION_MP4,
                                     OPTION_WEBM,
                                     OPTION_GIF,
                                     OPTION_THREADS,
                                     OPTION_LOG,
                                     OPTION_RESUME,
                                     OPTION_BACKEND,
                                     OPTION_EXPORT,
                                     OPTION_EXPORT_COLUMNS,
                                     OPTION_EXPORT_CONTACTS,
                                     OPTION_EXPORT_RATE,
                                     OPTION_PROBE,
                                     OPTION_PROBES};
    fprintf(out, "scene %s\n", options->subject ? options->subject : "");
    for (int id = 0; id < OPTION_COUNT; id++) {
        bool counts = option_table[id].verbs & 1u << VERB_RECORD && options->values[id].text && id != OPTION_SET &&
                      id != OPTION_CAMERA_KEY;
        counts = counts && !is_among(id, apart, sizeof apart / sizeof *apart);
        if (counts) fprintf(out, "--%s %s\n", option_table[id].name, options->values[id].text);
    }
    write_list("set", &options->sets, out);
    write_list("camera-key", &options->camera_keys, out);
}

void options_write_sweep(const Options *options, FILE *out) {
    static const OptionId apart[] = {OPTION_OUT,  OPTION_JOBS,  OPTION_THREADS, OPTION_PLOT,  OPTION_COLUMN,
                                     OPTION_TASK, OPTION_TASKS, OPTION_SET,     OPTION_PROBE, OPTION_VARY};
    fprintf(out, "scene %s\n", options->subject);
    for (int id = 0; id < OPTION_COUNT; id++) {
        bool counts = option_table[id].verbs & 1u << VERB_SWEEP && options->values[id].given;
        if (counts && !is_among(id, apart, sizeof apart / sizeof *apart))
            fprintf(out, "--%s %s\n", option_table[id].name, options->values[id].text);
    }
    write_list("set", &options->sets, out);
    write_list("probe", &options->probes, out);
    write_list("vary", &options->varied, out);
}
