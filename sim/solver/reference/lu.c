// Sparse LU factors by UMFPACK: see lu.h.
#include "sim/solver/reference/lu.h"

#include <stdlib.h>
#include <suitesparse/umfpack.h>

struct SandLu {
    int n;
    const int *begin, *row;
    const double *value;
    void *symbolic, *numeric;
    int *integers; // workspace of a solve
    double *reals;
};

static bool lu_fail(int status, SandError *error) {
    if (status == UMFPACK_WARNING_singular_matrix) return sand_fail(error, "the matrix of a linear system is singular");
    if (status == UMFPACK_ERROR_out_of_memory) return sand_fail(error, "out of memory for the factors of a linear system");
    return sand_fail(error, "factorizing a linear system: UMFPACK gave up (status %d)", status);
}

SandLu *sand_lu_create(int n, const int *begin, const int *row, SandError *error) {
    SandLu *lu = calloc(1, sizeof *lu);
    if (lu) {
        *lu = (SandLu){.n = n, .begin = begin, .row = row};
        lu->integers = malloc(((size_t)n + 1) * sizeof *lu->integers);
        lu->reals = malloc((5 * (size_t)n + 1) * sizeof *lu->reals);
    }
    if (!lu || !lu->integers || !lu->reals) {
        sand_fail(error, "out of memory for a linear system");
        sand_lu_free(lu);
        lu = NULL;
    }
    return lu;
}

void sand_lu_free(SandLu *lu) {
    if (!lu) return;
    umfpack_di_free_symbolic(&lu->symbolic);
    umfpack_di_free_numeric(&lu->numeric);
    free(lu->integers);
    free(lu->reals);
    free(lu);
}

bool sand_lu_factor(SandLu *lu, const double *value, SandError *error) {
    lu->value = value;
    umfpack_di_free_numeric(&lu->numeric);
    int status = UMFPACK_OK;
    if (!lu->symbolic) status = umfpack_di_symbolic(lu->n, lu->n, lu->begin, lu->row, value, &lu->symbolic, NULL, NULL);
    if (status == UMFPACK_OK) status = umfpack_di_numeric(lu->begin, lu->row, value, lu->symbolic, &lu->numeric, NULL, NULL);
    return status == UMFPACK_OK || lu_fail(status, error);
}

bool sand_lu_solve(SandLu *lu, const double *b, double *x, SandError *error) {
    int status =
        umfpack_di_wsolve(UMFPACK_A, lu->begin, lu->row, lu->value, x, b, lu->numeric, NULL, NULL, lu->integers, lu->reals);
    return status == UMFPACK_OK || lu_fail(status, error);
}
