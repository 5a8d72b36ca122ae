// How far long work has come, on standard error: a bar on a terminal, a line now and then elsewhere.
#pragma once
#include <stdbool.h>
#include <stdint.h>

// Sentences that differ in their numbers alone.
typedef struct ProgressKind {
    uint64_t hash; // of the words
    int said;
} ProgressKind;

enum { PROGRESS_KINDS = 16 }; // that are told apart; those after them count as one

typedef struct Progress {
    const char *label;
    bool terminal;
    bool drawn;                         // a bar stands on the terminal's last line
    double begin;                       // s
    double last;                        // s, when something was last shown
    ProgressKind kinds[PROGRESS_KINDS]; // of what was said, in the order in which they came
    int unsaid;                         // sentences beyond the limit, counted only
} Progress;

Progress progress_begin(const char *label);
bool progress_due(const Progress *progress); // whether it is time to show something again; cheap enough for every step
// `done` from 0 to 1; `detail` is a few words about the state.
void progress_update(Progress *progress, double done, const char *detail);
// Shows a sentence without breaking the bar. After the first 20 that differ in numbers alone they are only counted, and
// progress_end says how many.
void progress_say(Progress *progress, const char *sentence);
void progress_end(Progress *progress);

double progress_now(void); // s, a clock that only goes forward
