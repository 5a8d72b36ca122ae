// SPDX-License-Identifier: MIT
// Random problems of contacts, rolling friction and joints, and the same in plain scalar rows: a dense Jacobian of every
// row, N = J M^-1 J' + E, in double and written from the definitions. For the tests of the solvers.
#pragma once
#include "sandglass/problem.h"

enum { JOINT_PROBLEM_BODIES = 10, JOINT_PROBLEM_CONTACTS = 18, JOINT_PROBLEM_ROWS = 6 * JOINT_PROBLEM_CONTACTS };

// Free bodies of masses from 0.5 to 50 kg that are tied to each other, and to one that stands still, by contacts with
// friction and by blocks of every kind: bilateral, limits, motors, springs; at the end of arms and angular.
SandProblem joint_problem(int seed);
// The same with rolling and spinning friction at some contacts, with one of them at others, and with neither at the rest.
SandProblem rolling_problem(int seed);

// The problem in rows: three for each vector of its impulses (sand_problem_vectors), along the axes of the contact; rows
// that do not exist are all zero.
typedef struct DenseRows {
    int count;
    double n[JOINT_PROBLEM_ROWS][JOINT_PROBLEM_ROWS], r[JOINT_PROBLEM_ROWS];
    double low[JOINT_PROBLEM_ROWS], high[JOINT_PROBLEM_ROWS]; // of the rows of joints, and of contacts without friction
    SandVec3 axis[JOINT_PROBLEM_ROWS];
    bool exists[JOINT_PROBLEM_ROWS];
    double arm[JOINT_PROBLEM_CONTACTS]; // m, at which a torque counts as a force: both then have the same mean diagonal
} DenseRows;
DenseRows dense_rows(const SandProblem *p, bool frictionless);

void dense_rows_of(const DenseRows *rows, const SandVec3 *world, double *x); // world vectors to rows
void dense_rows_solve(const DenseRows *rows, double *x);                     // without friction, by long relaxation
// The minimum over the cones, by projected gradients with momentum, to a residual of 1e-12 m/s.
void dense_rows_minimize(const SandProblem *p, const DenseRows *rows, double *x);
// What is to be solved: without friction, on the cones, or Coulomb's law.
typedef enum DenseModel { DENSE_FRICTIONLESS, DENSE_CONE, DENSE_LAW } DenseModel;
// The natural map ||x - P(x - t u)|| / t, t = 1 / mean diagonal and u = N x + r; of the law with De Saxce's bias in u.
double dense_rows_residual(const SandProblem *p, const DenseRows *rows, DenseModel model, const double *x);
// The nearest point of the larger cone to the normal part n and parts of these lengths, whose bounds are slope n and whose
// distances weigh so much: returns the normal part. By bisection.
double dense_larger_cone(double n, const double *length, const double *slope, const double *weight);
double dense_rows_objective(const DenseRows *rows, const double *x);
