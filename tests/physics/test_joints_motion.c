// SPDX-License-Identifier: MIT
// Joints in motion, against closed forms: pendulums, a slider-crank, chains, motors, limits, springs.
#include "tests/lab/lab.h"

static int join(SandWorld *world, const SandJointDef *def) {
    SandError error = {""};
    int joint = sand_world_add_joint(world, def, &error);
    if (joint < 0) fail_msg("%s", error.text);
    return joint;
}

// A ball of this radius and mass.
static int ball(SandWorld *world, double radius, double mass, SandVec3 position) {
    int body = lab_body(world, 0, radius, position);
    double scale = mass / world->mass[body];
    world->mass[body] = mass;
    world->inertia[body] = v3_scale(scale, world->inertia[body]);
    return body;
}

static double energy(const SandSimulation *sim) {
    SandEnergy e = sand_simulation_energy(sim);
    return e.kinetic + e.potential;
}

// --- pendulums ------------------------------------------------------------------------------------------------

// The period of a pendulum of small-swing frequency omega and this amplitude: 2 pi / (omega agm(1, cos(amplitude / 2))).
static double period_of(double omega, double amplitude) {
    double a = 1, b = cos(0.5 * amplitude);
    for (int k = 0; k < 20; k++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return 2 * PI / (omega * a);
}

// The mean period over some swings, from where x changes its sign.
static double measured_period(SandSimulation *sim, int body, int swings) {
    double last = 0, first_crossing = 0;
    for (int crossings = 0;;) {
        double x = sand_simulation_world(sim)->position[body].x, time = sand_simulation_world(sim)->time;
        double h = sand_simulation_world(sim)->step;
        if (last * x < 0) {
            double at = time - h * x / (x - last);
            if (crossings == 0) first_crossing = at;
            if (crossings == 2 * swings) return (at - first_crossing) / swings;
            crossings++;
        }
        last = x;
        if (time > 60) fail_msg("no period in %g s", time);
        lab_step(sim);
    }
}

static void pendulum_of(SandJointKind kind, double inertia_share) {
    const double length = 1, radius = 0.1, amplitude = 0.8;
    SandWorld world = lab_world(0);
    world.step = 0.002;
    int body = ball(&world, radius, 3, v3_make(length * sin(amplitude), 0, -length * cos(amplitude)));
    SandJointDef def = sand_default_joint();
    def.kind = kind;
    def.b = body;
    def.axis = v3_make(0, 1, 0);
    def.anchor_b = world.position[body];
    join(&world, &def);
    SandSimulation *sim = lab_exact(&world);
    double omega = sqrt(GRAVITY * length / (length * length + inertia_share * 0.4 * radius * radius));
    double got = measured_period(sim, body, 3), want = period_of(omega, amplitude);
    print_message("pendulum by a %s: period %.6f s, closed form %.6f s\n", sand_joint_kind_name(kind), got, want);
    NEAR(got, want, 1e-3 * want);
    sand_simulation_free(sim);
}

// What steps keep of the energy: the potential half a step back, where the velocities belong.
static double kept_energy(const SandSimulation *sim) {
    const SandWorld *w = sand_simulation_world(sim);
    double sum = energy(sim);
    for (int i = 0; i < w->body_count; i++) sum += 0.5 * w->step * w->mass[i] * v3_dot(w->gravity, w->velocity[i]);
    return sum;
}

// Rods of 1 m on hinges, at this angle, each at the end of the last.
static SandSimulation *swinging_rods(int rods, double angle, int passes) {
    SandWorld world = lab_world(0);
    SandShape shape;
    SandVec3 end = {0, 0, 0}, down = {-sin(angle), 0, -cos(angle)};
    SandJointDef def = sand_default_joint();
    world.step = 0.01;
    world.joint_passes = passes;
    assert_true(sand_shape_box(&shape, v3_make(0.02, 0.02, 0.5), NULL));
    int rod = sand_world_add_shape(&world, &shape, NULL);
    def.kind = SAND_JOINT_HINGE;
    def.axis = v3_make(0, 1, 0);
    for (int k = 0; k < rods; k++) {
        def.a = k - 1;
        def.b = lab_body(&world, rod, 1, v3_madd(end, 0.5, down));
        def.anchor = end;
        world.rotation[def.b] = q_exp(v3_make(0, angle, 0));
        join(&world, &def);
        end = v3_add(end, down);
    }
    return lab_exact(&world);
}

// The mean over two seconds of what is kept, over the energy of the swing.
static double mean_energy(SandSimulation *sim, double first, double swing) {
    double sum = 0;
    for (int k = 0; k < 200; k++) {
        lab_step(sim);
        sum += kept_energy(sim) - first;
    }
    return sum / 200 / swing;
}

// Steps with several passes keep the energy of pendulums: that of a rod at 60 degrees over 200 s, and that of two of them,
// which is chaotic, over 20 s.
static void pendulums_keep_their_energy(void **state) {
    (void)state;
    for (int rods = 1; rods <= 2; rods++) {
        SandSimulation *sim = swinging_rods(rods, PI / 3, 3);
        const SandWorld *w = sand_simulation_world(sim);
        double first = kept_energy(sim), swing = 0;
        for (int k = 0; k < rods; k++) swing += w->mass[k] * GRAVITY * (k + 0.5) * (1 - cos(PI / 3));
        double early = mean_energy(sim, first, swing), most = 0;
        for (int k = 0; k < (rods == 1 ? 99 : 9); k++) most = fmax(most, fabs(mean_energy(sim, first, swing) - early));
        print_message("%d rods: the mean energy moves by %.4f %% at most\n", rods, 100 * most);
        assert_true(most < (rods == 1 ? 2e-4 : 5e-4));
        sand_simulation_free(sim);
    }
}

// What a rod at 60 degrees gains in 200 s, over the energy of its swing.
static double gained_energy(int passes) {
    SandSimulation *sim = swinging_rods(1, PI / 3, passes);
    double first = kept_energy(sim), swing = sand_simulation_world(sim)->mass[0] * GRAVITY * 0.5 * (1 - cos(PI / 3));
    double early = mean_energy(sim, first, swing), late = early;
    for (int k = 0; k < 99; k++) late = mean_energy(sim, first, swing);
    print_message("a rod gains %.4f %% in 200 s where joints have %d passes\n", 100 * (late - early), passes);
    sand_simulation_free(sim);
    return late - early;
}

// Steps with one pass give it 0.034 % every second; two already keep it.
static void one_pass_gains_energy(void **state) {
    (void)state;
    NEAR(gained_energy(1), 0.0686, 0.002);
    assert_true(fabs(gained_energy(2)) < 2e-4);
    assert_true(fabs(gained_energy(3)) < 2e-4);
}

static void period_of_a_pendulum(void **state) {
    (void)state;
    pendulum_of(SAND_JOINT_HINGE, 1);
    pendulum_of(SAND_JOINT_BALL, 1);
    pendulum_of(SAND_JOINT_ROD, 0); // at the center of the ball, which then does not turn
}

static void energy_of_a_double_pendulum(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    world.step = 0.001;
    int upper = ball(&world, 0.1, 1, v3_make(1, 0, 0)), lower = ball(&world, 0.1, 1, v3_make(1, 0, 1));
    SandJointDef def = sand_default_joint();
    def.kind = SAND_JOINT_HINGE;
    def.axis = v3_make(0, 1, 0);
    def.b = upper;
    join(&world, &def);
    def.a = upper;
    def.b = lower;
    def.anchor = v3_make(1, 0, 0);
    join(&world, &def);
    SandSimulation *sim = lab_exact(&world);
    double begin = energy(sim), worst = 0, scale = 2 * GRAVITY; // the energy that a fall by a length sets free
    for (int k = 0; k < 10000; k++) {
        lab_step(sim);
        worst = fmax(worst, fabs(energy(sim) - begin));
        const SandWorld *w = sand_simulation_world(sim);
        NEAR(v3_length(w->position[upper]), 1, 1e-4);
    }
    print_message("double pendulum: energy off by at most %.3f %% in 10 s\n", 100 * worst / scale);
    assert_true(worst < 0.01 * scale);
    sand_simulation_free(sim);
}

// --- mechanisms -----------------------------------------------------------------------------------------------

// A crank of length r that a motor turns, a rod of length l, and a slider along x: x = r cos + sqrt(l^2 - r^2 sin^2).
static void slider_crank(void **state) {
    (void)state;
    const double r = 0.3, l = 1, speed = 4;
    SandWorld world = lab_world(0);
    world.step = 0.001;
    int crank = ball(&world, 0.1, 2, v3_make(0.5 * r, 0, 0)), rod = ball(&world, 0.1, 1, v3_make(r + 0.5 * l, 0, 0));
    int slider = ball(&world, 0.1, 5, v3_make(r + l, 0, 0));
    SandJointDef def = sand_default_joint();
    def.kind = SAND_JOINT_HINGE;
    def.b = crank;
    def.axis = v3_make(0, -1, 0);
    def.drive.motor = SAND_MOTOR_SPEED;
    def.drive.target = speed;
    int motor = join(&world, &def);
    def = sand_default_joint();
    def.a = crank;
    def.b = rod;
    def.anchor = v3_make(r, 0, 0);
    join(&world, &def);
    def.a = rod;
    def.b = slider;
    def.anchor = v3_make(r + l, 0, 0);
    join(&world, &def);
    def.kind = SAND_JOINT_SLIDER;
    def.a = -1;
    def.b = slider;
    def.axis = v3_make(1, 0, 0);
    join(&world, &def);
    for (int k = 0; k < 3; k++) world.velocity[k].x = 0;
    SandSimulation *sim = lab_exact(&world);
    double worst = 0;
    for (int k = 0; k < 2000; k++) {
        lab_step(sim);
        const SandWorld *w = sand_simulation_world(sim);
        double angle = atan2(w->position[crank].z, w->position[crank].x);
        double x = r * cos(angle) + sqrt(l * l - r * r * sin(angle) * sin(angle));
        worst = fmax(worst, fabs(w->position[slider].x - x));
        worst = fmax(worst, hypot(w->position[slider].y, w->position[slider].z));
    }
    const SandWorld *w = sand_simulation_world(sim);
    double turned = 2.0 * speed; // in 2 s, from rest in the first step
    print_message("slider-crank: off by at most %.2e m; the crank is at %.5f rad and should be at %.5f\n", worst,
                  sand_joint_coordinate(w, motor), remainder(turned, 2 * PI));
    assert_true(worst < 1e-3);
    NEAR(remainder(sand_joint_coordinate(w, motor) - turned, 2 * PI), 0, 1e-3);
    sand_simulation_free(sim);
}

// --- chains ---------------------------------------------------------------------------------------------------

// A chain of links through these points, each a ball in the middle of its link, held by the world at its ends or at the
// first end alone. Returns its first body.
static int chain(SandWorld *world, const SandVec3 *points, int links, double radius, double mass, bool both_ends) {
    int first = world->body_count;
    for (int k = 0; k < links; k++) ball(world, radius, mass, v3_scale(0.5, v3_add(points[k], points[k + 1])));
    SandJointDef def = sand_default_joint();
    for (int k = 0; k <= links; k++) {
        if (k == links && !both_ends) continue;
        def.a = k == 0 || k == links ? -1 : first + k - 1;
        def.b = k == links ? first + links - 1 : first + k;
        def.anchor = points[k];
        join(world, &def);
    }
    return first;
}

// Half the span over the parameter c of the catenary z = c cosh(x / c) that has this length for this span.
static double catenary_parameter(double span, double length) {
    double low = 1e-3, high = 10; // of s = span / 2c: sinh(s) / s = length / span
    for (int k = 0; k < 100; k++) {
        double s = 0.5 * (low + high);
        if (sinh(s) / s < length / span)
            low = s;
        else
            high = s;
    }
    return span / (2 * low);
}

// Relaxes a world to rest: whenever its kinetic energy falls again, everything is stopped.
static void settle(SandSimulation *sim, int steps) {
    double last = 0;
    for (int k = 0; k < steps; k++) {
        lab_step(sim);
        double kinetic = sand_simulation_energy(sim).kinetic;
        if (kinetic < last) {
            SandWorld *w = sand_simulation_change_bodies(sim, NULL);
            for (int i = 0; i < w->body_count; i++) w->velocity[i] = w->spin[i] = v3_make(0, 0, 0);
            kinetic = 0;
        }
        last = kinetic;
    }
}

static void hanging_chain(void **state) {
    (void)state;
    enum { LINKS = 100 };
    const double span = 8, length = 10;
    SandVec3 points[LINKS + 1];
    double sag = sqrt(0.25 * (length * length - span * span));
    for (int k = 0; k <= LINKS; k++) { // it starts as a triangle
        double t = 2.0 * k / LINKS - 1;
        points[k] = v3_make(0.5 * span * t, 0, sag * (fabs(t) - 1));
    }
    SandWorld world = lab_world(0);
    int first = chain(&world, points, LINKS, 0.02, 1, true);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.precision = SAND_DOUBLE;
    def.solve.iterations = 300;
    SandSimulation *sim = lab_simulation(&world, &def);
    settle(sim, 1000);
    double c = catenary_parameter(span, length), lowest = c - c * cosh(0.5 * span / c), worst = 0;
    const SandWorld *w = sand_simulation_world(sim);
    for (int k = 0; k < LINKS; k++) {
        SandVec3 p = w->position[first + k];
        worst = fmax(worst, fabs(p.z - (c * cosh(p.x / c) - c * cosh(0.5 * span / c))));
    }
    print_message("chain of %d links: off by %.3f %% of its sag of %.3f m\n", LINKS, -100 * worst / lowest, -lowest);
    assert_true(worst < -0.01 * lowest);
    sand_simulation_free(sim);
}

static void hang_mass(double push) {
    enum { LINKS = 20 };
    SandVec3 points[LINKS + 1];
    for (int k = 0; k <= LINKS; k++) points[k] = v3_make(0, 0, -0.1 * k);
    SandWorld world = lab_world(0);
    int first = chain(&world, points, LINKS, 0.02, 1, false), mass = ball(&world, 0.5, 1000, v3_make(0, 0, -2.5));
    SandJointDef joint = sand_default_joint();
    joint.a = first + LINKS - 1;
    joint.b = mass;
    joint.anchor = points[LINKS];
    join(&world, &joint);
    world.velocity[mass].x = push;
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.solve.iterations = 200;
    SandSimulation *sim = lab_simulation(&world, &def);
    double worst = 0;
    for (int k = 0; k < 300; k++) {
        lab_step(sim);
        worst = fmax(worst, v3_length(sand_simulation_world(sim)->position[mass]) - 2.5);
    }
    print_message("1,000 kg on %d links of 1 kg, pushed by %g m/s: stretched by %.3f %%\n", LINKS, push, 100 * worst / 2);
    assert_true(worst < 0.01 * 2);
    sand_simulation_free(sim);
}

static void heavy_mass_on_a_light_chain(void **state) {
    (void)state;
    hang_mass(0);
    hang_mass(0.5); // it swings
}

// --- limits, motors, springs ----------------------------------------------------------------------------------

// The impulse along the axis of the one block whose interval is bounded: that of the motor.
static double motor_impulse(const SandSimulation *sim) {
    const SandProblem *p = sand_simulation_problem(sim);
    for (int i = 0; i < p->contact_count; i++) {
        const SandJointRows *j = sand_problem_joint(p, i);
        if (j && j->low > -INFINITY && j->low < 0)
            return v3_dot(sand_simulation_solution(sim)->impulse[i], p->contacts[i].normal);
    }
    fail_msg("no motor among the contacts");
    return 0;
}

static void motor_reaches_its_speed(void **state) {
    (void)state;
    const double strength = 0.05, speed = 3;
    SandWorld world = lab_world(0);
    world.step = 0.001;
    world.gravity = v3_make(0, 0, 0);
    int wheel = ball(&world, 0.2, 4, v3_make(0, 0, 0));
    SandJointDef def = sand_default_joint();
    def.kind = SAND_JOINT_HINGE;
    def.b = wheel;
    def.drive.motor = SAND_MOTOR_SPEED;
    def.drive.target = speed;
    def.drive.strength = strength;
    join(&world, &def);
    double inertia = world.inertia[wheel].z, whole = inertia * speed / strength; // s, at full torque
    SandSimulation *sim = lab_exact(&world);
    for (int k = 1; k <= 6000; k++) {
        lab_step(sim);
        double spin = sand_simulation_world(sim)->spin[wheel].z, time = sand_simulation_world(sim)->time;
        assert_true(fabs(motor_impulse(sim)) <= strength * 0.001 * (1 + 1e-12));
        NEAR(spin, fmin(speed, speed * time / whole), 1e-9);
    }
    assert_true(whole < 5);
    sand_simulation_free(sim);
}

// An arm that is too heavy for its motor sinks; one that is not stands where the motor wants it.
static void motor_holds_what_it_can(void **state) {
    (void)state;
    for (int strong = 0; strong < 2; strong++) {
        SandWorld world = lab_world(0);
        world.step = 0.001;
        int arm = ball(&world, 0.1, 2, v3_make(0.5, 0, 0));
        SandJointDef def = sand_default_joint();
        def.kind = SAND_JOINT_HINGE;
        def.b = arm;
        def.axis = v3_make(0, -1, 0);
        def.drive.motor = SAND_MOTOR_POSITION;
        def.drive.target = 0.4;
        def.drive.rate = 4;
        def.drive.speed = 2;
        def.drive.strength = (strong ? 1.5 : 0.5) * 2 * GRAVITY * 0.5;
        int joint = join(&world, &def);
        SandSimulation *sim = lab_exact(&world);
        for (int k = 0; k < 3000; k++) {
            lab_step(sim);
            assert_true(fabs(motor_impulse(sim)) <= def.drive.strength * 0.001 * (1 + 1e-12));
        }
        double angle = sand_joint_coordinate(sand_simulation_world(sim), joint);
        if (strong) NEAR(angle, 0.4, 1e-4);
        if (!strong) assert_true(fabs(angle - 0.4) > 0.1);
        sand_simulation_free(sim);
    }
}

static void limits_hold(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    world.step = 0.002;
    int arm = ball(&world, 0.1, 2, v3_make(0.5, 0, 0)), sled = ball(&world, 0.1, 2, v3_make(5, 0, 0));
    SandJointDef def = sand_default_joint();
    def.kind = SAND_JOINT_HINGE;
    def.b = arm;
    def.axis = v3_make(0, 1, 0);
    def.drive.low = -0.3;
    def.drive.high = 0.5;
    int hinge = join(&world, &def);
    def.kind = SAND_JOINT_SLIDER;
    def.b = sled;
    def.axis = v3_make(0, 0, 1);
    def.anchor = world.position[sled];
    def.drive.low = -0.25;
    def.drive.high = 1;
    int slider = join(&world, &def);
    world.velocity[sled] = v3_make(0, 0, 3);
    SandSimulation *sim = lab_exact(&world);
    double least = 0, most = 0, low = 0, high = 0;
    for (int k = 0; k < 2000; k++) {
        lab_step(sim);
        double angle = sand_joint_coordinate(sand_simulation_world(sim), hinge);
        double place = sand_joint_coordinate(sand_simulation_world(sim), slider);
        least = fmin(least, angle);
        most = fmax(most, angle);
        low = fmin(low, place);
        high = fmax(high, place);
    }
    print_message("hinge from %.6f to %.6f rad, slider from %.6f to %.6f m\n", least, most, low, high);
    assert_true(least >= -0.3 - 1e-6 && most <= 0.5 + 1e-6 && low >= -0.25 - 1e-6 && high <= 1 + 1e-6);
    assert_true((least < -0.3 + 1e-3 || most > 0.5 - 1e-3) && (low < -0.25 + 1e-3 || high > 1 - 1e-3));
    sand_simulation_free(sim);
}

// A mass on a spring and a damper: each step is exactly that of the implicit law, and it ends at m g / k.
static void spring_and_damper(void **state) {
    (void)state;
    const double mass = 2, stiffness = 200, damping = 6, h = 0.005;
    SandWorld world = lab_world(0);
    world.step = h;
    int body = ball(&world, 0.1, mass, v3_make(0, 0, -1));
    SandJointDef def = sand_default_joint();
    def.kind = SAND_JOINT_DISTANCE;
    def.b = body;
    def.anchor_b = world.position[body];
    def.drive.stiffness = stiffness;
    def.drive.damping = damping;
    def.drive.rest = 1;
    join(&world, &def);
    SandSimulation *sim = lab_exact(&world);
    double x = 0, v = 0; // downward, from the rest length
    for (int k = 0; k < 2000; k++) {
        lab_step(sim);
        v = (v + h * GRAVITY - h * stiffness / mass * x) / (1 + h * damping / mass + h * h * stiffness / mass);
        x += h * v;
        NEAR(sand_simulation_world(sim)->position[body].z, -1 - x, 1e-9);
    }
    NEAR(sand_simulation_world(sim)->position[body].z, -1 - mass * GRAVITY / stiffness, 1e-6);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulums_keep_their_energy),
        cmocka_unit_test(one_pass_gains_energy),
        cmocka_unit_test(period_of_a_pendulum),
        cmocka_unit_test(energy_of_a_double_pendulum),
        cmocka_unit_test(slider_crank),
        cmocka_unit_test(hanging_chain),
        cmocka_unit_test(heavy_mass_on_a_light_chain),
        cmocka_unit_test(motor_reaches_its_speed),
        cmocka_unit_test(motor_holds_what_it_can),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(spring_and_damper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
