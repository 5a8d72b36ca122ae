// SPDX-License-Identifier: MIT
// What `sandglass converge` has measured: tables, CSV and a plot.
#pragma once
#include "app/cli/converge/converge_runs.h"

// The study of one step.
typedef struct Moment {
    double time; // s
    int contacts, bodies;
    SandGapStudy study;
} Moment;

typedef struct Convergence {
    SandGapStudyDef def;
    Moment moments[OPTIONS_MAX_NUMBERS];
    int moment_count;
    Runs runs;
} Convergence;

void converge_write_moment(const Convergence *c, const Moment *moment, const char *scene);
void converge_write_runs(const Convergence *c);
bool converge_save_csv(const Convergence *c, const char *path, SandError *error); // a line per row of both parts
// The share of the gap against products, a curve per solver and moment.
bool converge_draw(const Convergence *c, const char *title, const char *path, SandError *error);
