// Random problems of contacts and joints, and the same in plain scalar rows: a dense Jacobian of every row, N = J M^-1 J' +
// E, in double and written from the definitions. For the tests of the solvers.
#pragma once
#include "sandglass/problem.h"

enum { JOINT_PROBLEM_BODIES = 10, JOINT_PROBLEM_CONTACTS = 18, JOINT_PROBLEM_ROWS = 3 * JOINT_PROBLEM_CONTACTS };

// Free bodies of masses from 0.5 to 50 kg that are tied to each other, and to one that stands still, by contacts with
// friction and by blocks of every kind: bilateral, limits, motors, springs; at the end of arms and angular.
SandProblem joint_problem(int seed);

// The problem in rows: three for each contact, along its axes; rows that do not exist are all zero.
typedef struct DenseRows {
    int count;
    double n[JOINT_PROBLEM_ROWS][JOINT_PROBLEM_ROWS], r[JOINT_PROBLEM_ROWS];
    double low[JOINT_PROBLEM_ROWS], high[JOINT_PROBLEM_ROWS]; // of the rows of joints, and of contacts without friction
    SandVec3 axis[JOINT_PROBLEM_ROWS];
    bool exists[JOINT_PROBLEM_ROWS];
} DenseRows;
DenseRows dense_rows(const SandProblem *p, bool frictionless);

void dense_rows_of(const DenseRows *rows, const SandVec3 *world, double *x); // world vectors of each contact to rows
void dense_rows_solve(const DenseRows *rows, double *x);                     // without friction, by long relaxation
// The natural map ||x - P(x - t (N x + r))|| / t of the circular cone, t = 1 / mean diagonal.
double dense_rows_residual(const SandProblem *p, const DenseRows *rows, bool frictionless, const double *x);
double dense_rows_objective(const DenseRows *rows, const double *x);
