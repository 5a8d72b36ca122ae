// SPDX-License-Identifier: MIT
// Fuzzes the library's functions: worlds built, simulations created, changed, stepped, saved and restored with numbers of
// which some are wrong. Nothing may crash or run on; what is refused has a sentence; a step that fails has moved nothing;
// and after a step that succeeds every body that takes part is finite.
//   fuzz_api SEED COUNT     that many cases, the first of which has this number
// Each case has a process of its own, so that a crash, a hang or what a sanitizer reports ends that case alone. The last
// lines of a run say which cases failed, how each ended, and the command that runs it again; with the tenth it stops. For an
// hour:
//   timeout 3600 build-address/fuzz_api 1000000 100000000
#include "sandglass/query.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"
#include "sim/core/random.h"
#include "sim/step/checkpoint.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BODIES = 12, MOST_EDITS = 64, CALLS = 24, MOST_FAILED = 10, MOST_SECONDS = 120 };

// A value that was overwritten, to be put back.
typedef struct Edit {
    void *at;
    size_t size;
    unsigned char before[sizeof(SandVec3)];
} Edit;

typedef struct Case {
    SandRandom random;
    double odds; // of a wrong number
    SandError error;
    SandSimulation *sim;
    SandCheckpoint saved;
    bool has_saved;
    void *bytes; // a state as bytes, or NULL
    size_t size;
    Edit edits[MOST_EDITS]; // since the last step that succeeded
    int edit_count;
    bool changed; // bodies may be others than a step left
} Case;

static void fail(const char *what, const SandError *error) {
    fprintf(stderr, "fuzz_api: %s%s%s\n", what, error ? ": " : "", error ? error->text : "");
    abort();
}

// A call that fails must say why in one sentence.
static bool expect_sentence(Case *c, bool ok, const char *call) {
    if (!ok && (!*c->error.text || strchr(c->error.text, '\n'))) fail(call, &c->error);
    c->error.text[0] = 0;
    return ok;
}

// --- numbers --------------------------------------------------------------------------------------------------

static int below(Case *c, int n) { return (int)(sand_random_bits(&c->random) % (uint64_t)n); }
static bool wrong(Case *c) { return sand_random_unit(&c->random) < c->odds; }

// Mostly from low to high; sometimes anything.
static double number(Case *c, double low, double high) {
    static const double anything[] = {NAN,  INFINITY, -INFINITY, 0,    -0.0,   -1,    1e300, -1e300, 1e-300,
                                      1e30, 1e12,     1e9,       1e-9, 5e-324, 1e160, -1e30, 1e39,   1e-39};
    if (wrong(c)) return anything[below(c, sizeof anything / sizeof *anything)];
    return low + (high - low) * sand_random_unit(&c->random);
}

// Mostly an index below n; sometimes anything.
static int index_of(Case *c, int n) {
    static const int anything[] = {-1, -2, 0, 1, 17, 9999, 1 << 30, INT32_MAX, INT32_MIN};
    if (n == 0 || wrong(c)) return anything[below(c, sizeof anything / sizeof *anything)];
    return below(c, n);
}

static SandVec3 vector(Case *c, double reach) {
    return v3_make(number(c, -reach, reach), number(c, -reach, reach), number(c, -reach, reach));
}

static SandQuat rotation(Case *c) {
    if (below(c, 3)) return q_identity();
    return (SandQuat){number(c, -1, 1), number(c, -1, 1), number(c, -1, 1), number(c, -1, 1)};
}

// --- worlds ---------------------------------------------------------------------------------------------------

static SandMaterial make_material(Case *c) {
    SandMaterial m = {.density = number(c, 500, 5000), .mu = number(c, 0, 1)};
    snprintf(m.name, sizeof m.name, "m%d", below(c, 100));
    if (below(c, 3) == 0) m.restitution = number(c, 0, 1);
    if (below(c, 3) == 0) m.cohesion = number(c, 0, 1);
    if (below(c, 4) == 0) m.rolling = number(c, 0, 0.01);
    if (below(c, 4) == 0) m.spinning = number(c, 0, 0.01);
    return m;
}

static void add_material(Case *c, SandWorld *w) {
    SandMaterial m = make_material(c);
    int index = sand_world_add_material(w, &m, &c->error);
    if (!expect_sentence(c, index >= 0, "material")) return;
    if (below(c, 4) == 0) {
        SandPair pair = {number(c, 0, 1), number(c, 0, 1), number(c, 0, 1), number(c, 0, 0.01), number(c, 0, 0.01)};
        sand_world_set_pair(w, index, below(c, w->material_count), &pair);
    }
    if (below(c, 4) == 0) {
        m = make_material(c);
        expect_sentence(c, sand_world_set_material(w, below(c, w->material_count + 1), &m, &c->error), "another material");
    }
}

static bool make_shape(Case *c, SandShape *s) {
    SandVec3 points[8];
    SandShapeSphere spheres[3];
    for (int i = 0; i < 8; i++) points[i] = vector(c, 0.2);
    for (int i = 0; i < 3; i++) spheres[i] = (SandShapeSphere){vector(c, 0.1), number(c, 0.05, 0.2)};
    switch (below(c, 8)) {
    case 0: return sand_shape_clump(s, spheres, wrong(c) ? 0 : 3, &c->error);
    case 1: return sand_shape_box(s, v3_make(number(c, 0.05, 0.3), number(c, 0.05, 0.3), number(c, 0.05, 0.3)), &c->error);
    case 2: return sand_shape_cylinder(s, number(c, 0.05, 0.2), number(c, 0.05, 0.3), &c->error);
    case 3: return sand_shape_capsule(s, number(c, 0.05, 0.2), number(c, 0.05, 0.3), &c->error);
    case 4: return sand_shape_hull(s, points, wrong(c) ? 2 : 8, &c->error);
    default: return sand_shape_sphere(s, &c->error);
    }
}

static void add_shape(Case *c, SandWorld *w) {
    SandShape shape;
    if (!expect_sentence(c, make_shape(c, &shape), "shape")) return;
    if (!expect_sentence(c, sand_world_add_shape(w, &shape, &c->error) >= 0, "shape")) sand_shape_free(&shape);
}

static bool make_boundary(Case *c, SandBoundary *b) {
    double heights[9];
    double profile[3][2] = {{number(c, 0.5, 1), -1}, {number(c, 0.5, 1), 0}, {number(c, 0.5, 2), number(c, 0.5, 1)}};
    for (int i = 0; i < 9; i++) heights[i] = number(c, -0.2, 0.2);
    SandSide side = below(c, 2) ? SAND_INSIDE : SAND_OUTSIDE;
    switch (below(c, 6)) {
    case 0: return sand_boundary_box(b, v3_make(number(c, 1, 3), number(c, 1, 3), number(c, 1, 3)), side, &c->error);
    case 1: return sand_boundary_sphere(b, number(c, 0.5, 3), side, &c->error);
    case 2: return sand_boundary_revolution(b, (const double(*)[2])profile, 3, side, &c->error);
    case 3: return sand_boundary_terrain(b, heights, 3, 3, v3_make(number(c, 1, 3), number(c, 1, 3), 0), &c->error);
    default: return sand_boundary_plane(b, vector(c, 0.2), v3_make(number(c, -0.2, 0.2), 0, number(c, 0.5, 1)), &c->error);
    }
}

static void add_boundary(Case *c, SandWorld *w) {
    SandBoundary b;
    if (!expect_sentence(c, make_boundary(c, &b), "boundary")) return;
    snprintf(b.name, sizeof b.name, "b%d", w->boundary_count);
    b.material = index_of(c, w->material_count);
    if (below(c, 4) == 0) {
        b.moves = true;
        b.motion =
            (SandMotion){.velocity = vector(c, 1), .axis = vector(c, 1), .rate = number(c, -3, 3), .stop = number(c, 0, 9)};
    }
    if (!expect_sentence(c, sand_world_add_boundary(w, &b, &c->error) >= 0, "boundary")) sand_boundary_free(&b);
}

static void add_body(Case *c, SandWorld *w) {
    SandBodyDef def = sand_default_body();
    def.shape = index_of(c, w->shape_count);
    def.material = index_of(c, w->material_count);
    def.scale = number(c, 0.1, 1);
    if (below(c, 3) == 0) def.mass = number(c, 0, 100);
    def.pose.position = vector(c, 1);
    def.pose.rotation = rotation(c);
    def.velocity = vector(c, 3);
    def.spin = vector(c, 10);
    if (below(c, 8) == 0) def.enter = number(c, 0, 0.1);
    expect_sentence(c, sand_world_add_body(w, &def, &c->error) >= 0, "body");
}

static SandDrive make_drive(Case *c, SandJointKind kind) {
    SandDrive d = sand_default_joint().drive;
    if (kind != SAND_JOINT_HINGE && kind != SAND_JOINT_SLIDER && kind != SAND_JOINT_DISTANCE && !wrong(c)) return d;
    if (below(c, 2)) d.low = number(c, -1, 0), d.high = number(c, 0, 1);
    if (below(c, 2)) d.motor = (SandMotor)(wrong(c) ? 7 : below(c, 3)), d.target = number(c, -3, 3);
    if (below(c, 2)) d.strength = number(c, 0, 100);
    if (below(c, 3) == 0) d.stiffness = number(c, 0, 100), d.damping = number(c, 0, 10);
    if (below(c, 4) == 0) d.rest = number(c, -1, 1), d.rate = number(c, 0, 20), d.speed = number(c, 0, 5);
    return d;
}

static void add_joint(Case *c, SandWorld *w) {
    SandJointDef def = sand_default_joint();
    def.kind = (SandJointKind)(wrong(c) ? 77 : below(c, SAND_JOINT_KINDS));
    def.a = below(c, 3) ? index_of(c, w->body_count) : -1;
    def.b = index_of(c, w->body_count);
    def.anchor = vector(c, 1);
    def.anchor_b = vector(c, 1);
    if (below(c, 3) == 0) def.axis = vector(c, 1);
    def.drive = make_drive(c, def.kind);
    def.collide = below(c, 2);
    expect_sentence(c, sand_world_add_joint(w, &def, &c->error) >= 0, "joint");
}

static void add_probe(Case *c, SandWorld *w) {
    SandProbe p = below(c, 4) ? sand_probe_of((SandProbeKind)(1 + below(c, SAND_PROBE_KINDS - 1)))
                              : sand_probe_flow(vector(c, 1), vector(c, 1));
    snprintf(p.name, sizeof p.name, "p%d", below(c, 100));
    if (below(c, 2)) sand_probe_box(&p, vector(c, 1), v3_make(number(c, 1, 2), number(c, 1, 2), number(c, 1, 2)));
    if (below(c, 4) == 0) sand_probe_line(&p, vector(c, 1), vector(c, 1), number(c, 0.1, 1), index_of(c, 9));
    if (below(c, 2)) p.body = index_of(c, w->body_count);
    if (below(c, 2)) p.boundary = index_of(c, w->boundary_count);
    if (below(c, 2)) p.rate = number(c, 0, 100);
    expect_sentence(c, sand_world_add_probe(w, &p, &c->error) >= 0, "probe");
}

static void add_flow(Case *c, SandWorld *w) {
    SandOutlet o = below(c, 2) ? sand_outlet_box(vector(c, 1), vector(c, 2)) : sand_outlet_plane(vector(c, 1), vector(c, 1));
    if (below(c, 2)) expect_sentence(c, sand_world_add_outlet(w, &o, &c->error) >= 0, "outlet");
    SandInlet in = {.lower = vector(c, 1),
                    .upper = v3_make(number(c, 1, 4), number(c, 1, 4), number(c, 1, 4)),
                    .rate = number(c, 10, 1000),
                    .start = number(c, 0, 0.1),
                    .first = index_of(c, w->body_count),
                    .count = index_of(c, 4),
                    .seed = 1};
    if (below(c, 3) == 0) expect_sentence(c, sand_world_add_inlet(w, &in, &c->error) >= 0, "inlet");
}

static void set_world(Case *c, SandWorld *w) {
    w->gravity = v3_make(0, 0, number(c, -10, -9));
    w->step = number(c, 0.001, 0.02);
    if (below(c, 4) == 0) w->sleep_speed = number(c, 0, 0.1);
    if (below(c, 4) == 0) w->envelope = number(c, 0, 0.1);
    if (below(c, 8) == 0) w->lower = vector(c, 2), w->upper = v3_make(number(c, 3, 9), number(c, 3, 9), number(c, 3, 9));
    if (below(c, 8) == 0)
        for (int a = 0; a < 3; a++) w->periodic[a] = below(c, 2);
    if (below(c, 16) == 0) w->squeeze.rate = number(c, 0, 1), w->squeeze.pressure = number(c, 1, 1000);
}

static SandWorld make_world(Case *c) {
    SandWorld w;
    sand_world_init(&w);
    if (below(c, 2)) set_world(c, &w);
    for (int k = 1 + below(c, 2); k-- > 0;) add_material(c, &w);
    for (int k = 1 + below(c, 2); k-- > 0;) add_shape(c, &w);
    for (int k = below(c, 3); k-- > 0;) add_boundary(c, &w);
    for (int k = below(c, MOST_BODIES); k-- > 0;) add_body(c, &w);
    for (int k = below(c, 3); k-- > 0;) add_joint(c, &w);
    for (int k = below(c, 3); k-- > 0;) add_probe(c, &w);
    if (below(c, 4) == 0) add_flow(c, &w);
    return w;
}

static SandSolveDef make_solve(Case *c) {
    SandSolveDef def = sand_default_solve();
    if (below(c, 2)) sand_solve_choose(&def, below(c, sand_solver_count()));
    if (wrong(c)) def.solver = index_of(c, sand_solver_count());
    if (below(c, 3) == 0) def.friction = (SandFriction)index_of(c, SAND_FRICTION_COUNT);
    if (below(c, 4) == 0) def.bounds = (SandBounds)index_of(c, SAND_BOUNDS_COUNT);
    if (below(c, 4) == 0) def.facets = index_of(c, 40);
    if (wrong(c)) def.params[below(c, SAND_MAX_PARAMS)] = number(c, 0, 1);
    if (wrong(c)) def.presolve = below(c, 50) - 1, def.renewal = below(c, 50) - 1;
    def.iterations = wrong(c) ? -5 : below(c, 30);
    def.tolerance = below(c, 3) ? 0 : number(c, 0, 1e-3);
    def.accuracy = below(c, 6) ? 0 : number(c, 0, 99);
    def.islands = below(c, 4) ? 0 : wrong(c) ? -1 : below(c, 100);
    return def;
}

// --- calls ----------------------------------------------------------------------------------------------------

static void overwrite(Case *c, void *at, const void *value, size_t size) {
    if (c->edit_count == MOST_EDITS) return;
    Edit *e = &c->edits[c->edit_count++];
    e->at = at;
    e->size = size;
    memcpy(e->before, at, size);
    memcpy(at, value, size);
}

static void overwrite_number(Case *c, double *at, double value) { overwrite(c, at, &value, sizeof value); }
static void overwrite_vector(Case *c, SandVec3 *at, SandVec3 value) { overwrite(c, at, &value, sizeof value); }
static void overwrite_index(Case *c, int *at, int value) { overwrite(c, at, &value, sizeof value); }

static void undo(Case *c) {
    SandWorld *w = sand_simulation_change_bodies(c->sim, &c->error);
    if (!w) fail("undo", &c->error);
    while (c->edit_count > 0) {
        Edit *e = &c->edits[--c->edit_count];
        memcpy(e->at, e->before, e->size);
    }
}

static void edit_body(Case *c) {
    SandWorld *w = sand_simulation_change_bodies(c->sim, &c->error);
    c->changed = true;
    if (!expect_sentence(c, w != NULL, "change_bodies") || w->body_count == 0) return;
    int i = below(c, w->body_count);
    SandQuat q = rotation(c);
    double *turn[] = {&w->rotation[i].w, &w->rotation[i].x, &w->rotation[i].y, &w->rotation[i].z};
    switch (below(c, 10)) {
    case 0: overwrite_vector(c, &w->position[i], vector(c, 2)); break;
    case 1: overwrite_vector(c, &w->velocity[i], vector(c, 20)); break;
    case 2: overwrite_vector(c, &w->spin[i], vector(c, 50)); break;
    case 3:
        for (int k = 0; k < 4; k++) overwrite_number(c, turn[k], (&q.w)[k]);
        break;
    case 4: overwrite_number(c, &w->mass[i], number(c, 0.1, 100)); break;
    case 5: overwrite_vector(c, &w->inertia[i], v3_make(number(c, 0.1, 1), number(c, 0.1, 1), number(c, 0.1, 1))); break;
    case 6: overwrite_number(c, &w->scale[i], number(c, 0.1, 1)); break;
    case 7: overwrite_index(c, &w->shape[i], index_of(c, w->shape_count)); break;
    case 8: overwrite_index(c, &w->material[i], index_of(c, w->material_count)); break;
    case 9: overwrite_number(c, &w->enter[i], number(c, 0, 0.2)); break;
    }
}

static void edit_boundary(Case *c, SandWorld *w) {
    SandBoundary *b = &w->boundaries[below(c, w->boundary_count)];
    switch (below(c, 7)) {
    case 0: overwrite_vector(c, &b->pose.position, vector(c, 1)); break;
    case 1: overwrite_vector(c, &b->motion.velocity, vector(c, 1)); break;
    case 2: overwrite_number(c, &b->motion.rate, number(c, -3, 3)); break;
    case 3: overwrite_index(c, &b->material, index_of(c, w->material_count)); break;
    case 4: overwrite_vector(c, &b->motion.amplitude, vector(c, 1)); break;
    case 5: overwrite_number(c, &b->motion.frequency, number(c, 0, 30)); break;
    case 6: overwrite_vector(c, &b->motion.surface, vector(c, 1)); break;
    }
}

static void edit_joint(Case *c, SandWorld *w) {
    SandJoint *j = &w->joints[below(c, w->joint_count)];
    switch (below(c, 5)) {
    case 0: overwrite_number(c, &j->drive.target, number(c, -3, 3)); break;
    case 1: overwrite_number(c, &j->drive.strength, number(c, 0, 100)); break;
    case 2: overwrite_number(c, &j->drive.stiffness, number(c, 0, 100)); break;
    case 3: overwrite_index(c, &j->b, index_of(c, w->body_count)); break;
    case 4: overwrite_vector(c, &j->anchor_a, vector(c, 1)); break;
    }
}

static void edit_settings(Case *c) {
    SandWorld *w = sand_simulation_change(c->sim);
    c->changed = true;
    switch (below(c, 10)) {
    case 0: overwrite_vector(c, &w->gravity, vector(c, 20)); break;
    case 1: overwrite_number(c, &w->step, number(c, 0.001, 0.02)); break;
    case 2: overwrite_number(c, &w->recovery, number(c, 0, 2)); break;
    case 3: overwrite_number(c, &w->envelope, number(c, 0, 0.1)); break;
    case 4: overwrite_number(c, &w->sleep_speed, number(c, 0, 0.1)); break;
    case 5: overwrite_vector(c, &w->spring.target, vector(c, 1)); break;
    case 6: overwrite_index(c, &w->spring.body, index_of(c, w->body_count)); break;
    case 7: overwrite_vector(c, &w->lower, v3_make(number(c, -9, -3), number(c, -9, -3), number(c, -9, -3))); break;
    case 8:
        if (w->boundary_count) edit_boundary(c, w);
        break;
    case 9:
        if (w->joint_count) edit_joint(c, w);
        break;
    }
}

// Bodies that take part must be finite after a step.
static void check_state(const SandWorld *w) {
    for (int i = 0; i < w->body_count; i++) {
        if (w->gone[i] || !sand_world_active(w, i)) continue;
        SandQuat q = w->rotation[i];
        bool finite = v3_finite(w->position[i]) && v3_finite(w->velocity[i]) && v3_finite(w->spin[i]);
        if (!finite || !isfinite(q.w + q.x + q.y + q.z)) fail("a body is not finite after a step", NULL);
    }
}

typedef struct Steps {
    long taken, refused;
} Steps;
static Steps steps; // of the case

static void step(Case *c) {
    const SandWorld *w = sand_simulation_world(c->sim);
    uint64_t before = sand_world_hash(w);
    bool ok = sand_simulation_step(c->sim, &c->error);
    // Where something was changed rotations are scaled, and bodies taken out, whatever the step does; inlets place bodies
    // before it, and again in the next.
    if (!ok && !c->changed && w->inlet_count == 0 && sand_world_hash(w) != before)
        fail("a step that failed has moved something", &c->error);
    *(ok ? &steps.taken : &steps.refused) += 1;
    if (expect_sentence(c, ok, "step")) {
        c->edit_count = 0;
        c->changed = false;
        check_state(w);
    } else {
        undo(c);
    }
}

static void read_everything(Case *c) {
    SandJointRow rows[64];
    SandBodyState state;
    SandJointState joint;
    expect_sentence(c, sand_simulation_fetch_contacts(c->sim, &c->error), "fetch_contacts");
    int found = sand_simulation_joint_rows(c->sim, rows, 64), all = sand_simulation_solved_contacts(c->sim);
    if (found > all) fail("more rows of joints than rows", NULL);
    if (all && sand_simulation_counters(c->sim)->contacts != all - found)
        fail("contacts and rows of joints do not add up", NULL);
    sand_simulation_motor(c->sim, index_of(c, 3));
    sand_joint_coordinate(sand_simulation_world(c->sim), index_of(c, 3));
    expect_sentence(c, sand_simulation_residuals(c->sim, &c->error) != NULL, "residuals");
    expect_sentence(c, sand_simulation_read_body(c->sim, index_of(c, 4), &state, &c->error), "read_body");
    expect_sentence(c, sand_simulation_read_joint(c->sim, index_of(c, 3), &joint, &c->error), "read_joint");
    sand_simulation_measure(c->sim);
    sand_simulation_energy(c->sim);
}

// Questions with wrong numbers, and whether answers are bodies and boundaries that there are.
static void ask(Case *c) {
    const SandWorld *w = sand_simulation_world(c->sim);
    SandRay ray = {vector(c, 3), vector(c, 1), below(c, 2) ? INFINITY : number(c, 0, 5), index_of(c, w->body_count)};
    SandPose pose = {vector(c, 2), q_identity()};
    SandHit hit;
    int found[4];
    if (expect_sentence(c, sand_simulation_raycast(c->sim, &ray, 1, &hit, &c->error), "raycast") &&
        (hit.body >= w->body_count || hit.boundary >= w->boundary_count || !(hit.distance >= 0)))
        fail("a ray has met what is not there", NULL);
    if (expect_sentence(c, sand_simulation_closest(c->sim, &ray.from, 1, ray.reach, &hit, &c->error), "closest") &&
        (hit.body >= w->body_count || hit.boundary >= w->boundary_count || isnan(hit.distance)))
        fail("what is not there is nearest", NULL);
    for (int k = 0; k < w->shape_count; k++)
        expect_sentence(
            c, sand_simulation_overlap(c->sim, &w->shapes[k], number(c, 0, 1), pose, found, below(c, 5), &c->error) >= 0,
            "overlap");
    expect_sentence(c, sand_simulation_keep_events(c->sim, below(c, 2), &c->error), "keep_events");
    sand_simulation_contact_events(c->sim, NULL, 0);
}

static void release_contacts(Case *c) {
    SandProblem problem;
    SandSolution solution;
    sand_simulation_release_contacts(c->sim, &problem, &solution);
    sand_problem_free(&problem);
    sand_solution_free(&solution);
}

static void save_or_restore(Case *c) {
    if (!c->has_saved || below(c, 2)) {
        c->has_saved =
            c->edit_count == 0 && expect_sentence(c, sand_simulation_save_state(c->sim, &c->saved, &c->error), "save");
    } else if (expect_sentence(c, sand_simulation_restore_state(c->sim, &c->saved, &c->error), "restore")) {
        c->edit_count = 0;
        c->changed = true;
    }
}

// Bytes as they were saved, or, where a number is wrong, cut off or with one of them changed: those are refused.
static void save_or_restore_bytes(Case *c) {
    if (!c->bytes || below(c, 2)) {
        sand_free(c->bytes);
        c->bytes = NULL;
        expect_sentence(c, sand_simulation_save(c->sim, &c->bytes, &c->size, &c->error), "save");
        return;
    }
    uint64_t before = sand_world_hash(sand_simulation_world(c->sim));
    size_t size = wrong(c) ? (size_t)below(c, (int)c->size) : c->size, at = (size_t)below(c, (int)c->size);
    unsigned char flip = wrong(c) ? (unsigned char)(1 << below(c, 8)) : 0;
    ((unsigned char *)c->bytes)[at] ^= flip;
    bool restored = expect_sentence(c, sand_simulation_restore(c->sim, c->bytes, size, &c->error), "restore");
    ((unsigned char *)c->bytes)[at] ^= flip;
    if (restored && (size < c->size || flip)) fail("a damaged state was restored", NULL);
    if (!restored && sand_world_hash(sand_simulation_world(c->sim)) != before)
        fail("a state that was refused has changed something", NULL);
    if (!restored) return;
    c->edit_count = 0;
    c->changed = true;
}

static void add_while_running(Case *c) {
    SandWorld *w = sand_simulation_change_bodies(c->sim, &c->error);
    c->changed = true;
    c->edit_count = 0; // arrays move, and with them what would be put back
    if (expect_sentence(c, w != NULL, "change_bodies") && w->body_count < 2 * MOST_BODIES) add_body(c, w);
    c->has_saved = false;
}

// Forces that are refused change nothing: what acts is as it was.
static void apply_force(Case *c) {
    enum { MOST = 3 };
    int count = below(c, MOST + 1), bodies = sand_simulation_world(c->sim)->body_count;
    int body[MOST] = {index_of(c, bodies), index_of(c, bodies), index_of(c, bodies)};
    SandVec3 force[MOST] = {vector(c, 50), vector(c, 50), vector(c, 50)},
             at[MOST] = {vector(c, 1), vector(c, 1), vector(c, 1)};
    SandForces forces = {.count = count,
                         .body = body,
                         .force = below(c, 4) ? force : NULL,
                         .torque = below(c, 2) ? at : NULL,
                         .at = below(c, 2) ? at : NULL};
    bool none = sand_simulation_world(c->sim)->force == NULL;
    if (!expect_sentence(c, sand_simulation_apply_force(c->sim, &forces, &c->error), "apply_force") && none &&
        sand_simulation_world(c->sim)->force)
        fail("forces that were refused act", NULL);
}

static void call(Case *c) {
    SandSolveDef solve = make_solve(c);
    switch (below(c, 16)) {
    case 0: expect_sentence(c, sand_simulation_set_solve(c->sim, &solve, &c->error), "set_solve"); break;
    case 1: below(c, 2) ? save_or_restore(c) : save_or_restore_bytes(c); break;
    case 2: read_everything(c); break;
    case 3: release_contacts(c); break;
    case 4: expect_sentence(c, sand_simulation_build(c->sim, &c->error), "build"); break;
    case 5: edit_settings(c); break;
    case 6:
    case 7: edit_body(c); break;
    case 8:
        if (c->edit_count == 0) add_while_running(c);
        break;
    case 9: ask(c); break;
    case 10: apply_force(c); break;
    default: step(c); break;
    }
}

// --- cases ----------------------------------------------------------------------------------------------------

static void run_case(uint64_t seed) {
    static const double odds[] = {0, 0.003, 0.02, 0.1};
    Case c = {.random = sand_random(seed + 1), .changed = true};
    c.odds = odds[below(&c, 4)];
    SandWorld world = make_world(&c);
    SandSimulationDef def = sand_default_simulation();
    def.threads = wrong(&c) ? index_of(&c, 3) : 1 + below(&c, 2);
    if (def.threads > 8) def.threads = 2;
    def.precision = below(&c, 2) ? SAND_FLOAT : SAND_DOUBLE;
    def.solve = make_solve(&c);
    c.sim = sand_simulation_create(&world, &def, &c.error);
    if (!expect_sentence(&c, c.sim != NULL, "create")) return;
    sand_simulation_want_curve(c.sim, below(&c, 2));
    for (int k = 0; k < CALLS; k++) call(&c);
    sand_simulation_free(c.sim);
    sand_checkpoint_free(&c.saved);
    sand_free(c.bytes);
}

typedef struct Failed {
    uint64_t seed;
    int status; // as waitpid has it
} Failed;

// Runs a case in a process of its own, which tells its steps if it comes to its end, and adds them to the sum; false when
// there is none to have. The process ends by exit, where leaks are looked for.
static bool run_apart(uint64_t seed, int *status, Steps *sum) {
    int ends[2];
    Steps told;
    if (pipe(ends) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        alarm(MOST_SECONDS);
        run_case(seed);
        exit(write(ends[1], &steps, sizeof steps) == sizeof steps ? 0 : 2);
    }
    close(ends[1]);
    if (child > 0 && read(ends[0], &told, sizeof told) == sizeof told) {
        sum->taken += told.taken;
        sum->refused += told.refused;
    }
    close(ends[0]);
    return child > 0 && waitpid(child, status, 0) == child;
}

static void tell(Failed failed, const char *program) {
    unsigned long long seed = failed.seed;
    fprintf(stderr, "fuzz_api: case %llu ", seed);
    if (!WIFSIGNALED(failed.status))
        fprintf(stderr, "ended with status %d", WEXITSTATUS(failed.status));
    else if (WTERMSIG(failed.status) == SIGALRM)
        fprintf(stderr, "ran longer than %d s", MOST_SECONDS);
    else
        fprintf(stderr, "was ended by signal %d (%s)", WTERMSIG(failed.status), strsignal(WTERMSIG(failed.status)));
    fprintf(stderr, "; again: %s %llu 1\n", program, seed);
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: fuzz_api SEED COUNT\n"), 2;
    uint64_t seed = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10), k = 0;
    Failed failed[MOST_FAILED];
    Steps sum = {0, 0};
    int fails = 0;
    for (; k < count && fails < MOST_FAILED; k++) {
        int status;
        if (!run_apart(seed + k, &status, &sum)) return perror("fuzz_api: no process for a case"), 2;
        if (status == 0) continue;
        failed[fails++] = (Failed){seed + k, status};
        tell(failed[fails - 1], argv[0]); // beneath what the case has said
    }
    fprintf(stderr, "%llu cases, of which %d failed; %ld steps were taken, %ld refused\n", (unsigned long long)k, fails,
            sum.taken, sum.refused);
    for (int i = 0; i < fails; i++) tell(failed[i], argv[0]);
    bool poor = fails == 0 && count > 100 && (sum.taken == 0 || sum.refused == 0);
    if (poor) fprintf(stderr, "fuzz_api: cases in which no step is taken, or none is refused, test little\n");
    return fails > 0 || poor;
}
