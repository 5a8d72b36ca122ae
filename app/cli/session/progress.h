// SPDX-License-Identifier: MIT
// Progress of a long run on standard error: a bar on a terminal, a line now and then elsewhere.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Messages that differ in their numbers only.
typedef struct ProgressKind {
    uint64_t hash; // of the text without digits
    int said;
} ProgressKind;

enum { PROGRESS_KINDS = 16 }; // that are distinguished; further ones count as one

typedef struct Progress {
    const char *label;
    bool terminal;
    bool drawn;                         // a bar is on the last line of the terminal
    double begin;                       // s
    double last;                        // s, of the last update
    ProgressKind kinds[PROGRESS_KINDS]; // of messages, in order of appearance
    int unsaid;                         // messages beyond the limit, only counted
} Progress;

Progress progress_begin(const char *label);
void progress_silence(void);                 // nothing is printed from now on: another process does
bool progress_due(const Progress *progress); // whether an update is due; cheap enough for every step
// `done`: 0 to 1; `detail`: a few words about the state.
void progress_update(Progress *progress, double done, const char *detail);
// Prints a message without breaking the bar. After 20 messages that differ in their numbers only, further ones are counted,
// and progress_end prints how many.
void progress_say(Progress *progress, const char *sentence);
void progress_end(Progress *progress);

double progress_now(void); // s, monotonic clock
