// SPDX-License-Identifier: MIT
// How a verb of the command line ended, which is the exit status of the program.
#pragma once

typedef enum Outcome { OUTCOME_DONE = 0, OUTCOME_FAILED = 1, OUTCOME_WRONG = 2 } Outcome;
