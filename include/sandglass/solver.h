// SPDX-License-Identifier: MIT
// The solvers as a caller sees them: one table with a row for each method, its parameters, and what it can do.
#pragma once
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandFriction {
    SAND_FRICTIONLESS,
    SAND_FRICTION_BOX,
    SAND_FRICTION_PYRAMID,
    SAND_FRICTION_POLYHEDRAL,
    SAND_FRICTION_PRISM,
    SAND_FRICTION_CONE,
    SAND_FRICTION_CYLINDER,
    SAND_FRICTION_COULOMB,
    SAND_FRICTION_COUNT
} SandFriction;
typedef enum SandPrecision { SAND_FLOAT, SAND_DOUBLE } SandPrecision;

// The set of a contact's impulses cut across the normal: the square [-r, r]^2, a regular polygon whose corners lie on the
// circle of radius r, or a disc of radius r.
typedef enum SandSection { SAND_POINT, SAND_SQUARE, SAND_POLYGON, SAND_DISC } SandSection;

// What r is: mu times the normal impulse, a bound that does not follow it, or mu times the normal impulse with the
// normal velocity that Coulomb's law asks for.
typedef enum SandSet { SAND_SET_CONE, SAND_SET_CYLINDER, SAND_SET_LAW } SandSet;

typedef struct SandFrictionRow {
    const char *name;
    const char *text; // one line for people
    SandSection section;
    SandSet set;
} SandFrictionRow;
SAND_API extern const SandFrictionRow sand_friction_table[SAND_FRICTION_COUNT];

// Where the bounds of box, prism and cylinder come from. With the last two they end as Coulomb's law asks.
typedef enum SandBounds { SAND_BOUNDS_PRESOLVE, SAND_BOUNDS_OUTSIDE, SAND_BOUNDS_INSIDE, SAND_BOUNDS_COUNT } SandBounds;
typedef struct SandBoundsRow {
    const char *name, *text;
} SandBoundsRow;
SAND_API extern const SandBoundsRow sand_bounds_table[SAND_BOUNDS_COUNT];

enum { SAND_MAX_PARAMS = 8, SAND_MAX_FACETS = 32 };

typedef enum SandParamKind { SAND_PARAM_REAL, SAND_PARAM_INTEGER, SAND_PARAM_CHOICE } SandParamKind;

// One parameter of a method: enough to make a slider, a command line option and a line of help from.
typedef struct SandParam {
    const char *name;
    SandParamKind kind;
    double value, least, most;  // default and limits; for a choice the value is an index
    const char *text;           // what raising it does
    const char *const *choices; // NULL-terminated names, for a choice
} SandParam;

typedef struct SandSolver {
    const char *name;
    const char *paper;                 // where it comes from, with equation numbers
    const char *idea;                  // one line
    const char *weakness;              // one line: what it is bad at
    unsigned friction;                 // bit 1 << SandFriction for each model it can do; and those below
    bool on_cuda;                      // whether it is compiled for CUDA as well
    int vectors;                       // solver vectors it uses
    unsigned owns, needs;              // for the library: what its driver does for it
    bool assembled;                    // it needs N as a matrix, and is in the reference library
    SandParam params[SAND_MAX_PARAMS]; // ended by a NULL name
} SandSolver;

// Among the bits of the friction models: the method can change the bounds of friction inside the iteration.
#define SAND_ADAPTS (1u << SAND_FRICTION_COUNT)
// And that it solves a stored N that is not symmetric: it minimizes nothing, and needs no symmetry to converge.
#define SAND_UNSYMMETRIC (2u << SAND_FRICTION_COUNT)
// And that it solves another problem in place of this one: its residual does not go to zero, however large the budget.
#define SAND_INEXACT (4u << SAND_FRICTION_COUNT)
// And that it cannot do joints, whose rows are bounded on both sides or on none.
#define SAND_CONTACTS_ONLY (8u << SAND_FRICTION_COUNT)
// And that it can do rolling and spinning friction, with the cone and with Coulomb's law.
#define SAND_ROLLS (16u << SAND_FRICTION_COUNT)

// How to get the methods that a build may lack.
#define SAND_PETSC_WANTED "it needs petsc-dev and -DSAND_PETSC=ON"
#define SAND_REFERENCE_WANTED "it is one of the reference methods, which need AMD, METIS and -DSAND_REFERENCE=ON"

// Makes the reference methods available (interior point, semismooth Newton, multigrid, and those of PETSc where it was built
// in), and the reader of FCLIB files. Defined in the reference library: call it once at the start of a program that links
// it.
SAND_API void sand_reference_enable(void);

SAND_API extern const SandSolver sand_solver_table[];
SAND_API int sand_solver_count(void); // rows that are available: all kernels, and what sand_reference_enable has added
SAND_API extern const int sand_solver_known;   // all rows; those from sand_solver_count() on are not available
SAND_API extern const int sand_solver_default; // index of p-spg-fb, what a real-time step uses

SAND_API int sand_solver_find(const char *name);    // index of an available row, or -1
SAND_API int sand_friction_find(const char *name);  // index, or -1
SAND_API int sand_bounds_find(const char *name);    // index, or -1
SAND_API bool sand_solver_absent(const char *name); // whether it is the name of a method that this build is without
// False, with a sentence why there is no such method; `option` is where the name was given, "" or as in "--solver ".
SAND_API bool sand_solver_refuse(const char *option, const char *name, SandError *error);
SAND_API bool sand_friction_refuse(const char *option, const char *name, SandError *error); // the same of a friction model
SAND_API bool sand_solver_can(int solver, SandFriction friction);                           // false for -1, no solver
SAND_API int sand_param_count(const SandSolver *solver);
SAND_API int sand_param_find(const SandSolver *solver, const char *name); // index, or -1

#define SAND_ANY_ITERATIONS 2000000000 // where time alone is the budget
#define SAND_MOST_ACCURACY 99.999      // percent: beyond it the rounding of float is what is left of a residual

// What to solve with. Parameters are in the order of the solver's descriptors.
typedef struct SandSolveDef {
    int solver;
    SandFriction friction;
    SandBounds bounds; // of box, prism and cylinder; the other models have none
    int facets;        // of polyhedral and prism; even, 4 to SAND_MAX_FACETS; more come nearer to the circle
    int presolve;      // iterations without friction from which bounds are taken; more makes them truer
    int renewal;       // most iterations between two renewals of bounds (outside) or of Coulomb's normal velocity
    double params[SAND_MAX_PARAMS];
    int iterations;   // most products with N; raising it costs time and lowers the residual
    double budget_ms; // most milliseconds, 0: no limit; the result then depends on the machine's speed
    double tolerance; // m/s, stop when the residual is at most this; 0: never
    bool relative;    // the tolerance has no dimension and is of SandMetrics.relative
    double accuracy;  // percent, stop when so much of the step is solved (SandCounters.solved); in place of a tolerance, and
                      // above 0 it wins over one; 0: never
    int islands;      // most contacts of a part of the problem, whose bodies touch nothing else that moves, that is solved
                      // directly, to 1e-6 m/s, and not by the solver; more find larger towers and walls solved. 0: none is
} SandSolveDef;
SAND_API SandSolveDef sand_default_solve(void);
// False, with a sentence, when the solver cannot do the friction model with these bounds, or a budget is out of range.
SAND_API bool sand_solve_check(const SandSolveDef *def, SandError *error);
// The same when contacts have rolling or spinning friction, for what sand_solve_check lets pass.
SAND_API bool sand_solve_check_rolling(const SandSolveDef *def, SandError *error);
// The same when several processes solve a problem together.
SAND_API bool sand_solve_check_ranks(const SandSolveDef *def, SandError *error);
// The value of a parameter; of a solver that has none of this name, that which the default solver begins with.
SAND_API double sand_solve_param(const SandSolveDef *def, const char *name);
SAND_API bool sand_solve_needs_colors(const SandSolveDef *def); // whether contacts must be colored for it
SAND_API void sand_solve_choose(SandSolveDef *def, int solver); // changes the method and takes its default parameters
// Sets one parameter from text. False, with a sentence that names the limits or the choices, when it does not fit.
SAND_API bool sand_solve_set(SandSolveDef *def, const char *name, const char *value, SandError *error);

#ifdef __cplusplus
}
#endif
