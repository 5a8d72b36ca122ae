// SPDX-License-Identifier: MIT
// The laws of a pair of materials beside friction: in scene files, and what they do. Restitution: heights of a bouncing
// ball, oblique impacts, impacts of several bodies, and that energy does not grow. Cohesion: what a contact holds, and what
// friction gains by it.
#include "tests/lab/lab.h"
#include "sim/solver/contact_result.h"
#include "sim/step/checkpoint.h"

// A world of one material with these laws.
static SandWorld world_of(double mu, double restitution, double cohesion) {
    SandWorld world = lab_world(mu);
    lab_set_laws(&world, 0, restitution, cohesion);
    return world;
}

static int ball(SandWorld *world, double radius, SandVec3 position, SandVec3 velocity) {
    int body = lab_body(world, 0, radius, position);
    world->velocity[body] = velocity;
    return body;
}

static SandSimulation *coulomb(SandWorld *world) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.precision = SAND_DOUBLE;
    def.solve.friction = SAND_FRICTION_COULOMB;
    def.solve.iterations = 4000;
    def.solve.tolerance = 1e-11;
    return lab_simulation(world, &def);
}

// --- scene files --------------------------------------------------------------------------------------------

static bool parse(SandScene *scene, const char *text, SandError *error) {
    return sand_scene_load_text(scene, text, strlen(text), "t.yaml", NULL, error);
}

static void refuse(const char *text, const char *key) {
    SandScene scene;
    SandError error = {""};
    assert_false(parse(&scene, text, &error));
    if (!strstr(error.text, key)) fail_msg("%s: no word of %s", error.text, key);
}

// Laws of materials and pairs arrive, a pair keeps what it does not give, and wrong numbers are refused by their key.
static void a_scene_has_laws(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    const char *text = "name: laws\nbounce_speed: 0.05\n"
                       "materials: [{name: a, mu: 0.1, restitution: 0.9, cohesion: 4}, {name: b, restitution: 0.4}]\n"
                       "pairs: [{a: a, b: b, cohesion: 3}]\n"
                       "knobs: [{name: e, kind: restitution, of: b, least: 0, most: 1}]\n";
    if (!parse(&scene, text, &error)) fail_msg("%s", error.text);
    const SandPair *pair = sand_world_pair(&scene.world, 0, 1);
    NEAR(pair->mu, sqrt(0.05), 1e-15);
    NEAR(pair->restitution, 0.6, 1e-15);
    NEAR(pair->cohesion, 3, 0);
    NEAR(sand_world_pair(&scene.world, 0, 0)->cohesion, 4, 0);
    NEAR(scene.world.bounce_speed, 0.05, 0);
    NEAR(scene.knobs[0].value, 0.4, 0);
    assert_true(sand_scene_set_knob(&scene, 0, 0.1, &error) && sand_scene_build(&scene, &error));
    NEAR(sand_world_pair(&scene.world, 0, 1)->restitution, 0.3, 1e-15);
    sand_scene_free(&scene);
    refuse("name: t\nmaterials: [{name: a, restitution: 1.5}]\n", "t.yaml:2: restitution");
    refuse("name: t\nmaterials: [{name: a}]\npairs: [{a: a, b: a, cohesion: -1}]\n", "t.yaml:3: cohesion");
    refuse("name: t\nbounce_speed: -1\n", "t.yaml:2: bounce_speed");
}

// --- one ball -----------------------------------------------------------------------------------------------

enum { FLIGHTS = 4 };

// The greatest height of each of the first flights, above where the ball lies, of the parabola through the steps: between
// two steps it is up to g h^2 / 8 higher than they are.
static void heights_of(double restitution, double step, double drop, double heights[FLIGHTS]) {
    SandWorld world = world_of(0.3, restitution, 0);
    world.step = step;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    ball(&world, 0.1, v3_make(0, 0, 0.1 + drop), v3_make(0, 0, 0));
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    SandSimulation *sim = lab_simulation(&world, &def);
    const SandWorld *w = sand_simulation_world(sim);
    for (int k = 0; k < FLIGHTS; k++) heights[k] = 0;
    double last = 0;
    for (int k = -1, i = 0; k < FLIGHTS && i < (int)(6 / step); i++) {
        lab_step(sim);
        double v = w->velocity[0].z - 0.5 * step * GRAVITY, height = w->position[0].z - 0.1 + v * v / (2 * GRAVITY);
        if (last <= 0 && w->velocity[0].z > 0) k++;
        if (k >= 0 && k < FLIGHTS && w->velocity[0].z > 0) heights[k] = height;
        last = w->velocity[0].z;
    }
    sand_simulation_free(sim);
}

// h_n = e^2n h_0. In float with the default 50 iterations, with steps of 1 ms and 10 ms; the drop is no whole number of
// steps. What is wrong is the rounding of the solve, 1e-6; 0.1 % is what is asked for. With e = 0.1 and 10 ms the rebound is
// lower than what the ball falls in a step: it closes its gap first.
static void a_ball_bounces_to_its_height(void **state) {
    (void)state;
    const double restitutions[] = {0.1, 0.3, 0.5, 0.8, 0.95, 1}, steps[] = {1e-3, 1e-2}, drop = 0.9137;
    for (size_t s = 0; s < 2; s++)
        for (size_t r = 0; r < sizeof restitutions / sizeof *restitutions; r++) {
            double e = restitutions[r], heights[FLIGHTS];
            heights_of(e, steps[s], drop, heights);
            // At rest at the start, the speed of the parabola is g h / 2.
            double start = drop + 0.125 * GRAVITY * steps[s] * steps[s], worst = 0;
            for (int k = 0; k < FLIGHTS; k++) {
                double want = pow(e, 2 * (k + 1)) * start;
                if (want < 0.004) break; // slower than bounce_speed
                worst = fmax(worst, fabs(heights[k] / want - 1));
            }
            print_message("e = %.2f, h = %g s: heights to %.1e\n", e, steps[s], worst);
            assert_true(worst < 1e-3);
        }
}

// Slower than bounce_speed it stays where it is, to the bits of no restitution.
static void a_slow_impact_does_not_bounce(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        SandWorld world = world_of(0.3, k ? 0.9 : 0, 0);
        lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
        ball(&world, 0.1, v3_make(0, 0, 0.1015), v3_make(0, 0, 0)); // 0.17 m/s
        SandSimulation *sim = lab_exact(&world);
        lab_run(sim, 100);
        hash[k] = sand_world_hash(sand_simulation_world(sim));
        sand_simulation_free(sim);
    }
    assert_true(hash[0] == hash[1]);
}

// A solid sphere without spin hits a plane with u along it and v across. The impulse across is (1 + e) v for each kg. It
// sticks if mu (1 + e) v >= 2/7 u, and leaves with 5/7 u; else friction takes mu (1 + e) v from u. The spin follows
// from the moment of friction. Touching at the start: to the tolerance of the solve. From a distance the contact point of
// the step in which they meet is in the middle of the gap, up to half of h v too far from the center: 0.05 % here.
static void an_oblique_impact_sticks_or_slips(void **state) {
    (void)state;
    const double mu = 0.2, e = 0.6, radius = 0.1, across = 2, step = 5e-5;
    for (int slips = 0; slips < 2; slips++)
        for (int far = 0; far < 2; far++) {
            double along = slips ? 4 : 1;
            SandWorld world = world_of(mu, e, 0);
            world.step = step;
            world.gravity = v3_make(0, 0, 0);
            lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
            ball(&world, radius, v3_make(0, 0, radius + (far ? 7.3 * step * across : 0)), v3_make(along, 0, -across));
            SandSimulation *sim = coulomb(&world);
            lab_run(sim, far ? 12 : 2);
            const SandWorld *w = sand_simulation_world(sim);
            double friction = fmin(mu * (1 + e) * across, 2.0 / 7 * along), close = far ? 1e-3 : 1e-8;
            print_message("%s %s: %.6f m/s across, %.6f along, %.6f of spin\n", slips ? "slips" : "sticks",
                          far ? "from afar" : "touching", w->velocity[0].z / (e * across),
                          w->velocity[0].x / (along - friction), w->spin[0].y * radius / (2.5 * friction));
            NEAR(w->velocity[0].z, e * across, 1e-8);
            NEAR(w->velocity[0].x, along - friction, close * along);
            NEAR(w->spin[0].y, 2.5 * friction / radius, close * along / radius);
            sand_simulation_free(sim);
        }
}

// --- several bodies -----------------------------------------------------------------------------------------

static void two_balls_meet_head_on(void **state) {
    (void)state;
    for (double e = 0; e <= 1; e += 0.25) {
        SandWorld world = world_of(0.3, e, 0);
        world.step = 1e-3;
        world.gravity = v3_make(0, 0, 0);
        ball(&world, 0.1, v3_make(-0.3, 0, 0), v3_make(3, 0, 0));
        ball(&world, 0.2, v3_make(0.3, 0, 0), v3_make(-1, 0, 0));
        double a = world.mass[0], b = world.mass[1], common = (3 * a - b) / (a + b);
        SandVec3 before = sand_world_momentum(&world);
        SandSimulation *sim = lab_exact(&world);
        lab_run(sim, 200);
        const SandWorld *w = sand_simulation_world(sim);
        SandVec3 change = v3_sub(sand_world_momentum(w), before);
        assert_true(v3_length(change) <= 1e-12 * v3_length(before));
        NEAR(w->velocity[0].x, common - 4 * e * b / (a + b), 1e-10);
        NEAR(w->velocity[1].x, common + 4 * e * a / (a + b), 1e-10);
        sand_simulation_free(sim);
    }
}

// Five balls in a row with gaps that a ball does not cross in two steps: impacts come one after the other, each of two
// balls, and hand the motion on.
static void a_cradle_hands_its_motion_on(void **state) {
    (void)state;
    SandSimulation *sim = lab_scene("newtons-cradle", 0, 1, SAND_FLOAT);
    const SandWorld *w = sand_simulation_world(sim);
    assert_int_equal(w->body_count, 5);
    double first = w->velocity[0].x;
    assert_true(first > 0);
    lab_run(sim, (int)(0.5 / w->step));
    for (int i = 0; i < 5; i++) print_message("ball %d: %.5f m/s\n", i, w->velocity[i].x);
    NEAR(w->velocity[4].x, first, 0.01 * first);
    for (int i = 0; i < 4; i++) NEAR(w->velocity[i].x, 0, 0.01 * first);
    sand_simulation_free(sim);
}

// Balls that fly about in a closed box, without gravity.
enum { GAS = 64 };
static SandWorld gas(double mu, double restitution, double step) {
    SandWorld world = world_of(mu, restitution, 0);
    SandRandom random = sand_random(7);
    world.gravity = v3_make(0, 0, 0);
    world.step = step;
    world.bounce_speed = 0;
    for (int k = 0; k < 6; k++) {
        double sign = k % 2 ? 1 : -1;
        SandVec3 normal = v3_make(k / 2 == 0 ? sign : 0, k / 2 == 1 ? sign : 0, k / 2 == 2 ? sign : 0);
        lab_plane(&world, v3_scale(-0.6, normal), normal);
    }
    for (int i = 0; i < GAS; i++) {
        SandVec3 place = v3_make(0.28 * (i % 4 - 1.5), 0.28 * (i / 4 % 4 - 1.5), 0.28 * (i / 16 - 1.5));
        SandVec3 speed = {sand_random_signed(&random), sand_random_signed(&random), sand_random_signed(&random)};
        ball(&world, 0.1, place, v3_scale(3, speed));
    }
    return world;
}

// The largest energy of a gas in a second, and the last, of what it begins with.
static void energies_of(double mu, double restitution, double step, double *most, double *end) {
    SandWorld world = gas(mu, restitution, step);
    double begin = sand_world_kinetic_energy(&world);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    SandSimulation *sim = lab_simulation(&world, &def);
    *most = *end = 1;
    for (int i = 0; i < (int)(1 / step); i++) {
        double last = *end;
        lab_step(sim);
        *end = sand_simulation_energy(sim).kinetic / begin;
        *most = fmax(*most, *end / last);
    }
    sand_simulation_free(sim);
}

// With e <= 1 no step gives the balls energy; 1e-6 is the rounding of a solve in float. With friction it may: where a ball
// that bounces off one body comes to another, Newton's law and friction of the two do not go together (Kane's paradox). Here
// that was 0.3 % in one step of 500 at most, with e = 1. With e = 1 balls lose energy all the same, where a ball comes to a
// second one in the step in which it bounces off a first; less with a shorter step.
static void energy_does_not_grow(void **state) {
    (void)state;
    const double restitutions[] = {0.5, 0.9, 1}, friction[] = {0, 0.3}, steps[] = {2e-3, 5e-4};
    double most, end[2];
    for (int m = 0; m < 2; m++)
        for (int r = 0; r < 3; r++) {
            energies_of(friction[m], restitutions[r], steps[0], &most, &end[0]);
            print_message("mu = %.1f, e = %.1f: a step gives at most %.2e, %.4f is left after 1 s\n", friction[m],
                          restitutions[r], most - 1, end[0]);
            assert_true(most <= 1 + (m == 0 || r < 2 ? 1e-6 : 1e-2));
        }
    for (int s = 0; s < 2; s++) {
        energies_of(0, 1, steps[s], &most, &end[s]);
        print_message("mu = 0, e = 1, h = %g s: %.4f is left after 1 s\n", steps[s], end[s]);
        assert_true(most <= 1 + 1e-6);
    }
    assert_true(end[0] > 0.7 && end[1] > 0.85 && end[1] > end[0]);
}

// A pair that has restitution and never meets leaves the bits of all others alone.
static void what_does_not_bounce_keeps_its_bits(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        SandWorld world = lab_pile(0.001);
        assert_int_equal(
            sand_world_add_material(&world, &(SandMaterial){.name = "rubber", .density = 1000, .mu = 0.3}, NULL), 1);
        if (k) lab_set_laws(&world, 1, 0.9, 5);
        SandSimulationDef def = sand_default_simulation();
        def.threads = 1 + k;
        SandSimulation *sim = lab_simulation(&world, &def);
        lab_run(sim, 150);
        hash[k] = sand_world_hash(sand_simulation_world(sim));
        sand_simulation_free(sim);
    }
    assert_true(hash[0] == hash[1]);
}

// Restored at every step, among them those between meeting and bouncing, a run has the same bits.
static void a_checkpoint_keeps_what_is_to_bounce(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        SandWorld world = gas(0.3, 0.8, 2e-3);
        SandSimulationDef def = sand_default_simulation();
        def.threads = 1 + k;
        SandSimulation *sim = lab_simulation(&world, &def);
        SandCheckpoint checkpoint = {0};
        SandError error = {""};
        for (int i = 0; i < 150; i++) {
            if (k && !(sand_simulation_save_state(sim, &checkpoint, &error))) fail_msg("%s", error.text);
            if (k) lab_run(sim, 3);
            if (k && !(sand_simulation_restore_state(sim, &checkpoint, &error))) fail_msg("%s", error.text);
            lab_step(sim);
        }
        hash[k] = sand_world_hash(sand_simulation_world(sim));
        sand_checkpoint_free(&checkpoint);
        sand_simulation_free(sim);
    }
    assert_true(hash[0] == hash[1]);
}

// Every method with the cone gives the same bounce. tgs-soft solves another problem, in substeps, and loses 2 %.
static void every_method_gives_the_same_bounce(void **state) {
    (void)state;
    for (int s = 0; s < sand_solver_count(); s++) {
        const SandSolver *solver = &sand_solver_table[s];
        if (!sand_solver_can(s, SAND_FRICTION_CONE)) continue;
        SandWorld world = world_of(0.3, 0.7, 0);
        lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
        ball(&world, 0.1, v3_make(0, 0, 0.3), v3_make(0.1, 0, -2));
        SandSimulationDef def = sand_default_simulation();
        def.threads = 1;
        def.precision = SAND_DOUBLE;
        sand_solve_choose(&def.solve, s);
        def.solve.iterations = 500;
        def.solve.tolerance = 1e-9;
        SandSimulation *sim = lab_simulation(&world, &def);
        lab_run(sim, 12);
        const SandWorld *w = sand_simulation_world(sim);
        double v = w->velocity[0].z - 0.5 * w->step * GRAVITY;
        double height = w->position[0].z - 0.1 + v * v / (2 * GRAVITY);
        double down = 2 + 0.5 * w->step * GRAVITY, want = 0.49 * (0.2 + down * down / (2 * GRAVITY));
        print_message("%-14s %.6f of the height\n", solver->name, height / want);
        NEAR(height, want, (solver->friction & SAND_INEXACT ? 0.05 : 1e-3) * want);
        sand_simulation_free(sim);
    }
}

// --- cohesion -----------------------------------------------------------------------------------------------

// How far the lowest of a chain of balls under a ceiling has fallen after a second. The cohesion of a ball with the next and
// with the ceiling is this times what hangs from it.
static double fall_of(int balls, double held) {
    SandWorld world = world_of(0.3, 0, 0);
    sand_world_add_material(&world, &(SandMaterial){.name = "ceiling", .density = 2500, .mu = 0.3}, NULL);
    int ceiling = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, -1));
    world.boundaries[ceiling].material = 1;
    for (int i = 0; i < balls; i++) ball(&world, 0.1, v3_make(0, 0, -0.1 - 0.2 * i), v3_make(0, 0, 0));
    double weight = world.mass[0] * GRAVITY;
    lab_set_pair_laws(&world, 0, 0, 0, balls > 1 ? held * weight : 0);
    lab_set_pair_laws(&world, 0, 1, 0, balls > 1 ? 10 * weight : held * weight);
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 100);
    double down = -0.1 - 0.2 * (balls - 1) - sand_simulation_world(sim)->position[balls - 1].z;
    sand_simulation_free(sim);
    return down;
}

static void a_contact_holds_its_cohesion(void **state) {
    (void)state;
    for (int balls = 1; balls < 3; balls++) {
        double holds = fall_of(balls, 1.001), tears = fall_of(balls, 0.999), bare = fall_of(balls, 0);
        print_message("%d: 0.1 %% more than the weight sinks %.2e m, 0.1 %% less %.3f m, none %.3f m\n", balls, holds, tears,
                      bare);
        assert_true(fabs(holds) < 1e-9);
        assert_true(tears > 0.1); // slowly out of reach, 1 mm, and then freely
        NEAR(bare, 0.5 * GRAVITY, 0.1);
    }
}

// The reported impulse is that of the contact: a ball that hangs is pulled up by its weight.
static void a_hanging_ball_is_pulled(void **state) {
    (void)state;
    SandWorld world = world_of(0.3, 0, 100);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, -1));
    ball(&world, 0.1, v3_make(0, 0, -0.1), v3_make(0, 0, 0));
    lab_set_pair_laws(&world, 0, 0, 0, 3 * world.mass[0] * GRAVITY);
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 20);
    const SandProblem *p = sand_simulation_problem(sim);
    const SandSolution *s = sand_simulation_solution(sim);
    double weight = sand_simulation_world(sim)->mass[0] * GRAVITY;
    SandContactResult result;
    assert_int_equal(p->contact_count, 1);
    sand_contact_results(p, s, &result);
    NEAR(v3_dot(sand_contact_impulse(p, s, 0), p->contacts[0].normal) / p->step, -weight, 1e-9 * weight);
    NEAR(result.impulse[0] / p->step, -weight, 1e-9 * weight);
    NEAR(v3_dot(s->impulse[0], p->contacts[0].normal) / p->step, 2 * weight, 1e-9 * weight);
    assert_int_equal(result.status, SAND_CONTACT_STICKS);
    sand_simulation_free(sim);
}

// Friction is bounded by mu (N + c): a box with a contact at each corner stays on a slope while m g sin <= mu (m g cos + 4
// c) and slides with what is left.
static void cohesion_raises_friction(void **state) {
    (void)state;
    const double mu = 0.4, angle = atan(0.6);
    for (int k = 0; k < 3; k++) {
        const double share[] = {0, 0.9, 1.1}; // of the cohesion that just holds it
        SandWorld world = lab_world(mu);
        SandShape box;
        world.gravity = lab_slope(angle);
        world.step = 1e-3;
        lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
        assert_true(sand_shape_box(&box, v3_make(0.5, 0.4, 0.2), NULL));
        int body = lab_body(&world, sand_world_add_shape(&world, &box, NULL), 1, v3_make(0, 0, 0.2));
        double weight = world.mass[body] * GRAVITY;
        double cohesion = share[k] * weight * (sin(angle) / mu - cos(angle)) / 4;
        lab_set_laws(&world, 0, 0, cohesion);
        SandSimulation *sim = lab_exact(&world);
        lab_run(sim, 50);
        double early = sand_simulation_world(sim)->velocity[0].x;
        lab_run(sim, 300);
        double got = (sand_simulation_world(sim)->velocity[0].x - early) / 0.3;
        double want = fmax(0, GRAVITY * (sin(angle) - mu * (cos(angle) + 4 * cohesion / weight)));
        print_message("%.1f of the cohesion that holds: %.4f m/s^2, %.4f wanted\n", share[k], got, want);
        NEAR(got, want, 1e-2 * GRAVITY * sin(angle) * (k < 2) + 1e-9);
        sand_simulation_free(sim);
    }
}

// A joint neither bounces nor pulls: a pendulum swings to the bit as it would without these laws.
static void joints_have_no_laws(void **state) {
    (void)state;
    SandVec3 end[2];
    for (int k = 0; k < 2; k++) {
        SandWorld world = world_of(0.3, k ? 0.8 : 0, k ? 50 : 0);
        SandJointDef hold = sand_default_joint();
        ball(&world, 0.1, v3_make(1, 0, 0), v3_make(0, 0, 0));
        assert_true(sand_world_add_joint(&world, &hold, NULL) >= 0);
        SandSimulation *sim = lab_exact(&world);
        lab_run(sim, 100);
        end[k] = sand_simulation_world(sim)->position[0];
        sand_simulation_free(sim);
    }
    assert_memory_equal(&end[0], &end[1], sizeof end[0]);
}

int main(int argc, char **argv) {
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_has_laws),
        cmocka_unit_test(a_ball_bounces_to_its_height),
        cmocka_unit_test(a_slow_impact_does_not_bounce),
        cmocka_unit_test(an_oblique_impact_sticks_or_slips),
        cmocka_unit_test(two_balls_meet_head_on),
        cmocka_unit_test(a_cradle_hands_its_motion_on),
        cmocka_unit_test(energy_does_not_grow),
        cmocka_unit_test(what_does_not_bounce_keeps_its_bits),
        cmocka_unit_test(a_checkpoint_keeps_what_is_to_bounce),
        cmocka_unit_test(every_method_gives_the_same_bounce),
        cmocka_unit_test(a_contact_holds_its_cohesion),
        cmocka_unit_test(a_hanging_ball_is_pulled),
        cmocka_unit_test(cohesion_raises_friction),
        cmocka_unit_test(joints_have_no_laws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
