// Fill of the Cholesky factors of ipm's matrices on a stored problem, by CHOLMOD's symbolic analysis: in the space of the
// velocities, I + AA', which [Q] and ipm factorize, and in that of the impulses, I + A'A.
//   papers_fill FILE FACETS
// Prints a JSON array with one object for each space and ordering.
#include <stdio.h>
#include <stdlib.h>
#include <suitesparse/cholmod.h>

#include "app/io/json.h"
#include "sim/solver/reference/cone_program.h"

// The sparsity pattern of A, without values.
static cholmod_sparse *pattern_of(const SandConeProgram *m, cholmod_common *common) {
    int entries = m->begin.data[m->columns];
    cholmod_sparse *a =
        cholmod_allocate_sparse((size_t)m->rows, (size_t)m->columns, (size_t)entries, 0, 1, 0, CHOLMOD_PATTERN, common);
    if (!a) return NULL;
    for (int j = 0; j <= m->columns; j++) ((int *)a->p)[j] = m->begin.data[j];
    for (int e = 0; e < entries; e++) ((int *)a->i)[e] = m->row.data[e];
    return a;
}

static bool write_fill(const char *space, const char *ordering, int method, cholmod_sparse *a, cholmod_common *common,
                       Json *json, SandError *error) {
    common->nmethods = 1;
    common->method[0].ordering = method;
    cholmod_factor *factor = cholmod_analyze(a, common);
    if (!factor) return sand_fail(error, "CHOLMOD gave up (status %d)", common->status);
    json_open_object(json, NULL);
    json_text(json, "space", space);
    json_text(json, "ordering", ordering);
    json_integer(json, "unknowns", (int64_t)a->nrow);
    json_number(json, "entries", common->lnz);
    json_number(json, "flops", common->fl);
    json_close_object(json);
    cholmod_free_factor(&factor, common);
    return true;
}

static bool run(const char *path, int facets, SandProblem *problem, SandConeProgram *program, cholmod_common *common,
                SandError *error) {
    SandSolveDef def = sand_default_solve();
    def.friction = SAND_FRICTION_POLYHEDRAL;
    def.facets = facets;
    if (!sand_problem_open(problem, path, error) || !sand_cone_program_make(program, problem, &def, error)) return false;
    cholmod_sparse *a = pattern_of(program, common), *t = a ? cholmod_transpose(a, 0, common) : NULL;
    Json json = json_make(stdout);
    json_open_array(&json, NULL);
    bool ok = t || sand_fail(error, "out of memory");
    ok = ok && write_fill("velocities", "minimum degree", CHOLMOD_AMD, a, common, &json, error) &&
         write_fill("velocities", "nested dissection", CHOLMOD_METIS, a, common, &json, error) &&
         write_fill("impulses", "minimum degree", CHOLMOD_AMD, t, common, &json, error);
    json_close_array(&json);
    cholmod_free_sparse(&a, common);
    cholmod_free_sparse(&t, common);
    return ok;
}

int main(int argc, char **argv) {
    sand_reference_enable();
    SandProblem problem = {0};
    SandConeProgram program = {0};
    SandError error = {""};
    cholmod_common common;
    cholmod_start(&common);
    bool ok = argc == 3 ? run(argv[1], atoi(argv[2]), &problem, &program, &common, &error)
                        : sand_fail(&error, "%s FILE FACETS", argv[0]);
    if (!ok) fprintf(stderr, "%s\n", error.text);
    cholmod_finish(&common);
    sand_cone_program_free(&program);
    sand_problem_free(&problem);
    return ok ? 0 : 1;
}
