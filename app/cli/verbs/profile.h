// SPDX-License-Identifier: MIT
// Results of solvers over many problems, a CSV file with a line per solve, and what is made of them: a table by problem, and
// performance profiles (Dolan and More 2002): the share of problems that a solver has solved within a multiple of the time
// of the best solver of each problem.
#pragma once
#include "sandglass/error.h"

#include <stddef.h>

enum { PROFILE_NAME = 128, PROFILE_MOST_SOLVERS = 32 };

typedef struct ProfileRow {
    char problem[PROFILE_NAME], friction[24], solver[32], status[32];
    int contacts, iterations;
    double tolerance;                   // m/s, or without dimension where it is of the relative residual; 0: an accuracy
    double accuracy;                    // percent, in place of a tolerance; 0: none
    bool is_relative, solved;           // solved: the residual that the tolerance is about is within it
    double seconds, residual, relative; // residual: m/s
} ProfileRow;

// What the rows that are compared with each other have in common.
typedef struct ProfileKind {
    const char *friction;
    double tolerance, accuracy; // one of them is 0
    bool is_relative;
} ProfileKind;

typedef struct Profile {
    ProfileRow *rows; // of one kind
    size_t count, capacity;
} Profile;

void profile_append(int descriptor, const ProfileRow *row); // one line, in one write
// Reads the lines of a kind; a file that is not there has none.
bool profile_load(Profile *profile, const char *path, ProfileKind kind, SandError *error);
void profile_free(Profile *profile);

void profile_write_table(const Profile *profile);
void profile_write_json(const Profile *profile);
// Draws the profiles: PNG, SVG or CSV, as the path ends.
bool profile_draw(const Profile *profile, const char *path, SandError *error);
