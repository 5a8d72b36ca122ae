// How far long work has come, on standard error: a bar on a terminal, a line now and then elsewhere.
#pragma once
#include <stdbool.h>

typedef struct Progress {
    const char *label;
    bool terminal;
    bool drawn;   // a bar stands on the terminal's last line
    double begin; // s
    double last;  // s, when something was last shown
    int said;     // sentences shown
    int unsaid;   // sentences beyond the limit, counted only
} Progress;

Progress progress_begin(const char *label);
bool progress_due(const Progress *progress); // whether it is time to show something again; cheap enough for every step
// `done` from 0 to 1; `detail` is a few words about the state.
void progress_update(Progress *progress, double done, const char *detail);
// Shows a sentence without breaking the bar. After the first 20 they are only counted, and progress_end says how many.
void progress_say(Progress *progress, const char *sentence);
void progress_end(Progress *progress);

double progress_now(void); // s, a clock that only goes forward
