// The contact problem as a cone program in sparse matrices, for the methods that need them:
//   minimize 1/2 z'Nz + r'z  over z in a product of cones
// A column pushes its contact along a direction, g_i = sum_j z_j direction_j. A cone is one column with z >= 0, or
// three of a circular friction cone, |(z1, z2)| <= z0. Both are their own duals. N = E'E with E = M^-1/2 D, which has
// six rows for each moving body; where the problem has no bodies, N itself is given. Every cone is scaled so that the
// mean of its diagonal in N is 1: impulses and velocities of heavy and light bodies are then alike.
#pragma once
#include "sim/solver/problem.h"

typedef struct SandConeProgram {
    int cones, columns;
    int rows;     // of the matrix below
    bool square;  // the matrix is N; else it is E
    int *first;   // columns first[c] .. first[c+1]-1 are those of cone c
    int *contact; // of each cone
    int *cone_of; // of each column
    SandVec3 *direction;
    double *r;
    // The matrix by columns. Columns of one cone have the same rows.
    int *begin, *row;
    double *value;
    size_t first_capacity, contact_capacity, cone_of_capacity, direction_capacity, r_capacity, begin_capacity, row_capacity,
        value_capacity;
} SandConeProgram;

// For the models whose set is a cone: circular ones take three columns a contact, pyramids and polyhedra one for each of
// their edges, frictionless contacts one along the normal.
bool sand_cone_program_make(SandConeProgram *program, const SandProblem *problem, const SandSolveDef *def, SandError *error);
void sand_cone_program_free(SandConeProgram *program);

// y = N x; work has room for the rows.
void sand_cone_program_product(const SandConeProgram *program, const double *x, double *y, double *work);
// The z of impulses: those whose impulses are nearest, or near to them where a contact has the edges of a cone.
void sand_cone_program_unknowns(const SandConeProgram *program, const SandVec3 *impulse, double *z);
// The impulses of z, as vectors of the world.
void sand_cone_program_impulses(const SandConeProgram *program, const double *z, int contacts, SandVec3 *impulse);

static inline int sand_cone_program_size(const SandConeProgram *p, int cone) { return p->first[cone + 1] - p->first[cone]; }
