// The solvers as a caller sees them: one table with a row for each method, its parameters, and what it can do.
#pragma once
#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandFriction { SAND_FRICTIONLESS, SAND_CONE, SAND_FRICTION_COUNT } SandFriction;
typedef enum SandPrecision { SAND_FLOAT, SAND_DOUBLE } SandPrecision;

typedef struct SandFrictionRow {
    const char *name;
    const char *text; // one line for people
} SandFrictionRow;
extern const SandFrictionRow sand_friction_table[SAND_FRICTION_COUNT];

enum { SAND_MAX_PARAMS = 8 };

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
    unsigned friction;                 // bit 1 << SandFriction for each model it can do
    bool on_cuda;                      // whether its text is made for CUDA as well
    int vectors;                       // work vectors it needs
    const struct SandDirect *direct;   // a method that factorises; NULL: one of the texts
    SandParam params[SAND_MAX_PARAMS]; // ended by a NULL name
} SandSolver;

extern const SandSolver sand_solver_table[];
extern const int sand_solver_count;
extern const int sand_solver_default; // index of p-spg-fb, what a real-time step uses

int sand_solver_find(const char *name);   // index, or -1
int sand_friction_find(const char *name); // index, or -1
bool sand_solver_can(int solver, SandFriction friction);
int sand_param_count(const SandSolver *solver);
int sand_param_find(const SandSolver *solver, const char *name); // index, or -1

// What to solve with. Parameters are in the order of the solver's descriptors.
typedef struct SandSolveDef {
    int solver;
    SandFriction friction;
    double params[SAND_MAX_PARAMS];
    int iterations;   // most products with N; raising it costs time and lowers the residual
    double budget_ms; // most milliseconds, 0: no limit; the result then depends on the machine's speed
    double tolerance; // m/s, stop when the residual is at most this; 0: never
} SandSolveDef;
SandSolveDef sand_default_solve(void);
void sand_solve_choose(SandSolveDef *def, int solver); // changes the method and takes its default parameters
// Sets one parameter from text. False, with a sentence that names the limits or the choices, when it does not fit.
bool sand_solve_set(SandSolveDef *def, const char *name, const char *value, SandError *error);

#ifdef __cplusplus
}
#endif
