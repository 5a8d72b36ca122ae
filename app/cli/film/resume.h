// SPDX-License-Identifier: MIT
// Resuming a film (--resume): a small file beside the PNG frames records how they were made.
#pragma once
#include "app/cli/options/options.h"
#include "app/cli/session/session.h"

// Records how this film is made. Frames that are already in the folder no longer count.
bool resume_note(const char *folder, const Options *options, const Session *session, SandError *error);

// Counts the frames of this film that the folder already has, complete and without a gap. False, with a sentence, when they
// were made with other options.
bool resume_find(const char *folder, const Options *options, const Session *session, int64_t *frames, SandError *error);
