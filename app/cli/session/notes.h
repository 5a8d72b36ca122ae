// SPDX-License-Identifier: MIT
// Notes of how a run was made, a line for each thing that must be unchanged when it is resumed.
#pragma once
#include "sandglass/error.h"

// Compares two notes. False, with a sentence, when they differ: `what` names what is resumed, `instead` says what to do.
// `option` asks for it.
bool notes_compare(const char *option, const char *was, const char *now, const char *what, const char *instead,
                   SandError *error);
