// SPDX-License-Identifier: MIT
// Taking frozen problems from scenes, YAML and worlds, changing them for a test, and the stored ones of tests/problems.
#include "tests/lab/solver/frozen.h"
#include "tests/lab/lab.h"

SandProblem frozen_copy(const SandProblem *p) {
    SandProblem copy = {0};
    SandError error = {""};
    if (!sand_problem_copy(&copy, p, &error)) fail_msg("%s", error.text);
    return copy;
}

const char *frozen_expected_report;

SandProblem frozen_world(SandWorld *world, int steps, int iterations) {
    SandError error = {""};
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.solve.iterations = iterations;
    SandSimulation *sim = lab_simulation(world, &def);
    lab_expect(sim, frozen_expected_report);
    lab_run(sim, steps);
    if (!sand_simulation_build(sim, &error)) fail_msg("%s", error.text);
    SandProblem copy = frozen_copy(sand_simulation_problem(sim));
    sand_simulation_free(sim);
    return copy;
}

static SandProblem frozen_open(SandScene *scene, int steps, int iterations) {
    SandProblem p = frozen_world(&scene->world, steps, iterations);
    sand_scene_free(scene);
    return p;
}

SandProblem frozen_scene(const char *name, int bodies, int steps, int iterations) {
    SandScene scene;
    SandError error = {""};
    SandSceneOptions options = {.bodies = bodies};
    if (!sand_scene_load(&scene, name, &options, &error)) fail_msg("%s", error.text);
    return frozen_open(&scene, steps, iterations);
}

SandProblem frozen_text(const char *text, int steps, int iterations) {
    SandScene scene;
    SandError error = {""};
    SandSceneOptions options = {0};
    if (!sand_scene_load_text(&scene, text, strlen(text), "frozen.yaml", &options, &error)) fail_msg("%s", error.text);
    return frozen_open(&scene, steps, iterations);
}

static const char cup_scene[] = "name: cup\n"
                                "about: Spheres at rest in a narrow cup.\n"
                                "seconds: 1\n"
                                "step: 0.01\n"
                                "materials:\n"
                                "  - {name: ball, density: 1500, mu: 0.3}\n"
                                "boundaries:\n"
                                "  - {name: cup, shape: cylinder, radius: 0.4, height: 10, caps: bottom}\n"
                                "fills:\n"
                                "  - radius: 0.1\n"
                                "    count: 60\n"
                                "    lattice: {spacing: 0.22, jitter: 0.008, columns: 3, from: 0.15}\n"
                                "    region: {cylinder: 0.3}\n";

SandProblem frozen_cup(void) { return frozen_text(cup_scene, 200, 50); }

void frozen_set_mu(SandProblem *p, double mu) {
    for (int i = 0; i < p->contact_count; i++) p->contacts[i].mu = mu;
}

void frozen_set_cold(SandProblem *p) {
    for (int i = 0; i < sand_problem_vectors(p); i++) p->start[i] = v3_make(0, 0, 0);
}

void frozen_open_gaps(SandProblem *p, double least) {
    for (int i = 0; i < p->contact_count; i++) {
        SandContact *c = &p->contacts[i];
        double wider = fmax(c->gap, least) - c->gap;
        c->gap += wider;
        c->arm_a = v3_madd(c->arm_a, 0.5 * wider, c->normal); // the point stays in the middle of the gap
        c->arm_b = v3_madd(c->arm_b, -0.5 * wider, c->normal);
    }
}

SandProblem frozen_well_posed(const SandProblem *problem, double mu) {
    SandProblem p = frozen_copy(problem);
    if (mu >= 0) frozen_set_mu(&p, mu);
    frozen_set_cold(&p);
    frozen_open_gaps(&p, 1e-4);
    return p;
}

static void stored_path(const char *name, char *path, size_t size) {
    snprintf(path, size, "%s/tests/problems/%s.sand", SAND_SOURCE_DIR, name);
}

SandProblem frozen_stored(const char *name) {
    SandProblem p = {0};
    SandError error = {""};
    char path[4096];
    stored_path(name, path, sizeof path);
    if (!sand_problem_load(&p, path, &error)) fail_msg("%s", error.text);
    return p;
}

void frozen_store(const char *name, const SandProblem *problem) {
    SandError error = {""};
    char path[4096];
    stored_path(name, path, sizeof path);
    if (!sand_problem_save(problem, path, &error)) fail_msg("%s", error.text);
}
