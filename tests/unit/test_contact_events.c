// SPDX-License-Identifier: MIT
// Forces of contacts against Newton's laws, and events of contacts against mechanics that is known by hand.
#include "sandglass/query.h"
#include "tests/lab/lab.h"

static void check_vector(SandVec3 got, SandVec3 want, double tolerance) {
    if (v3_length(v3_sub(got, want)) > tolerance)
        fail_msg("got %g %g %g, wanted %g %g %g", got.x, got.y, got.z, want.x, want.y, want.z);
}

// --- forces -------------------------------------------------------------------------------------------------

// On every body contacts give what its acceleration and its weight do not account for; on all of them together and on the
// boundaries, the opposite of each other.
static void test_forces_are_mass_times_acceleration(void **state) {
    (void)state;
    SandWorld world = lab_pile(0);
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    static SandVec3 force[LAB_PILE], torque[LAB_PILE], before[LAB_PILE], spin[LAB_PILE];
    SandVec3 wall[5], all = {0, 0, 0}, walls = {0, 0, 0};
    double weight = 0;
    lab_run(sim, 60);
    for (int i = 0; i < LAB_PILE; i++) {
        before[i] = w->velocity[i];
        spin[i] = w->spin[i];
    }
    lab_step(sim);
    assert_true(sand_simulation_contact_forces(sim, force, torque, NULL));
    assert_true(sand_simulation_boundary_forces(sim, wall, NULL, NULL));
    for (int i = 0; i < LAB_PILE; i++) {
        SandVec3 acceleration = v3_scale(1 / w->step, v3_sub(w->velocity[i], before[i]));
        SandVec3 turning = v3_scale(w->inertia[i].x / w->step, v3_sub(w->spin[i], spin[i]));
        weight = w->mass[i] * GRAVITY;
        check_vector(force[i], v3_scale(w->mass[i], v3_sub(acceleration, w->gravity)), 1e-9 * weight);
        check_vector(torque[i], turning, 1e-9 * weight * w->scale[i]);
        all = v3_add(all, force[i]);
    }
    for (int k = 0; k < 5; k++) walls = v3_add(walls, wall[k]);
    assert_true(walls.z < -10 * weight);
    check_vector(v3_add(all, walls), v3_make(0, 0, 0), 1e-9 * LAB_PILE * weight);
    sand_simulation_free(sim);
}

// The floor carries what lies on it, and rolling friction turns it as it turns the ball.
static void test_the_floor_carries_the_weight(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    lab_plane(&world, v3_make(0, 0, -7), v3_make(0, 0, 1)); // nothing lies on it
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    double weight = 0;
    for (int i = 0; i < 6; i++) {
        int body = lab_body(&world, 0, 0.1, v3_make(0.5 * (i / 2), 0, 0.1 + 0.2 * (i % 2)));
        weight += world.mass[body] * GRAVITY;
    }
    SandSimulation *sim = lab_exact(&world);
    SandVec3 wall[2], torque[2], force[6];
    assert_true(sand_simulation_boundary_forces(sim, wall, torque, NULL));
    check_vector(wall[1], v3_make(0, 0, 0), 0); // before the first step
    lab_run(sim, 3);
    assert_true(sand_simulation_boundary_forces(sim, wall, torque, NULL));
    check_vector(wall[0], v3_make(0, 0, 0), 0);
    check_vector(wall[1], v3_make(0, 0, -weight), 1e-9 * weight);
    check_vector(torque[1], v3_make(0, 0.5 * weight, 0), 1e-9 * weight); // they lie at x = 0, 0.5 and 1
    assert_true(sand_simulation_contact_forces(sim, force, NULL, NULL));
    for (int i = 0; i < 6; i++) check_vector(force[i], v3_make(0, 0, weight / 6), 1e-9 * weight);
    sand_simulation_free(sim);
}

// --- events -------------------------------------------------------------------------------------------------

// Counts in another way how often a ball comes up from the ground.
static int rises(double last, double now) { return last < 0 && now > 0; }

static void test_a_ball_that_bounces(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    lab_set_laws(&world, 0, 0.9, 0);
    world.step = 0.001;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 1.1));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    SandContactEvent event;
    int bounces = 0;
    double hardest = 0, first = 0, mass = w->mass[0];
    assert_true(sand_simulation_keep_events(sim, true, NULL));
    for (int k = 0; k < 3000; k++) {
        double last = w->velocity[0].z;
        lab_step(sim);
        if (!rises(last, w->velocity[0].z)) continue;
        if (!bounces++) first = w->time;
        hardest = fmax(hardest, mass * (w->velocity[0].z - last + GRAVITY * w->step));
    }
    assert_true(bounces >= 4);
    assert_int_equal(sand_simulation_contact_events(sim, NULL, 0), 1); // nothing is lost
    assert_int_equal(sand_simulation_contact_events(sim, &event, 1), 1);
    assert_int_equal(event.a, 0);
    assert_int_equal(event.b, -1);
    assert_int_equal(event.begins, bounces);
    assert_int_equal(event.ends, bounces);
    assert_false(event.touching);
    NEAR(event.first, first, 2 * w->step);
    NEAR(event.hardest, first, 2 * w->step); // it falls from less height from bounce to bounce
    double speed = sqrt(2 * GRAVITY * 1);    // of the first impact
    NEAR(event.impulse, 1.9 * mass * speed, 0.01 * mass * speed);
    NEAR(event.impulse, hardest, 0.02 * mass * speed);
    check_vector(event.normal, v3_make(0, 0, -1), 1e-12); // from the ball to the ground
    NEAR(event.point.z, 0, 1e-2);
    assert_int_equal(sand_simulation_contact_events(sim, &event, 1), 0); // begins anew
    sand_simulation_free(sim);
}

// A ball that rests touches all the time; of two that meet, the lower number comes first.
static void test_touches_that_last(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    lab_body(&world, 0, 0.1, v3_make(0.3, 0, 0.1));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    world.velocity[0].x = -1; // towards the other
    SandSimulation *sim = lab_exact(&world);
    SandContactEvent events[4];
    assert_true(sand_simulation_keep_events(sim, true, NULL));
    lab_run(sim, 5);
    assert_int_equal(sand_simulation_contact_events(sim, events, 4), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(events[i].a, i);
        assert_int_equal(events[i].b, -1);
        assert_int_equal(events[i].begins, 1);
        assert_true(events[i].touching && events[i].ends == 0);
        NEAR(events[i].last, 0.05, 1e-12);
    }
    assert_int_equal(sand_simulation_contact_events(sim, events, 4), 2); // without a step in between
    assert_true(events[0].begins == 0 && events[0].touching && events[0].impulse == 0);
    lab_run(sim, 30);
    assert_int_equal(sand_simulation_contact_events(sim, events, 4), 3);
    assert_int_equal(events[0].a, 0);
    assert_int_equal(events[0].b, 1);
    assert_int_equal(events[0].begins, 1);
    check_vector(events[0].normal, v3_make(-1, 0, 0), 0.05); // from 0 to 1
    assert_int_equal(events[1].begins, 0);
    assert_int_equal(events[1].b, -1);
    assert_true(events[1].touching);
    NEAR(events[1].first, 0.06, 1e-12);
    NEAR(events[1].impulse, sand_simulation_world(sim)->mass[0] * GRAVITY * 0.01, 0.5 * events[1].impulse);
    double weight = sand_simulation_world(sim)->mass[0] * GRAVITY, now = sand_simulation_world(sim)->time;
    for (int k = 0; k < 3; k++) { // a step of three times the weight between two others
        sand_simulation_change(sim)->gravity.z = k == 1 ? -3 * GRAVITY : -GRAVITY;
        lab_step(sim);
    }
    assert_int_equal(sand_simulation_contact_events(sim, events, 4), 2);
    NEAR(events[0].impulse, 3 * weight * 0.01, 1e-9 * weight);
    NEAR(events[0].hardest, now + 0.02, 1e-12);
    assert_true(sand_simulation_keep_events(sim, false, NULL));
    lab_run(sim, 1);
    assert_int_equal(sand_simulation_contact_events(sim, events, 4), 0);
    sand_simulation_free(sim);
}

// Keeping events changes no bits.
static void test_events_change_nothing(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int keep = 0; keep < 2; keep++) {
        SandWorld world = lab_pile(0.01);
        SandSimulation *sim = lab_simulation(&world, &(SandSimulationDef){.threads = 2, .solve = sand_default_solve()});
        assert_true(sand_simulation_keep_events(sim, keep, NULL));
        lab_run(sim, 40);
        hash[keep] = sand_world_hash(sand_simulation_world(sim));
        assert_true(keep == (sand_simulation_contact_events(sim, NULL, 0) > LAB_PILE));
        sand_simulation_free(sim);
    }
    assert_true(hash[0] == hash[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_are_mass_times_acceleration),
        cmocka_unit_test(test_the_floor_carries_the_weight),
        cmocka_unit_test(test_a_ball_that_bounces),
        cmocka_unit_test(test_touches_that_last),
        cmocka_unit_test(test_events_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
