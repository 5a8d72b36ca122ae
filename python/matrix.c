// SPDX-License-Identifier: MIT
// Problems that Python gives as a matrix, through what reads those of FCLIB and Siconos.
#include "python/bridge.h"

#ifdef SAND_REFERENCE
#include "sim/solver/reference/stored_matrix.h"

#include <stdlib.h>
#include <string.h>

static double *copy_numbers(const double *numbers, size_t count) {
    double *copy = malloc((count + 1) * sizeof *copy);
    if (copy) memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

static bool read_matrix(SandProblem *problem, const SandMatrixDef *def, SandStored *s, SandError *error) {
    size_t rows = 3 * (size_t)def->contacts;
    SandSparse w = {(int)rows, (int)rows, (void *)def->begin, (void *)def->row, (void *)def->value};
    s->w = sand_sparse_copy(&w);
    s->q = copy_numbers(def->q, rows);
    s->mu = copy_numbers(def->mu, (size_t)def->contacts);
    if (!s->w || !s->q || !s->mu) return sand_fail(error, "out of memory for a matrix");
    return sand_stored_problem(problem, s, error);
}

bool sand_python_matrix(SandProblem *problem, const SandMatrixDef *def, SandError *error) {
    SandStored stored = {.path = "the matrix", .contacts = def->contacts, .components = 3};
    bool ok = read_matrix(problem, def, &stored, error);
    sand_stored_free(&stored);
    return ok;
}
#else
bool sand_python_matrix(SandProblem *problem, const SandMatrixDef *def, SandError *error) {
    (void)problem, (void)def;
    return sand_fail(error, "a problem given as a matrix: not in this build; it needs -DSAND_REFERENCE=ON");
}
#endif
