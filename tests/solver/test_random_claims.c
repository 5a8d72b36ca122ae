// SPDX-License-Identifier: MIT
// Every solver on small problems at random, in both precisions, with and without a tolerance: no status and no figure
// contradicts plain algebra in double, no problem that one solver has solved is infeasible by another, and the default
// solver recognizes as many infeasible ones as apgd.
//
//   test_random_claims [COUNT [FIRST]]    problems; 100000 of them take about an hour
#include "tests/lab/solver/claim.h"
#include "tests/lab/solver/random_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Methods that watch their own steps are looked at after 512 iterations. Of 100 problems a handful are infeasible, too few
// to compare two methods by.
enum { COUNT = 300, ITERATIONS = 600, ASSEMBLED_ITERATIONS = 50, MOST_SOLVERS = 64 };

static const struct {
    double tolerance;
    bool relative;
} asked[] = {{0, false}, {1e-6, false}, {1e-5, true}};
enum { ASKED = sizeof asked / sizeof *asked };

typedef struct Tally {
    long solves, wrong;
    long solved[MOST_SOLVERS], infeasible[MOST_SOLVERS]; // in double, without a tolerance
} Tally;

// The least energy of a solution that was found, and the largest that a certificate says it takes.
typedef struct Proof {
    double found, claimed;
    const char *finder, *claimant;
} Proof;

static void complain(Tally *tally, uint64_t seed, const SandSolveDef *def, SandPrecision precision, const char *text) {
    printf("problem %llu: %s, %s, %s, %s, tolerance %g%s: %s\n", (unsigned long long)seed,
           sand_friction_table[def->friction].name, sand_bounds_table[def->bounds].name, sand_solver_table[def->solver].name,
           precision == SAND_FLOAT ? "float" : "double", def->tolerance, def->relative ? " relative" : "", text);
    tally->wrong++;
}

// A solution counts where nothing but rounding is left of its residual, and impulses are not so large that rounding hides
// it; others may be near one that is not there.
static void add_proof(Proof *proof, const SandSolveDef *def, const SandSolution *s, const ClaimFigures *found) {
    const char *solver = sand_solver_table[def->solver].name;
    if (found->residual + 1e-15 * found->scale <= 1e-10 * found->r_norm && found->energy < proof->found) {
        proof->found = found->energy;
        proof->finder = solver;
    }
    if (s->status == SAND_INFEASIBLE && s->least_energy > proof->claimed) {
        proof->claimed = s->least_energy;
        proof->claimant = solver;
    }
}

static void solve_one(SandCpu *cpu, uint64_t seed, const SandProblem *p, const SandSolveDef *def, SandPrecision precision,
                      Tally *tally, Proof *proof) {
    SandError error;
    ClaimSolved s;
    char text[256];
    if (!claim_solve_on(cpu, p, def, &s, &error)) {
        complain(tally, seed, def, precision, error.text);
        return;
    }
    ClaimFigures found = claim_measure(p, def, &s);
    tally->solves++;
    if (claim_check(def, &s, &found, text)) complain(tally, seed, def, precision, text);
    add_proof(proof, def, &s.solution, &found);
    if (precision == SAND_DOUBLE && def->tolerance == 0) {
        tally->solved[def->solver] += s.solution.status == SAND_SOLVED;
        tally->infeasible[def->solver] += s.solution.status == SAND_INFEASIBLE;
    }
    claim_free(&s);
}

// Models take turns: each problem has one.
static SandSolveDef model_of(uint64_t seed) {
    SandSolveDef def = sand_default_solve();
    def.friction = seed % 2 ? SAND_FRICTION_CONE : (SandFriction)(seed / 2 % SAND_FRICTION_COUNT);
    if (sand_friction_table[def.friction].set == SAND_SET_CYLINDER) def.bounds = (SandBounds)(seed / 32 % SAND_BOUNDS_COUNT);
    return def;
}

static void check_problem(SandCpu *const cpu[2], uint64_t seed, const SandProblem *p, Tally *tally) {
    SandSolveDef model = model_of(seed);
    Proof proof = {.found = INFINITY, .claimed = 0, .finder = "", .claimant = ""};
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++)
            for (int k = 0; k < ASKED; k++) {
                SandError error;
                SandSolveDef def = model;
                sand_solve_choose(&def, solver);
                def.tolerance = asked[k].tolerance;
                def.relative = asked[k].relative;
                bool assembled = sand_solver_table[solver].assembled;
                def.iterations = assembled ? ASSEMBLED_ITERATIONS : ITERATIONS;
                if ((assembled && precision == SAND_FLOAT) || !sand_solve_check(&def, &error)) continue;
                solve_one(cpu[precision], seed, p, &def, (SandPrecision)precision, tally, &proof);
            }
    if (!(proof.found < proof.claimed)) return;
    printf("problem %llu: %s: %s found a solution of %g J, and %s proved that it takes %g J\n", (unsigned long long)seed,
           sand_friction_table[model.friction].name, proof.finder, proof.found, proof.claimant, proof.claimed);
    tally->wrong++;
}

// Infeasible problems that the default solver must have recognized, over those that apgd has.
static bool default_keeps_up(const Tally *tally) {
    long most = tally->infeasible[sand_solver_find("apgd")], own = tally->infeasible[sand_solver_default];
    return own >= 0.9 * most;
}

static void report(const Tally *tally, uint64_t problems) {
    for (int k = 0; k < sand_solver_count(); k++)
        printf("%-14s %8ld solved, %6ld infeasible\n", sand_solver_table[k].name, tally->solved[k], tally->infeasible[k]);
    printf("%llu problems, %ld solves, %ld claims that do not hold\n", (unsigned long long)problems, tally->solves,
           tally->wrong);
}

int main(int count, char **arguments) {
    uint64_t problems = count > 1 ? strtoull(arguments[1], NULL, 10) : COUNT;
    uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;
    static Tally tally;
    SandError error = {""};
    SandProblem p = {0};
    SandCpu *cpu[2] = {sand_cpu_create(1, SAND_FLOAT, &error), sand_cpu_create(1, SAND_DOUBLE, &error)};
    bool ok = cpu[0] && cpu[1];
    for (uint64_t seed = first; ok && seed < first + problems; seed++) {
        ok = random_problem(&p, seed, &error);
        if (ok) check_problem(cpu, seed, &p, &tally);
        fflush(stdout);
    }
    if (!ok) fprintf(stderr, "%s\n", error.text);
    report(&tally, problems);
    sand_problem_free(&p);
    sand_cpu_free(cpu[0]);
    sand_cpu_free(cpu[1]);
    return !ok || tally.wrong > 0 || !default_keeps_up(&tally);
}
