// SPDX-License-Identifier: MIT
// The columns that an export can have: what of bodies and contacts is written, by name. One row in a table of columns.c for
// each; the help, the parser and every format are made from it.
#pragma once
#include "sandglass/simulation.h"
#include "sim/solver/contact_result.h"

typedef enum ExportSubject { EXPORT_BODIES, EXPORT_CONTACTS, EXPORT_SUBJECTS } ExportSubject;

// How a column is stored. A place is a double everywhere: differences of positions are small.
typedef enum ExportKind { EXPORT_INTEGER, EXPORT_REAL, EXPORT_PLACE } ExportKind;

// What the columns are read from: a simulation between two steps, with all that the chosen columns need of it.
typedef struct ExportSource {
    const SandWorld *world;
    const SandProblem *problem; // of the last step
    const SandSolution *solution;
    const int *order;                 // world's number of each body of the problem; NULL: there is no world
    const SandContactResult *results; // of each contact
    const double *residuals;          // m/s, of each contact
    const SandVec3 *force;            // N, on each body of the world, of its contacts
    const int *contacts;              // of each body of the world
    const double *worst;              // m/s, the largest residual of each body of the world
} ExportSource;

enum { EXPORT_NEEDS_CONTACTS = 1, EXPORT_NEEDS_RESIDUALS = 2 };

typedef struct ExportColumn {
    const char *name;
    int width; // numbers of an item
    ExportKind kind;
    bool always, preset; // written whatever is chosen; chosen where nothing is said
    unsigned needs;
    const char *unit, *about;
    void (*read)(const ExportSource *source, int item, double *numbers); // of a body of the world, or of a contact
} ExportColumn;

enum { EXPORT_MAX_COLUMNS = 16, EXPORT_MAX_WIDTH = 4 };

// The columns of a subject that are written, in the order of the table.
typedef struct ExportChoice {
    int count;
    const ExportColumn *columns[EXPORT_MAX_COLUMNS];
} ExportChoice;

// Returns the rows of a subject.
const ExportColumn *export_columns(ExportSubject subject, int *count);
// Chooses columns of bodies, and of contacts where they are wanted, from names with commas between them; NULL: the preset
// ones. A name may be that of both. Refuses names that none of the chosen subjects has.
bool export_choose(ExportChoice choice[EXPORT_SUBJECTS], const char *names, bool contacts, SandError *error);
// Adds columns of bodies that a format cannot do without; NULL: none.
void export_require(ExportChoice *bodies, const char *names);
// The columns of the solution of one problem: of its bodies position, velocity and spin, of its contacts the impulses.
void export_choose_solution(ExportChoice choice[EXPORT_SUBJECTS]);
unsigned export_needs(const ExportChoice choice[EXPORT_SUBJECTS]); // of all chosen columns
// Returns where a column is among the chosen ones, or -1.
int export_find(const ExportChoice *choice, const char *name);
