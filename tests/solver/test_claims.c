// SPDX-License-Identifier: MIT
// Every solver on every friction model, in both precisions, over a folder of stored problems (tests/bench/collection): no
// status and no figure contradicts plain algebra, nothing diverges silently, and nothing that was solved was infeasible.
//
//   test_claims FOLDER [JOBS]    a process per problem, JOBS of them at once; a line per problem
#include "tests/lab/solver/claim.h"
#include "sim/solver/method_traits.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// A method that assembles N spends minutes on an iteration of the largest problems, so that time bounds it as well.
enum { ITERATIONS = 200, ASSEMBLED_ITERATIONS = 30, ASSEMBLED_MS = 2000 };
enum { LARGE = 1000 }; // contacts from which on every solve is to a tolerance, to save time
enum { STATUSES = SAND_SOLVED - SAND_DIVERGED + 1 };
static const char *folder;

typedef struct Tally {
    int solves, wrong;
    int said[STATUSES]; // from solved down to diverged
} Tally;

typedef struct Model {
    SandFriction friction;
    SandBounds bounds;
    const char *name;
} Model;

// The least energy of a solution that was found, and the largest that a certificate says it takes.
typedef struct Proof {
    double found, claimed;
    const char *finder, *claimant;
} Proof;

static const struct {
    double tolerance;
    bool relative;
} asked[] = {{0, false}, {1e-6, false}, {1e-8, true}};

static void solve_one(const char *name, const SandProblem *p, const Model *m, SandSolveDef def, SandPrecision precision,
                      Tally *tally, Proof *proof) {
    const char *solver = sand_solver_table[def.solver].name;
    SandError error;
    ClaimSolved s;
    char text[256];
    if (!claim_solve(p, &def, precision, &s, &error)) {
        printf("%s: %s, %s: %s\n", name, m->name, solver, error.text);
        tally->wrong++;
        return;
    }
    ClaimFigures found = claim_measure(p, &def, &s);
    tally->solves++;
    tally->said[SAND_SOLVED - s.solution.status]++;
    if (claim_check(&def, &s, &found, text)) {
        printf("%s: %s, %s, %s, tolerance %g%s: %s\n", name, m->name, solver, precision == SAND_FLOAT ? "float" : "double",
               def.tolerance, def.relative ? " relative" : "", text);
        tally->wrong++;
    }
    if (s.solution.status == SAND_SOLVED && precision == SAND_DOUBLE && found.energy < proof->found) {
        proof->found = found.energy;
        proof->finder = solver;
    }
    if (s.solution.status == SAND_INFEASIBLE && s.solution.least_energy > proof->claimed) {
        proof->claimed = s.solution.least_energy;
        proof->claimant = solver;
    }
    claim_free(&s);
}

static Tally check_problem(const char *name) {
    Tally tally = {0};
    char path[4096];
    SandError error;
    SandProblem p = {0};
    snprintf(path, sizeof path, "%.3000s/%.500s", folder, name);
    if (!sand_problem_open(&p, path, &error)) {
        printf("%s\n", error.text);
        tally.wrong++;
        return tally;
    }
    for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++)
        for (int bounds = 0; bounds < SAND_BOUNDS_COUNT; bounds++) {
            bool bounded = sand_friction_table[friction].set == SAND_SET_CYLINDER;
            if (!bounded && bounds > 0) continue;
            Model model = {(SandFriction)friction, (SandBounds)bounds, sand_friction_table[friction].name};
            Proof proof = {.found = INFINITY, .claimed = 0, .finder = "", .claimant = ""};
            for (int solver = 0; solver < sand_solver_count(); solver++)
                for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++)
                    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
                        bool assembled = sand_solver_table[solver].assembled;
                        if (asked[k].tolerance == 0 && p.contact_count > LARGE) continue;
                        if (p.matrix && sand_solver_table[solver].needs & SAND_NEEDS_BODIES) continue;
                        SandSolveDef def = sand_default_solve();
                        sand_solve_choose(&def, solver);
                        def.friction = model.friction;
                        def.bounds = model.bounds;
                        def.tolerance = asked[k].tolerance;
                        def.relative = asked[k].relative;
                        def.iterations = assembled ? ASSEMBLED_ITERATIONS : ITERATIONS;
                        def.budget_ms = assembled ? ASSEMBLED_MS : 0;
                        if (assembled && precision == SAND_FLOAT) continue;
                        if (sand_solve_check(&def, &error))
                            solve_one(name, &p, &model, def, (SandPrecision)precision, &tally, &proof);
                    }
            if (proof.found < proof.claimed) {
                printf("%s: %s: %s found a solution of %g J, and %s proved that it takes %g J\n", name, model.name,
                       proof.finder, proof.found, proof.claimant, proof.claimed);
                tally.wrong++;
            }
        }
    printf("%s: %d contacts, %d solves:", name, p.contact_count, tally.solves);
    for (int k = 0; k < STATUSES; k++)
        if (tally.said[k]) printf(" %d %s", tally.said[k], sand_status_text((SandStatus)(SAND_SOLVED - k)));
    printf("\n");
    sand_problem_free(&p);
    return tally;
}

static int is_problem(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".sand");
}

int main(int count, char **arguments) {
    if (count < 2) return fprintf(stderr, "usage: test_claims FOLDER [JOBS]\n"), 2;
    folder = arguments[1];
    int most = count > 2 ? atoi(arguments[2]) : 2, running = 0, failures = 0;
    struct dirent **entries;
    int problems = scandir(folder, &entries, is_problem, alphasort);
    if (problems <= 0) return fprintf(stderr, "%s: has no problems\n", folder), 1;
    for (int k = 0; k < problems || running > 0;) {
        if (k < problems && running < most) {
            fflush(stdout);
            pid_t child = fork();
            if (child < 0) return perror("fork"), 1;
            if (child == 0) {
                Tally tally = check_problem(entries[k]->d_name);
                fflush(stdout);
                _exit(tally.wrong != 0 || tally.solves == 0);
            }
            running++;
            free(entries[k++]);
        } else {
            int status;
            if (wait(&status) < 0) return perror("wait"), 1;
            running--;
            failures += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        }
    }
    free(entries);
    printf("%d problems, %d with a claim that does not hold\n", problems, failures);
    return failures != 0;
}
