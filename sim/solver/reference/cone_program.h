// SPDX-License-Identifier: MIT
// The contact problem as a cone program with sparse matrices, for the assembled methods:
//   minimize 1/2 z'Nz + r'z  over z in a product of cones
// Every unknown z_j is one column: it pushes its contact along a direction, so that the impulse of contact i is
// g_i = sum_j z_j direction_j. A cone is one column with z >= 0, or the three columns of a circular friction cone,
// |(z1, z2)| <= z0. Both are self-dual. N = E'E with E = M^-1/2 D, which has six rows per dynamic body; a problem without
// bodies stores N itself. Every cone is scaled so that the mean of its diagonal in N is 1, which makes impulses and
// velocities of heavy and light bodies comparable.
#pragma once
#include "sandglass/problem.h"
#include "sim/core/array.h"

typedef struct SandConeProgram {
    int cones, columns;
    int rows;                       // of the matrix below
    bool square;                    // the matrix is N itself; else it is E
    bool symmetric;                 // of a square matrix: it is symmetric
    SAND_ARRAY(int) first;          // columns first[c] .. first[c+1]-1 belong to cone c
    SAND_ARRAY(int) contact;        // of each cone
    SAND_ARRAY(int) cone_of;        // of each column
    SAND_ARRAY(SandVec3) direction; // of each column, world frame, scaled
    SAND_ARRAY(double) r;
    // The matrix in compressed column form. All columns of a cone have the same rows.
    SAND_ARRAY(int) begin, row;
    SAND_ARRAY(double) value;
} SandConeProgram;

// Builds the cone program for a friction model whose set is a cone: three columns per contact for circular cones, one per
// edge for pyramids and polyhedra, one along the normal for frictionless contacts.
bool sand_cone_program_make(SandConeProgram *program, const SandProblem *problem, const SandSolveDef *def, SandError *error);
void sand_cone_program_free(SandConeProgram *program);

// y = N x; `work` has `rows` elements.
void sand_cone_program_product(const SandConeProgram *program, const double *x, double *y, double *work);
// Converts impulses to unknowns: the z whose impulses are nearest, or near to them for a cone given by its edges.
void sand_cone_program_unknowns(const SandConeProgram *program, const SandVec3 *impulse, double *z);
// Converts unknowns to impulses in the world frame.
void sand_cone_program_impulses(const SandConeProgram *program, const double *z, int contacts, SandVec3 *impulse);

static inline int sand_cone_program_size(const SandConeProgram *p, int cone) {
    return p->first.data[cone + 1] - p->first.data[cone];
}
