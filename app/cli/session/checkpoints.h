// SPDX-License-Identifier: MIT
// Checkpoints of a run (--checkpoint, --checkpoint-every) and going on from one (--resume): the file, the notes in it that
// must be unchanged, and what the program itself counts from step to step.
#pragma once
#include "app/cli/options/options.h"
#include "app/cli/session/session.h"
#include "sim/step/checkpoint.h"

// The largest penetrations of a run, m.
typedef struct Peak {
    double all, walls;
} Peak;

typedef struct Checkpoints {
    const char *path;     // NULL: none are written
    uint64_t every_steps; // 0: by the clock
    double every_seconds; // s of the clock
    double last;          // s, when the last one was written
    char *origin;         // what the run started from
    SandCheckpoint state; // scratch
    bool failing;         // the last one could not be written, and that was said
} Checkpoints;

// Reads the options and notes what the run starts from, before its first step. Call checkpoints_close whatever comes.
bool checkpoints_open(Checkpoints *checkpoints, const Options *options, const Session *session, SandError *error);
// Brings the session, its log and the peaks to where the file was written. False, with a sentence, when the file is that of
// another run.
bool checkpoints_resume(Checkpoints *checkpoints, Session *session, Peak *peak, SandError *error);
bool checkpoints_due(const Checkpoints *checkpoints, const Session *session); // cheap enough for every step
// Writes the file anew. A failure is said once, and the run goes on: the file before it is still there.
void checkpoints_write(Checkpoints *checkpoints, Session *session, const Peak *peak);
void checkpoints_close(Checkpoints *checkpoints);
