// SPDX-License-Identifier: MIT
// The progress bar, and the limit on repeated messages.
#include "app/cli/session/progress.h"

#include "sim/core/hash.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 16, SENTENCES = 20 };

static bool silent;

void progress_silence(void) { silent = true; }

double progress_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

Progress progress_begin(const char *label) {
    double now = progress_now();
    return (Progress){.label = label, .terminal = isatty(STDERR_FILENO), .begin = now, .last = now};
}

// Ten updates a second on a terminal, one line in ten seconds in a file.
bool progress_due(const Progress *progress) {
    return !silent && progress_now() - progress->last >= (progress->terminal ? 0.1 : 10);
}

static int terminal_width(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void erase_bar(Progress *progress) {
    if (progress->drawn) fputs("\r\033[K", stderr);
    progress->drawn = false;
}

void progress_update(Progress *progress, double done, const char *detail) {
    double now = progress_now();
    progress->last = now;
    done = done < 0 ? 0 : done > 1 ? 1 : done;
    char left[32] = "";
    if (done > 0.01) {
        int seconds = (int)((now - progress->begin) * (1 - done) / done + 0.5);
        if (seconds < 60)
            snprintf(left, sizeof left, ", %d s left", seconds);
        else
            snprintf(left, sizeof left, ", %d:%02d min left", seconds / 60, seconds % 60);
    }

    char line[512];
    if (progress->terminal) {
        char bar[BAR + 1];
        for (int i = 0; i < BAR; i++) bar[i] = i < (int)(done * BAR) ? '#' : '.';
        bar[BAR] = '\0';
        snprintf(line, sizeof line, "%s [%s] %3.0f %%%s  %s", progress->label, bar, 100 * done, left, detail);
        // A line longer than the terminal would wrap, and could not be erased.
        fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, line);
        progress->drawn = true;
    } else {
        fprintf(stderr, "%s: %.0f %%%s, %s\n", progress->label, 100 * done, left, detail);
    }
    fflush(stderr);
}

// Hashes a sentence without its digits.
static uint64_t hash_words(const char *sentence) {
    uint64_t hash = SAND_HASH_BEGIN;
    for (const char *c = sentence; *c; c++)
        if (*c < '0' || *c > '9') hash = sand_hash(hash, (unsigned char)*c);
    return hash;
}

static ProgressKind *find_kind(Progress *progress, const char *sentence) {
    uint64_t hash = hash_words(sentence);
    int k = 0;
    while (k < PROGRESS_KINDS - 1 && progress->kinds[k].said && progress->kinds[k].hash != hash) k++;
    progress->kinds[k].hash = hash;
    return &progress->kinds[k];
}

void progress_say(Progress *progress, const char *sentence) {
    if (silent) return;
    ProgressKind *kind = find_kind(progress, sentence);
    if (kind->said == SENTENCES) {
        progress->unsaid++;
        return;
    }
    erase_bar(progress);
    fprintf(stderr, "sandglass: %s\n", sentence);
    if (++kind->said == SENTENCES) fprintf(stderr, "sandglass: from here on such messages are only counted\n");
}

void progress_end(Progress *progress) {
    erase_bar(progress);
    if (progress->unsaid) fprintf(stderr, "sandglass: %d messages were not shown\n", progress->unsaid);
    progress->unsaid = 0;
}
