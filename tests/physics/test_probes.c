// SPDX-License-Identifier: MIT
// Probes against what they stand for: closed forms of a single ball, sums made by hand from the arrays of the world, a pile
// whose weight is known, planes across which bodies are counted, and a surface that was laid at a known slope.
#include "sim/core/exact_sum.inl"
#include "sim/solver/contact_result.h"
#include "sim/step/checkpoint.h"
#include "tests/lab/lab.h"

static int add(SandWorld *world, SandProbe probe, const char *name) {
    SandError error = {""};
    snprintf(probe.name, sizeof probe.name, "%s", name);
    int k = sand_world_add_probe(world, &probe, &error);
    if (k < 0) fail_msg("%s", error.text);
    return k;
}

static SandProbe in_box(SandProbeKind kind, SandVec3 lower, SandVec3 upper, int nx, int ny, int nz) {
    SandProbe p = sand_probe_of(kind);
    sand_probe_box(&p, lower, upper);
    p.cells[0] = nx;
    p.cells[1] = ny;
    p.cells[2] = nz;
    return p;
}

static const double *values(const SandSimulation *sim, int probe) {
    return sand_probe_values(sand_simulation_world(sim), probe);
}

// --- sums -------------------------------------------------------------------------------------------------------

static void sums_do_not_depend_on_the_order(void **state) {
    (void)state;
    enum { TERMS = 1000 };
    double term[TERMS];
    SandRandom random = sand_random(7);
    SandExactSum up = {0}, down = {0};
    long double truth = 0;
    for (int i = 0; i < TERMS; i++) {
        term[i] = ldexp(sand_random_unit(&random) - 0.5, (int)(sand_random_bits(&random) % 80) - 40);
        truth += term[i];
        exact_add(&up, term[i], false);
    }
    for (int i = TERMS; i-- > 0;) exact_add(&down, term[i], true);
    assert_memory_equal(&up, &down, sizeof up);
    NEAR(exact_value(&up), (double)truth, 1e-14 * fabs((double)truth));
    for (int i = 0; i < TERMS; i++) exact_add(&up, -term[i], false); // nothing is left, not even a rounding error
    assert_true(exact_value(&up) == 0);
    exact_add(&up, -0.001, false);
    assert_true(exact_value(&up) == -0.001);
    SandExactSum small = {0}; // what is left when large terms cancel, limb against limb
    for (int i = 0; i < 4; i++) exact_add(&small, 0.75, false);
    exact_add(&small, -3, false);
    exact_add(&small, 1e-12, false);
    assert_true(exact_value(&small) == 1e-12);
    exact_add(&up, NAN, false);
    assert_true(isnan(exact_value(&up)));
}

// --- a single ball ------------------------------------------------------------------------------------------------

// A ball that falls freely: positions and velocities are known in closed form after every step.
static void a_falling_ball(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    const double r = 0.1, z0 = 1, h = world.step;
    int ball = lab_body(&world, 0, r, v3_make(0.05, 0, z0));
    world.spin[ball] = v3_make(0, 0, 3);
    double mass = world.mass[ball];
    SandProbe through = sand_probe_of(SAND_PROBE_PATH);
    through.body = ball;
    int path = add(&world, through, "path"), energy = add(&world, sand_probe_of(SAND_PROBE_ENERGY), "energy");
    int center = add(&world, sand_probe_of(SAND_PROBE_CENTER), "center");
    int flow = add(&world, sand_probe_flow(v3_make(0, 0, 0.5), v3_make(0, 0, -2)), "flow");
    SandProbe disk = sand_probe_flow(v3_make(0, 0, 0.5), v3_make(0, 0, 1));
    disk.radius = 0.06;
    int hit = add(&world, disk, "disk");
    disk.radius = 0.04;
    int miss = add(&world, disk, "small disk");
    disk.radius = INFINITY;
    disk.size[0] = 0.12; // along x
    int in = add(&world, disk, "rectangle");
    disk.size[0] = 0.08;
    int beside = add(&world, disk, "narrow rectangle");
    SandProbe line = sand_probe_of(SAND_PROBE_DENSITY);
    sand_probe_line(&line, v3_make(0.05, 0, 0), v3_make(0.05, 0, 1.2), 0.4, 6);
    int density = add(&world, line, "density");
    int velocity = add(&world, in_box(SAND_PROBE_VELOCITY, v3_make(-1, -1, -9), v3_make(1, 1, 2), 1, 1, 1), "velocity");
    int alone = add(&world, in_box(SAND_PROBE_STRESS, v3_make(-1, -1, -9), v3_make(1, 1, 2), 1, 1, 1), "stress");
    SandSimulation *sim = lab_exact(&world);
    for (int n = 1; n <= 40; n++) {
        lab_step(sim);
        double v = -GRAVITY * n * h, z = z0 - 0.5 * GRAVITY * h * h * n * (n + 1), volume = 4 * PI / 3 * r * r * r;
        NEAR(values(sim, path)[2], z, 1e-12);
        NEAR(values(sim, path)[5], v, 1e-12);
        NEAR(values(sim, path)[8], 3, 1e-12);
        NEAR(values(sim, center)[2], z, 1e-12);
        NEAR(values(sim, center)[3], mass, 1e-12);
        NEAR(values(sim, energy)[1], 0.5 * 0.4 * mass * r * r * 9, 1e-12);
        NEAR(values(sim, energy)[0], 0.5 * mass * v * v + values(sim, energy)[1], 1e-10);
        NEAR(values(sim, energy)[2], mass * GRAVITY * z, 1e-10);
        NEAR(values(sim, velocity)[2], v, 1e-12);
        NEAR(values(sim, alone)[2], 0, 1e-12 * mass * v * v); // it moves as a whole
        NEAR(values(sim, flow)[0], z < 0.5 ? mass : 0, 1e-12);
        NEAR(values(sim, hit)[1], z < 0.5 ? -1 : 0, 0); // its normal points up
        NEAR(values(sim, miss)[1], 0, 0);
        NEAR(values(sim, in)[1], z < 0.5 ? -1 : 0, 0);
        NEAR(values(sim, beside)[1], 0, 0);
        for (int cell = 0; cell < 6; cell++) { // by the volume of a spherical cap, h^2 (3 r - h) pi / 3
            double low = fmin(fmax(0.2 * cell - z + r, 0), 2 * r), high = fmin(fmax(0.2 * cell + 0.2 - z + r, 0), 2 * r);
            double part = PI / 3 * (high * high * (3 * r - high) - low * low * (3 * r - low));
            NEAR(values(sim, density)[2 * cell], part / (0.4 * 0.4 * 0.2), 1e-12 * volume / (0.4 * 0.4 * 0.2));
        }
    }
    sand_simulation_free(sim);
}

// Two balls that fly apart, in a box that moves past them: the mean velocity is no stress, what they differ from it is.
static void two_flying_balls(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    world.gravity = v3_make(0, 0, 0);
    for (int k = 0; k < 2; k++) {
        int ball = lab_body(&world, 0, 0.1, v3_make(k, 0, 0));
        world.velocity[ball] = v3_make(5 + (k ? 2 : -2), 0, k ? 3 : -3);
    }
    double mass = world.mass[0];
    int stress = add(&world, in_box(SAND_PROBE_STRESS, v3_make(-2, -1, -2), v3_make(3, 1, 2), 1, 1, 1), "stress");
    SandSimulation *sim = lab_exact(&world);
    lab_step(sim);
    const double expected[6] = {8 * mass / 40, 0, 18 * mass / 40, 0, 12 * mass / 40, 0}; // 2 m u u' / V
    for (int i = 0; i < 6; i++) NEAR(values(sim, stress)[i], expected[i], 1e-12 * mass);
    sand_simulation_free(sim);
}

// A ball at rest on the floor, beside the point that torques are about.
static void a_resting_ball(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    const double r = 0.1;
    int floor = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1)), ball = lab_body(&world, 0, r, v3_make(0.5, 0.2, r));
    double weight = GRAVITY * world.mass[ball];
    SandProbe on = sand_probe_of(SAND_PROBE_FORCE);
    on.boundary = floor;
    on.about = true;
    int on_floor = add(&world, on, "floor");
    on.boundary = -1;
    on.body = ball;
    on.about = false;
    on.rate = 10;
    int on_ball = add(&world, on, "ball");
    // The branch goes from the center to the floor: half of it is in the lower cell.
    int stress = add(&world, in_box(SAND_PROBE_STRESS, v3_make(0, 0, -r / 2), v3_make(1, 1, 1.5 * r), 1, 1, 2), "stress");
    int contacts = add(&world, in_box(SAND_PROBE_COORDINATION, v3_make(0, 0, 0), v3_make(1, 1, 1), 1, 1, 1), "contacts");
    SandSimulation *sim = lab_exact(&world);
    for (int n = 1; n <= 20; n++) {
        lab_step(sim);
        NEAR(values(sim, on_floor)[2], -weight, 1e-9 * weight);
        NEAR(values(sim, on_floor)[3], -0.2 * weight, 1e-9 * weight); // (0.5, 0.2, 0) x (0, 0, -weight)
        NEAR(values(sim, on_floor)[4], 0.5 * weight, 1e-9 * weight);
        assert_int_equal(sand_probe_sampled(sand_simulation_world(sim), on_ball), n % 10 == 0);
        if (n % 10 == 0) NEAR(values(sim, on_ball)[2], weight, 1e-9 * weight);
        NEAR(values(sim, stress)[2], weight * (r / 2) / r, 1e-9 * weight); // f l / V of 1 x 1 x r
        NEAR(values(sim, stress)[6 + 2], weight * (r / 2) / r, 1e-9 * weight);
        NEAR(values(sim, contacts)[0], 1, 0);
        NEAR(values(sim, contacts)[1], 0, 0);
    }
    sand_simulation_free(sim);
}

// A ball that cohesion holds to a ceiling pulls at it with its weight: the pull is part of the force.
static void a_hanging_ball(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    int ceiling = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, -1)),
        ball = lab_body(&world, 0, 0.1, v3_make(0, 0, -0.1));
    double weight = GRAVITY * world.mass[ball];
    lab_set_laws(&world, 0, 0, 3 * weight);
    SandProbe on = sand_probe_of(SAND_PROBE_FORCE);
    on.boundary = ceiling;
    int force = add(&world, on, "ceiling");
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 10);
    NEAR(sand_simulation_world(sim)->position[ball].z, -0.1, 1e-6);
    NEAR(values(sim, force)[2], -weight, 1e-6 * weight);
    sand_simulation_free(sim);
}

// A ball that rolling friction holds on a slope: the contact carries its weight, and its torque cancels the moment of the
// friction force about the center.
static void a_ball_held_on_a_slope(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    world.gravity = lab_slope(5 * PI / 180);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    int ball = lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    double weight = GRAVITY * world.mass[ball];
    lab_set_rolling(&world, 0, 0.05, 0);
    SandProbe on = sand_probe_of(SAND_PROBE_FORCE);
    on.body = ball;
    int force = add(&world, on, "ball");
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 10);
    NEAR(values(sim, force)[0], -weight * sin(5 * PI / 180), 1e-6 * weight);
    NEAR(values(sim, force)[2], weight * cos(5 * PI / 180), 1e-6 * weight);
    for (int i = 3; i < 6; i++) NEAR(values(sim, force)[i], 0, 1e-6 * weight);
    sand_simulation_free(sim);
}

// --- a pile -------------------------------------------------------------------------------------------------------

enum { SIDE = 4, LAYERS = 5, PILE = SIDE * SIDE * LAYERS };
#define PERIOD 0.9 // m
#define LEVEL 0.45 // m, at which the weight above is measured

// Spheres over a floor, in a world that repeats along x and y: nothing but the floor carries them.
static SandWorld periodic_pile(void) {
    SandWorld world = lab_world(0.3);
    SandRandom random = sand_random(1);
    world.lower = v3_make(0, 0, -1);
    world.upper = v3_make(PERIOD, PERIOD, 5);
    world.periodic[0] = world.periodic[1] = true;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int i = 0; i < PILE; i++) {
        SandVec3 cell = v3_make(i % SIDE + 0.5, i / SIDE % SIDE + 0.5, (i / SIDE / SIDE + 0.5) * 0.95);
        SandVec3 off = v3_make(sand_random_unit(&random), sand_random_unit(&random), 0);
        lab_body(&world, 0, 0.1 + 0.01 * sand_random_unit(&random), v3_madd(v3_scale(0.22, cell), 0.01, off));
    }
    return world;
}

static void the_floor_carries_the_pile(void **state) {
    (void)state;
    SandWorld world = periodic_pile();
    SandProbe on = sand_probe_of(SAND_PROBE_FORCE);
    on.boundary = 0;
    int force = add(&world, on, "floor");
    SandVec3 low = v3_make(0, 0, LEVEL), high = v3_make(PERIOD, PERIOD, LEVEL + 0.2);
    int stress = add(&world, in_box(SAND_PROBE_STRESS, low, high, 1, 1, 1), "stress");
    int grid = add(&world, in_box(SAND_PROBE_STRESS, low, high, 3, 2, 1), "grid");
    int all = add(&world, in_box(SAND_PROBE_DENSITY, v3_make(0, 0, 0), v3_make(PERIOD, PERIOD, 3), 3, 5, 7), "density");
    SandSimulationDef def = sand_default_simulation();
    def.precision = SAND_DOUBLE;
    def.threads = 1;
    def.solve.iterations = 1000;
    def.solve.tolerance = 1e-9;
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, 250);
    const SandWorld *w = sand_simulation_world(sim);
    double weight = 0, above = 0, volume = 0, mean = 0, solid = 0;
    for (int i = 0; i < PILE; i++) {
        double share = fmin(fmax((w->position[i].z - LEVEL) / 0.2, 0), 1); // of the slab that is below its center
        weight += w->mass[i] * GRAVITY;
        above += share * w->mass[i] * GRAVITY;
        volume += 4 * PI / 3 * w->scale[i] * w->scale[i] * w->scale[i];
    }
    print_message("kinetic energy %g J, weight %.12g N, floor %.12g N, above %.12g N, stress times area %.12g N\n",
                  sand_simulation_energy(sim).kinetic, weight, -values(sim, force)[2], above,
                  values(sim, stress)[2] * PERIOD * PERIOD);
    // A pile at rest to solver accuracy: 1e-5 of the weight changes its mean speed by 1e-6 m/s in a step. What still moves
    // in the step changes the share of the slab that is below it.
    NEAR(-values(sim, force)[2], weight, 1e-5 * weight);
    NEAR(values(sim, stress)[2] * PERIOD * PERIOD, above, 1e-5 * weight);
    for (int cell = 0; cell < 6; cell++) mean += values(sim, grid)[6 * cell + 2] / 6;
    NEAR(mean, values(sim, stress)[2], 1e-12 * fabs(mean)); // cells share what the region has
    for (int cell = 0; cell < 3 * 5 * 7; cell++) solid += values(sim, all)[2 * cell] * PERIOD * PERIOD * 3 / (3 * 5 * 7);
    NEAR(solid, volume, 1e-12 * volume); // whatever sticks out of a periodic side comes in on the other
    sand_simulation_free(sim);
}

// --- by hand ------------------------------------------------------------------------------------------------------

// A pile in motion, in a box with friction, with probes of all kinds in the middle of it.
typedef struct Lab {
    SandSimulation *sim;
    int force[5], velocity, stress, coordination, energy, flow;
} Lab;

static Lab falling_pile(int threads) {
    Lab lab;
    SandWorld world = lab_pile(0);
    SandProbe on = sand_probe_of(SAND_PROBE_FORCE);
    char name[SAND_NAME];
    for (int k = 0; k < 5; k++) {
        on.boundary = k;
        snprintf(name, sizeof name, "wall %d", k);
        lab.force[k] = add(&world, on, name);
    }
    SandVec3 low = v3_make(-0.3, -0.2, 0.1), high = v3_make(0.3, 0.3, 0.7);
    lab.velocity = add(&world, in_box(SAND_PROBE_VELOCITY, low, high, 1, 1, 1), "velocity");
    lab.stress = add(&world, in_box(SAND_PROBE_STRESS, low, high, 1, 1, 1), "stress");
    lab.coordination = add(&world, in_box(SAND_PROBE_COORDINATION, v3_make(-9, -9, -9), v3_make(9, 9, 9), 2, 3, 1), "z");
    lab.energy = add(&world, sand_probe_of(SAND_PROBE_ENERGY), "energy");
    lab.flow = add(&world, sand_probe_flow(v3_make(0, 0, 0.4), v3_make(0, 0.1, 1)), "flow");
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    lab.sim = lab_simulation(&world, &def);
    return lab;
}

// All impulses on the walls are what the momentum of the pile lacks: that holds in every step, at rest or not.
static void forces_balance_the_momentum(void **state) {
    (void)state;
    Lab lab = falling_pile(2);
    const SandWorld *w = sand_simulation_world(lab.sim);
    double mass = 0;
    for (int i = 0; i < w->body_count; i++) mass += w->mass[i];
    for (int n = 0; n < 60; n++) {
        SandVec3 before = sand_world_momentum(w), sum = {0, 0, 0};
        lab_step(lab.sim);
        for (int k = 0; k < 5; k++) {
            const double *f = values(lab.sim, lab.force[k]);
            sum = v3_add(sum, v3_make(f[0], f[1], f[2]));
        }
        SandVec3 change = v3_sub(sand_world_momentum(w), before);
        // The solver works in float: 1e-7 of each of some hundred impulses.
        NEAR(sum.x, -change.x / w->step, 1e-3 * mass * GRAVITY);
        NEAR(sum.z, -change.z / w->step - mass * GRAVITY, 1e-3 * mass * GRAVITY);
    }
    sand_simulation_free(lab.sim);
}

// The same sums from problem, solution and arrays, in the plainest way.
static void sums_by_hand(void **state) {
    (void)state;
    Lab lab = falling_pile(2);
    lab_run(lab.sim, 50);
    const SandWorld *w = sand_simulation_world(lab.sim);
    const SandProblem *p = sand_simulation_problem(lab.sim);
    const SandSolution *s = sand_simulation_solution(lab.sim);
    double kinetic = 0, zz = 0, touching = 0, carrying[LAB_PILE] = {0}, free = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        SandVec3 impulse = sand_contact_impulse(p, s, i);
        bool wall = c->b >= p->dynamic_count;
        double from = p->bodies[c->a].position.z, to = wall ? from + c->arm_a.z : p->bodies[c->b].position.z;
        if (v3_dot(impulse, c->normal) > 0) carrying[c->a]++;
        if (v3_dot(impulse, c->normal) > 0 && !wall) carrying[c->b]++;
        // The part of the branch within the box, by a thousand points on it.
        for (int k = 0; k < 1000; k++) {
            SandVec3 a = p->bodies[c->a].position, b = wall ? v3_add(a, c->arm_a) : p->bodies[c->b].position;
            SandVec3 at = v3_madd(a, (k + 0.5) / 1000, v3_sub(b, a));
            bool in = fabs(at.x) < 0.3 && at.y > -0.2 && at.y < 0.3 && at.z > 0.1 && at.z < 0.7;
            if (in) zz += 1e-3 * impulse.z / p->step * (to - from);
        }
    }
    for (int i = 0; i < p->dynamic_count; i++) {
        touching += carrying[i] / p->dynamic_count;
        free += (carrying[i] == 0) / (double)p->dynamic_count;
    }
    for (int i = 0; i < w->body_count; i++) kinetic += sand_body_kinetic_energy(w, i);
    NEAR(values(lab.sim, lab.energy)[0], kinetic, 1e-12 * kinetic);
    const double *z = values(lab.sim, lab.coordination);
    double mean = 0, rattlers = 0;
    for (int cell = 0; cell < 6; cell++) {
        double share = 0; // of the bodies: the cells meet at x = 0, y = -3 and y = 3, and all bodies are about the origin
        for (int i = 0; i < w->body_count; i++) {
            double u = fmin(fmax(w->position[i].x / 0.1, -1), 1), right = 0.25 * (2 + 3 * u - u * u * u);
            share += (cell % 2 ? right : 1 - right) / w->body_count;
        }
        if (cell / 2 == 1) mean += share * z[2 * cell];
        if (cell / 2 == 1) rattlers += share * z[2 * cell + 1];
        if (cell / 2 != 1) assert_true(isnan(z[2 * cell]));
    }
    NEAR(mean, touching, 1e-9);
    NEAR(rattlers, free, 1e-9);
    const double *stress = values(lab.sim, lab.stress);
    print_message("coordination %g, rattlers %g, stress zz %g Pa\n", touching, free, stress[2]);
    // Without the kinetic part, which a second look at the bodies gives: those wholly inside or outside of the box alone.
    double momentum = 0, mass = 0, moving = 0;
    for (int i = 0; i < w->body_count; i++) {
        double share = 1, half[3] = {0.3, 0.25, 0.3}, middle[3] = {0, 0.05, 0.4};
        double at[3] = {w->position[i].x, w->position[i].y, w->position[i].z};
        for (int a = 0; a < 3; a++) {
            double below = fmin(fmax((at[a] - middle[a] + half[a]) / 0.1, -1), 1),
                   beyond = fmin(fmax((at[a] - middle[a] - half[a]) / 0.1, -1), 1);
            share *= 0.25 * (3 * below - below * below * below - 3 * beyond + beyond * beyond * beyond);
        }
        mass += share * w->mass[i];
        momentum += share * w->mass[i] * w->velocity[i].z;
        moving += share * w->mass[i] * w->velocity[i].z * w->velocity[i].z;
    }
    double whole = (zz + moving - momentum * momentum / mass) / (0.6 * 0.5 * 0.6);
    NEAR(stress[2], whole, 2e-3 * fabs(whole)); // a thousand points on a branch
    NEAR(values(lab.sim, lab.velocity)[2], momentum / mass, 1e-9);
    sand_simulation_free(lab.sim);
}

static double count_above(const SandWorld *w) {
    double count = 0;
    for (int i = 0; i < w->body_count; i++) count += w->position[i].z - 0.4 + 0.1 * w->position[i].y >= 0;
    return count;
}

static void flow_is_the_change_of_the_count(void **state) {
    (void)state;
    Lab lab = falling_pile(2);
    const SandWorld *w = sand_simulation_world(lab.sim);
    double before = count_above(w), last = 0;
    for (int n = 0; n < 80; n++) {
        lab_step(lab.sim);
        const double *flow = values(lab.sim, lab.flow);
        assert_true(flow[1] == count_above(w) - before);
        NEAR(flow[0], flow[1] * w->mass[0], 1e-9);
        NEAR(flow[2], (flow[0] - last) / w->step, 1e-9 * fabs(flow[2]));
        last = flow[0];
    }
    assert_true(last < 0); // it has fallen
    sand_simulation_free(lab.sim);
}

static void outlets_have_a_rate(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    for (int i = 0; i < 10; i++) lab_body(&world, 0, 0.1, v3_make(i, 0, 1 + 0.2 * i));
    SandOutlet below = sand_outlet_plane(v3_make(0, 0, 0), v3_make(0, 0, 1));
    sand_world_add_outlet(&world, &below, NULL);
    SandProbe of = sand_probe_of(SAND_PROBE_FLOW);
    of.outlet = 0;
    of.rate = 20;
    int flow = add(&world, of, "outlet"), plane = add(&world, sand_probe_flow(v3_make(0, 0, 0), v3_make(0, 0, -1)), "plane");
    SandSimulation *sim = lab_exact(&world);
    double rates = 0;
    for (int n = 1; n <= 100; n++) {
        lab_step(sim);
        if (!sand_probe_sampled(sand_simulation_world(sim), flow)) continue;
        assert_int_equal(n % 5, 0);
        rates += 0.05 * values(sim, flow)[2];
        NEAR(values(sim, flow)[1], values(sim, plane)[1], 0); // bodies that are taken out have passed the plane
    }
    NEAR(values(sim, flow)[1], 10, 0);
    NEAR(rates, values(sim, flow)[0], 1e-9 * rates); // the rates of all samples give the whole
    sand_simulation_free(sim);
}

// --- the free surface ---------------------------------------------------------------------------------------------

static void surface_at(double degrees, SandVec3 gravity, double expected) {
    SandWorld world = lab_world(0.3);
    double slope = tan(degrees * PI / 180);
    for (int i = 0; i < 12 * 8 * 2; i++) { // two layers: the lower one is hidden
        double x = 0.25 * (i % 12), y = 0.25 * (i / 12 % 8);
        lab_body(&world, 0, 0.1, v3_make(x, y, 10 - slope * x - 0.3 * (i / 96)));
    }
    world.gravity = gravity;
    world.step = 1e-6; // they do not move
    SandVec3 low = v3_make(-0.125, -0.125, 0), high = v3_make(2.875, 1.875, 12);
    int whole = add(&world, in_box(SAND_PROBE_SURFACE, low, high, 12, 8, 1), "whole");
    int coarse = add(&world, in_box(SAND_PROBE_SURFACE, low, high, 4, 1, 1), "coarse");
    SandSimulation *sim = lab_exact(&world);
    lab_step(sim);
    NEAR(values(sim, whole)[0], expected, 1e-6);
    NEAR(values(sim, coarse)[0], expected, 1e-6);
    NEAR(values(sim, whole)[2], 10 + 0.1 - slope * 1.375, 1e-6);
    NEAR(values(sim, whole)[3], 0, 1e-6);
    if (expected > 1) NEAR(values(sim, whole)[1], 0, 1e-3); // downhill is along x
    sand_simulation_free(sim);
}

static void surfaces_at_known_slopes(void **state) {
    (void)state;
    surface_at(25, v3_make(0, 0, -9.81), 25);
    surface_at(0, v3_make(0, 0, -9.81), 0);
    // The same bodies on a slope of gravity: the angle is that to the horizontal.
    surface_at(10, lab_slope(30 * PI / 180), 40);
}

// --- runs ---------------------------------------------------------------------------------------------------------

static void threads_and_checkpoints_change_nothing(void **state) {
    (void)state;
    SandError error = {""};
    SandCheckpoint checkpoint = {0};
    Lab one = falling_pile(1), three = falling_pile(3);
    lab_run(one.sim, 60);
    lab_run(three.sim, 40);
    if (!sand_simulation_save_state(three.sim, &checkpoint, &error)) fail_msg("%s", error.text);
    lab_run(three.sim, 30);
    if (!sand_simulation_restore_state(three.sim, &checkpoint, &error)) fail_msg("%s", error.text);
    lab_run(three.sim, 20);
    const SandWorld *a = sand_simulation_world(one.sim), *b = sand_simulation_world(three.sim);
    for (int k = 0; k < a->probe_count; k++)
        assert_memory_equal(sand_probe_values(a, k), sand_probe_values(b, k),
                            (size_t)(sand_probe_cells(&a->probes[k]) * sand_probe_columns(&a->probes[k])) * sizeof(double));
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(one.sim);
    sand_simulation_free(three.sim);
}

static void nothing_is_disturbed(void **state) {
    (void)state;
    SandWorld without = lab_pile(0);
    SandSimulationDef def = sand_default_simulation();
    SandSimulation *plain = lab_simulation(&without, &def);
    Lab lab = falling_pile(2);
    lab_run(plain, 40);
    lab_run(lab.sim, 40);
    assert_int_equal(sand_world_hash(sand_simulation_world(plain)), sand_world_hash(sand_simulation_world(lab.sim)));
    sand_simulation_free(plain);
    sand_simulation_free(lab.sim);
}

static void refuse(SandWorld *world, SandProbe probe, const char *name, const char *words) {
    SandError error = {""};
    snprintf(probe.name, sizeof probe.name, "%s", name);
    assert_int_equal(sand_world_add_probe(world, &probe, &error), -1);
    if (!strstr(error.text, words)) fail_msg("expected '%s' in '%s'", words, error.text);
}

static void wrong_probes_are_refused(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    add(&world, sand_probe_of(SAND_PROBE_ENERGY), "energy");
    refuse(&world, sand_probe_of(SAND_PROBE_ENERGY), "energy", "two probes 'energy'");
    refuse(&world, sand_probe_of(SAND_PROBE_ENERGY), "", "needs a name");
    refuse(&world, sand_probe_of(SAND_PROBE_DENSITY), "a", "needs a region");
    refuse(&world, sand_probe_of(SAND_PROBE_PATH), "a", "no body -1");
    refuse(&world, sand_probe_flow(v3_make(0, 0, 0), v3_make(0, 0, 0)), "a", "normal with a length");
    refuse(&world, in_box(SAND_PROBE_STRESS, v3_make(0, 0, 0), v3_make(1, 1, 0), 1, 1, 1), "a", "no volume");
    refuse(&world, in_box(SAND_PROBE_STRESS, v3_make(0, 0, 0), v3_make(1, 1, 1), 4096, 4096, 1), "a", "cells");
    refuse(&world, in_box(SAND_PROBE_SURFACE, v3_make(0, 0, 0), v3_make(1, 1, 1), 2, 2, 2), "a", "upright box");
    refuse(&world, in_box(SAND_PROBE_CENTER, v3_make(0, 0, 0), v3_make(1, 1, 1), 2, 1, 1), "a", "no cells");
    SandProbe slow = sand_probe_of(SAND_PROBE_ENERGY);
    slow.rate = -1;
    refuse(&world, slow, "a", "rate");
    sand_world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_do_not_depend_on_the_order),
        cmocka_unit_test(a_falling_ball),
        cmocka_unit_test(two_flying_balls),
        cmocka_unit_test(a_resting_ball),
        cmocka_unit_test(a_hanging_ball),
        cmocka_unit_test(a_ball_held_on_a_slope),
        cmocka_unit_test(the_floor_carries_the_pile),
        cmocka_unit_test(forces_balance_the_momentum),
        cmocka_unit_test(sums_by_hand),
        cmocka_unit_test(flow_is_the_change_of_the_count),
        cmocka_unit_test(outlets_have_a_rate),
        cmocka_unit_test(surfaces_at_known_slopes),
        cmocka_unit_test(threads_and_checkpoints_change_nothing),
        cmocka_unit_test(nothing_is_disturbed),
        cmocka_unit_test(wrong_probes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
