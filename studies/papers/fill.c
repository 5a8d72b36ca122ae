// SPDX-License-Identifier: MIT
// Fill of the Cholesky factors of ipm's matrices on a stored problem, by the analysis of the reference methods: in the space
// of the velocities, I + AA', which [Q] and ipm factorize, and in that of the impulses, I + A'A.
//   papers_fill FILE FACETS
// Prints a JSON array with one object for each space and ordering.
#include <stdio.h>
#include <stdlib.h>

#include "app/io/json.h"
#include "sim/solver/reference/cone_program.h"
#include "sim/solver/reference/factor_shape.h"
#include "sim/solver/reference/sparse.h"

static bool write_fill(const char *space, const char *name, SandOrdering ordering, const SandSparse *a, Json *json,
                       SandError *error) {
    SandFactorShape shape;
    if (!sand_factor_shape_make(&shape, a->columns, a->begin, a->row, ordering, error)) return false;
    json_open_object(json, NULL);
    json_text(json, "space", space);
    json_text(json, "ordering", name);
    json_integer(json, "unknowns", (int64_t)a->columns);
    json_number(json, "entries", shape.entries);
    json_number(json, "flops", shape.squares);
    json_close_object(json);
    sand_factor_shape_free(&shape);
    return true;
}

static bool run(const char *path, int facets, SandProblem *problem, SandConeProgram *m, SandError *error) {
    SandSolveDef def = sand_default_solve();
    def.friction = SAND_FRICTION_POLYHEDRAL;
    def.facets = facets;
    if (!sand_problem_open(problem, path, error) || !sand_cone_program_make(m, problem, &def, error)) return false;
    SandSparse a = {m->rows, m->columns, m->begin, m->row, m->value}, *t = sand_sparse_transpose(&a);
    SandSparse *velocities = sand_sparse_multiply(&a, t), *impulses = sand_sparse_multiply(t, &a);
    Json json = json_make(stdout);
    json_open_array(&json, NULL);
    bool ok = (velocities && impulses) || sand_fail(error, "out of memory");
    ok = ok && write_fill("velocities", "minimum degree", SAND_ORDERING_MINIMUM_DEGREE, velocities, &json, error) &&
         write_fill("velocities", "nested dissection", SAND_ORDERING_DISSECTION, velocities, &json, error) &&
         write_fill("impulses", "minimum degree", SAND_ORDERING_MINIMUM_DEGREE, impulses, &json, error);
    json_close_array(&json);
    sand_sparse_free(t);
    sand_sparse_free(velocities);
    sand_sparse_free(impulses);
    return ok;
}

int main(int argc, char **argv) {
    sand_reference_enable();
    SandProblem problem = {0};
    SandConeProgram program = {0};
    SandError error = {""};
    bool ok =
        argc == 3 ? run(argv[1], atoi(argv[2]), &problem, &program, &error) : sand_fail(&error, "%s FILE FACETS", argv[0]);
    if (!ok) fprintf(stderr, "%s\n", error.text);
    sand_cone_program_free(&program);
    sand_problem_free(&problem);
    return ok ? 0 : 1;
}
