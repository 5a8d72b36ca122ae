// SPDX-License-Identifier: MIT
// Properties of a solver's iterates on a stored problem, for the figures that residuals do not show: velocity error, active
// set and its changes, complementarity of the contacts, the impulses themselves.
//   papers_iterates FILE MODEL REFERENCE SOLVER[,KEY=VALUE...] ITERATION,ITERATION,...
// A solve does not depend on its budget, so iterate k is what a solve of k iterations returns. REFERENCE is the solver whose
// velocities count as exact. Prints a JSON array with one object per iteration.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/json.h"
#include "sim/core/array.h"
#include "sandglass/problem.h"

enum { REFERENCE_ITERATIONS = 20000, QUANTILES = 100 };

typedef struct Lab {
    SandProblem problem;
    SandCpu *cpu;
    SandSolution exact, now, before; // reference, this iterate, the one before
    double *sorted;                  // normal impulses
    size_t sorted_capacity;
} Lab;

// Relative velocity of a contact after the impulses.
static SandVec3 contact_velocity(const SandProblem *p, const SandSolution *s, int i) {
    const SandContact *c = &p->contacts[i];
    SandVec3 at_a = v3_add(s->velocity[c->a], v3_cross(s->spin[c->a], c->arm_a));
    SandVec3 at_b = v3_add(s->velocity[c->b], v3_cross(s->spin[c->b], c->arm_b));
    return v3_sub(at_b, at_a);
}

static double velocity_error(const Lab *lab) {
    double largest = 0;
    for (int i = 0; i < lab->problem.contact_count; i++) {
        SandVec3 wrong =
            v3_sub(contact_velocity(&lab->problem, &lab->now, i), contact_velocity(&lab->problem, &lab->exact, i));
        largest = fmax(largest, v3_length(wrong));
    }
    return largest;
}

static double normal_impulse(const SandProblem *p, const SandSolution *s, int i) {
    return v3_dot(s->impulse[i], p->contacts[i].normal);
}

static bool is_active(const SandProblem *p, const SandSolution *s, int i) { return normal_impulse(p, s, i) <= 0; }

// The normal component of (N g + r)_i.
static double normal_speed(const SandProblem *p, const SandSolution *s, int i) {
    const SandContact *c = &p->contacts[i];
    return v3_dot(contact_velocity(p, s, i), c->normal) + sand_recovery_bias(p->recovery, c->gap, p->step);
}

// Statistics of g_i (N g + r)_i of the normal components: the feasibility of [H] Fig. 9.
static void write_feasibility(const Lab *lab, Json *json) {
    const SandProblem *p = &lab->problem;
    double sum = 0, squares = 0, most = 0;
    for (int i = 0; i < p->contact_count; i++) {
        double f = normal_impulse(p, &lab->now, i) * normal_speed(p, &lab->now, i);
        sum += f;
        squares += f * f;
        most = fmax(most, fabs(f));
    }
    double mean = sum / p->contact_count;
    json_number(json, "feasibility_mean", mean);
    json_number(json, "feasibility_deviation", sqrt(fmax(squares / p->contact_count - mean * mean, 0)));
    json_number(json, "feasibility_max", most);
}

// |(N g + r)_n| of the iterate before; for the first iteration that is |r_n|.
static double speed_before(const Lab *lab) {
    double squares = 0;
    for (int i = 0; i < lab->problem.contact_count; i++) {
        double speed = normal_speed(&lab->problem, &lab->before, i);
        squares += speed * speed;
    }
    return sqrt(squares);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Writes the percentiles of the normal impulses.
static bool write_impulses(Lab *lab, Json *json, SandError *error) {
    int count = lab->problem.contact_count;
    if (!SAND_GROW(lab->sorted, lab->sorted_capacity, count, "impulses", error)) return false;
    for (int i = 0; i < count; i++) lab->sorted[i] = normal_impulse(&lab->problem, &lab->now, i);
    qsort(lab->sorted, (size_t)count, sizeof *lab->sorted, compare);
    json_open_array(json, "impulses");
    for (int k = 0; k <= QUANTILES; k++) json_number(json, NULL, lab->sorted[(int64_t)k * (count - 1) / QUANTILES]);
    json_close_array(json);
    return true;
}

static bool solve(Lab *lab, SandSolveDef def, int iterations, SandSolution *s, SandError *error) {
    def.iterations = iterations;
    s->want_metrics = true;
    return sand_cpu_solve(lab->cpu, &lab->problem, &def, s, error);
}

static bool write_iterate(Lab *lab, const SandSolveDef *def, int iteration, Json *json, SandError *error) {
    if (!solve(lab, *def, iteration, &lab->now, error) || !solve(lab, *def, iteration - 1, &lab->before, error))
        return false;
    const SandProblem *p = &lab->problem;
    int active = 0, changes = 0;
    for (int i = 0; i < p->contact_count; i++) {
        active += is_active(p, &lab->now, i);
        changes += is_active(p, &lab->now, i) != is_active(p, &lab->before, i);
    }
    json_open_object(json, NULL);
    json_integer(json, "iteration", lab->now.iterations);
    json_number(json, "residual", lab->now.metrics.residual);
    json_number(json, "objective", lab->now.metrics.objective);
    json_number(json, "seconds", lab->now.seconds);
    json_number(json, "velocity_error", velocity_error(lab));
    json_integer(json, "active", active);
    json_integer(json, "changes", changes);
    json_number(json, "speed_before", speed_before(lab));
    write_feasibility(lab, json);
    bool ok = write_impulses(lab, json, error);
    json_close_object(json);
    return ok;
}

// Parses `name,key=value,...`, which it modifies, and sets the friction model.
static bool read_solver(SandSolveDef *def, const char *model, char *text, SandError *error) {
    char *rest = NULL, *name = strtok_r(text, ",", &rest);
    int solver = name ? sand_solver_find(name) : -1, friction = sand_friction_find(model);
    if (solver < 0 || friction < 0) return sand_fail(error, "there is no solver %s or no model %s", name ? name : "", model);
    *def = sand_default_solve();
    sand_solve_choose(def, solver);
    def->friction = (SandFriction)friction;
    for (char *set = strtok_r(NULL, ",", &rest); set; set = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(set, '=');
        if (!equals) return sand_fail(error, "%s: not KEY=VALUE", set);
        *equals = 0;
        if (!sand_solve_set(def, set, equals + 1, error)) return false;
    }
    return true;
}

static bool run(Lab *lab, char **argv, SandError *error) {
    SandSolveDef reference, def;
    if (!sand_problem_open(&lab->problem, argv[1], error) || !read_solver(&reference, argv[2], argv[3], error) ||
        !read_solver(&def, argv[2], argv[4], error))
        return false;
    lab->cpu = sand_cpu_create(1, SAND_DOUBLE, error);
    memset(lab->problem.start, 0, (size_t)lab->problem.contact_count * sizeof *lab->problem.start);
    if (!lab->cpu || !solve(lab, reference, REFERENCE_ITERATIONS, &lab->exact, error)) return false;
    Json json = json_make(stdout);
    json_open_array(&json, NULL);
    char *rest = NULL;
    for (char *word = strtok_r(argv[5], ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (!write_iterate(lab, &def, atoi(word), &json, error)) return false;
    json_close_array(&json);
    return true;
}

int main(int argc, char **argv) {
    sand_reference_enable();
    Lab lab = {0};
    SandError error = {""};
    bool ok = argc == 6 ? run(&lab, argv, &error)
                        : sand_fail(&error, "%s FILE MODEL REFERENCE SOLVER[,KEY=VALUE] ITERATION,...", argv[0]);
    if (!ok) fprintf(stderr, "%s\n", error.text);
    sand_solution_free(&lab.exact);
    sand_solution_free(&lab.now);
    sand_solution_free(&lab.before);
    sand_free(lab.sorted);
    sand_cpu_free(lab.cpu);
    sand_problem_free(&lab.problem);
    return ok ? 0 : 1;
}
