// SPDX-License-Identifier: MIT
// The watchdog of a kiosk: the process that was started waits, and a child of it shows the window. Where the child ends by
// itself with a failure, or its heart stops for a minute, another takes its place.
#pragma once
#include "app/cli/outcome.h"
#include "sandglass/error.h"

#include <stdbool.h>

typedef volatile unsigned Heart; // counts up while all is well; two processes share it

// Returns true in every child, which goes on with the program and lets its heart beat. Returns false in the watching process
// when all is over: `outcome` is that of the program. Call it before there are threads or windows.
bool watchdog_begin(Heart **heart, Outcome *outcome, SandError *error);
