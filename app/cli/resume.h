// A film that goes on: the folder of its PNG frames remembers how it was made, in a small file beside them.
#pragma once
#include "app/cli/options.h"
#include "app/cli/session.h"

// Notes how the film of this call is made. What the folder had from an earlier film no longer counts.
bool resume_note(const char *folder, const Options *options, const Session *session, SandError *error);

// How many frames of this film the folder has already, whole and without a gap. False, with a sentence, when what is there
// was made otherwise.
bool resume_find(const char *folder, const Options *options, const Session *session, int64_t *frames, SandError *error);
