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
    double tolerance; // m/s
    bool solved;      // the residual is within the tolerance
    double seconds, residual;
} ProfileRow;

typedef struct Profile {
    ProfileRow *rows; // of one friction model and tolerance
    size_t count, capacity;
} Profile;

void profile_append(int descriptor, const ProfileRow *row); // one line, in one write
// Reads the lines of a friction model and tolerance; a file that is not there has none.
bool profile_load(Profile *profile, const char *path, const char *friction, double tolerance, SandError *error);
void profile_free(Profile *profile);

void profile_write_table(const Profile *profile);
void profile_write_json(const Profile *profile);
// Draws the profiles: PNG, SVG or CSV, as the path ends.
bool profile_draw(const Profile *profile, const char *path, SandError *error);
