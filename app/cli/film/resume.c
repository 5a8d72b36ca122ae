// SPDX-License-Identifier: MIT
// The note beside the frames of a film, .sandglass-film: the options and hashes that must be unchanged to resume.
#include "app/cli/film/resume.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/session/notes.h"
#include "app/io/recorder.h"

enum { PATH = 4096 };

static void note_path(char path[PATH], const char *folder) { snprintf(path, PATH, "%s/.sandglass-film", folder); }

// Composes the note (malloc): the options, and the hashes of the initial world and of the take.
static char *make_note(const Options *options, const Session *session, SandError *error) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        options_write_film(options, out);
        fprintf(out, "world %016" PRIx64 "\n", sand_world_hash(sand_simulation_world(session->sim)));
        if (session->has_take) fprintf(out, "take %016" PRIx64 "\n", session->take.text_hash);
        if (fclose(out) == 0) return text;
    }
    free(text);
    return sand_fail(error, "out of memory for the note of a film"), NULL;
}

bool resume_note(const char *folder, const Options *options, const Session *session, SandError *error) {
    char path[PATH];
    note_path(path, folder);
    char *text = make_note(options, session, error);
    if (!text) return false;
    FILE *file = fopen(path, "w");
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) written = false;
    free(text);
    return written || sand_fail(error, "%.300s: %s", path, strerror(errno));
}

// Reads a whole note (malloc).
static char *read_note(FILE *file) {
    char *text = NULL;
    size_t size = 0;
    if (getdelim(&text, &size, '\0', file) >= 0) return text;
    free(text);
    return NULL;
}

static bool compare(const char *path, FILE *file, const char *text, const char *folder, SandError *error) {
    char *was = read_note(file);
    bool same = was ? notes_compare("resume", was, text, folder, "film into another folder", error)
                    : sand_fail(error, "%.300s: is cut off; film into another folder", path);
    free(was);
    return same;
}

static bool is_later(const struct stat *a, const struct stat *b) {
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec;
}

bool resume_find(const char *folder, const Options *options, const Session *session, int64_t *frames, SandError *error) {
    char path[PATH], frame[PATH];
    struct stat note, about;
    *frames = 0;
    note_path(path, folder);
    recorder_frame_path(frame, sizeof frame, folder, 0);
    bool any = stat(frame, &about) == 0;
    FILE *file = fopen(path, "r");
    if (!file && any)
        return sand_fail(error, "--resume: %.200s has frames, and no note of how they were filmed; film into another folder",
                         folder);
    if (!file) return true; // a new film
    char *text = make_note(options, session, error);
    bool same = text && compare(path, file, text, folder, error) && fstat(fileno(file), &note) == 0;
    free(text);
    fclose(file);
    if (!same) return false;
    // Frames older than the note are from another film.
    for (;; ++*frames) {
        recorder_frame_path(frame, sizeof frame, folder, *frames);
        if (stat(frame, &about) != 0 || !is_later(&about, &note)) return true;
    }
}
