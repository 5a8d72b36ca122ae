// Sparse LU factors by UMFPACK: see lu.h.
#include "sim/solver/reference/lu.h"

#ifdef SAND_UMFPACK
#include <stdlib.h>
#include <suitesparse/umfpack.h>

struct SandLu {
    SandLuDef def;
    const double *value;
    void *symbolic, *numeric;
    int *integers; // workspace of a solve
    double *reals;
    double control[UMFPACK_CONTROL];
    double flops;
};

static bool lu_fail(int status, SandError *error) {
    if (status == UMFPACK_WARNING_singular_matrix) return sand_fail(error, "the matrix of a linear system is singular");
    if (status == UMFPACK_ERROR_out_of_memory) return sand_fail(error, "out of memory for the factors of a linear system");
    return sand_fail(error, "factorizing a linear system: UMFPACK gave up (status %d)", status);
}

bool sand_lu_available(void) { return true; }

static bool analyze(SandLu *lu, SandError *error) {
    const SandLuDef *def = &lu->def;
    double info[UMFPACK_INFO];
    umfpack_di_defaults(lu->control);
    if (def->symmetric_pattern) lu->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    lu->control[UMFPACK_IRSTEP] = def->refinements;
    int status = umfpack_di_symbolic(def->n, def->n, def->begin, def->row, NULL, &lu->symbolic, lu->control, info);
    lu->flops = info[UMFPACK_FLOPS_ESTIMATE];
    return status == UMFPACK_OK || lu_fail(status, error);
}

SandLu *sand_lu_create(const SandLuDef *def, SandError *error) {
    SandLu *lu = calloc(1, sizeof *lu);
    if (lu) {
        lu->def = *def;
        lu->integers = malloc(((size_t)def->n + 1) * sizeof *lu->integers);
        lu->reals = malloc((5 * (size_t)def->n + 1) * sizeof *lu->reals);
    }
    bool ok = lu && lu->integers && lu->reals;
    if (!ok) sand_fail(error, "out of memory for a linear system");
    if (!ok || !analyze(lu, error)) return sand_lu_free(lu), NULL;
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

double sand_lu_flops(const SandLu *lu) { return lu->flops; }

bool sand_lu_factor(SandLu *lu, const double *value, bool *singular, SandError *error) {
    lu->value = value;
    umfpack_di_free_numeric(&lu->numeric);
    int status = umfpack_di_numeric(lu->def.begin, lu->def.row, value, lu->symbolic, &lu->numeric, lu->control, NULL);
    if (singular) *singular = status == UMFPACK_WARNING_singular_matrix;
    return status == UMFPACK_OK || (singular && *singular) || lu_fail(status, error);
}

bool sand_lu_solve(SandLu *lu, const double *b, double *x, SandError *error) {
    int status = umfpack_di_wsolve(UMFPACK_A, lu->def.begin, lu->def.row, lu->value, x, b, lu->numeric, lu->control, NULL,
                                   lu->integers, lu->reals);
    return status == UMFPACK_OK || lu_fail(status, error);
}

#else

static bool refuse(SandError *error) {
    return sand_fail(error, "this build has no UMFPACK, which a system that is not symmetric needs");
}

bool sand_lu_available(void) { return false; }
SandLu *sand_lu_create(const SandLuDef *def, SandError *error) { return (void)def, (void)refuse(error), NULL; }
void sand_lu_free(SandLu *lu) { (void)lu; }
double sand_lu_flops(const SandLu *lu) { return (void)lu, 0; }
bool sand_lu_factor(SandLu *lu, const double *value, bool *singular, SandError *error) {
    return (void)lu, (void)value, (void)singular, refuse(error);
}
bool sand_lu_solve(SandLu *lu, const double *b, double *x, SandError *error) {
    return (void)lu, (void)b, (void)x, refuse(error);
}
#endif
