// SPDX-License-Identifier: MIT
// Endings of the files that options name: what is written must be what the name says, which is checked before anything is
// computed.
#pragma once
#include "app/cli/options/options.h"

// Refuses a name whose ending is that of another format, and a folder that is named as a file.
bool endings_check(const Options *options, SandError *error);
