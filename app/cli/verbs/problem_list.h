// SPDX-License-Identifier: MIT
// The stored problems of a folder, for a race over all of them.
#pragma once
#include "app/cli/verbs/profile.h"

typedef struct ProblemList {
    char (*items)[PROFILE_NAME]; // names of files, in their order
    size_t count, capacity;
} ProblemList;

// Fails where there is none, and where a name does not fit into a line of results: a problem that is left out would make
// shares of a folder that is not the one given.
bool problem_list_read(ProblemList *list, const char *folder, SandError *error);
void problem_list_free(ProblemList *list);
