// SPDX-License-Identifier: MIT
// Picking a body with a ray, what is then told about it, and flying the camera.
#include "tests/lab/lab.h"

#include "app/ui/input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static SandInstance instance(int body, float x, float offset_x, float offset_y, float offset_z, float radius) {
    return (SandInstance){.center = {x, 0, 0},
                          .rotation = {0, 0, 0, 1},
                          .tag = (uint32_t)body | 3u << 28,
                          .offset = {offset_x, offset_y, offset_z},
                          .radius = radius};
}

static int pick(const RenderScene *render_scene, double x, double y, double z, SandVec3 direction, SandVec3 *point) {
    RendererDef whole = {0};
    return input_pick(render_scene, &whole, v3_make(x, y, z), v3_scale(1 / v3_length(direction), direction), point);
}

// Every kind of body is met where its surface is; the nearest counts; what is behind does not.
static void all_kinds(void **state) {
    (void)state;
    SandInstance sphere = instance(1, 0, 0, 0, 0, 0.5f), rock = instance(2, 3, 0, 0, 0.4f, 0.2f),
                 parts[2] = {instance(3, 6, 0.5f, 0.25f, 1, 0), instance(4, 9, 0.5f, 0.5f, 1, 0)}, *box = &parts[0];
    RenderGroup groups[2] = {{solid_part(SAND_BOX, 1), 1}, {solid_part(SAND_CYLINDER, 1), 1}};
    RenderScene p = {.spheres = {&sphere, 1},
                     .rocks = {&rock, 1},
                     .parts = {parts, 2},
                     .groups.data = groups,
                     .part_groups = 2,
                     .group_count = 2};
    SandVec3 point, north = {0, 1, 0}, east = {1, 0, 0}, down = {0, 0, -1};
    assert_int_equal(pick(&p, 0, -5, 0, north, &point), 1);
    assert_true(fabs(point.y + 0.5) < 1e-6);
    assert_int_equal(pick(&p, 3, -5, 0.4, north, &point), 2);
    assert_int_equal(pick(&p, 3, -5, 0, north, &point), -1); // below the rock's only ball
    assert_int_equal(pick(&p, 6, -5, 0.9, north, &point), 3);
    assert_true(fabs(point.y + 0.25) < 1e-6);
    assert_int_equal(pick(&p, 6, -5, 1.1, north, &point), -1);
    assert_int_equal(pick(&p, 9.4, -5, 0, north, &point), 4);
    assert_true(fabs(point.y + 0.3) < 1e-6);
    assert_int_equal(pick(&p, 9.2, 0.2, 5, down, &point), 4);
    assert_true(fabs(point.z - 1) < 1e-6);
    assert_int_equal(pick(&p, 9.4, 0.4, 5, down, &point), -1); // in the corner, outside the disc
    assert_int_equal(pick(&p, -5, 0, 0, east, &point), 1);
    assert_int_equal(pick(&p, 1, 0, 0, east, &point), 3);
    assert_int_equal(pick(&p, 20, 0, 0, east, &point), -1);
    // A quarter turn about z: what was 0.5 wide is now 0.5 deep.
    box->rotation[2] = box->rotation[3] = sqrtf(0.5f);
    assert_int_equal(pick(&p, 6, -5, 0, north, &point), 3);
    assert_true(fabs(point.y + 0.5) < 1e-6);
    // Half a second earlier it was elsewhere.
    sphere.velocity[0] = 4;
    p.back = 0.5;
    assert_int_equal(pick(&p, -2, -5, 0, north, &point), 1);
    assert_int_equal(pick(&p, 0, -5, 0, north, &point), -1);
}

// A body that turns is met as it is turned at the time that is shown.
static void a_turning_body(void **state) {
    (void)state;
    SandInstance plank = instance(1, 0, 1, 0.1f, 0.1f, 0);
    plank.spin[2] = (float)(0.5 * 3.14159265358979);
    RenderGroup group = {solid_part(SAND_BOX, 1), 1};
    RenderScene p = {.parts = {&plank, 1}, .groups.data = &group, .part_groups = 1, .group_count = 1};
    SandVec3 point, north = {0, 1, 0};
    assert_int_equal(pick(&p, 0.9, -5, 0, north, &point), 1);
    p.back = 1; // a quarter turn earlier it lay along y
    assert_int_equal(pick(&p, 0.9, -5, 0, north, &point), -1);
    assert_int_equal(pick(&p, 0, -5, 0, north, &point), 1);
    assert_true(fabs(point.y + 1) < 1e-6);
}

// What the cutting plane hides is not picked: what is behind it is.
static void behind_the_cut(void **state) {
    (void)state;
    SandInstance spheres[2] = {instance(1, 0, 0, 0, 0, 0.5f), instance(2, 3, 0, 0, 0, 0.5f)};
    RenderScene p = {.spheres = {spheres, 2}, .origin = {10, 0, 0}};
    RendererDef look = {.cut = true, .cut_normal = {-2, 0, 0}, .cut_offset = -2 * 11.5}; // x < 11.5 in the world
    SandVec3 point, from = {-5, 0, 0}, east = {1, 0, 0};
    assert_int_equal(input_pick(&p, &look, from, east, &point), 2);
    assert_true(fabs(point.x - 2.5) < 1e-6);
    look.cut = false;
    assert_int_equal(input_pick(&p, &look, from, east, &point), 1);
}

// In a stack of ten the lowest bears its own weight and that of nine others.
static void forces_on_a_body(void **state) {
    (void)state;
    SandError error = {""};
    SandScene scene;
    if (!sand_scene_load(&scene, "stack", NULL, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.solve = scene.solve;
    def.precision = SAND_DOUBLE;
    def.solve.iterations = 5000;
    def.solve.tolerance = 1e-10;
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    assert_int_equal(picked_body_read(sim, 0).contacts, 0); // before the first step
    for (int i = 0; i < 20; i++)
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
    const SandWorld *world = sand_simulation_world(sim);
    int lowest = 0;
    double weight = 0;
    for (int i = 0; i < world->body_count; i++) {
        weight += world->mass[i] * 9.81;
        if (world->position[i].z < world->position[lowest].z) lowest = i;
    }
    PickedBody picked = picked_body_read(sim, lowest);
    assert_int_equal(picked.contacts, 2);
    assert_true(picked.mass == world->mass[lowest]);
    double above = weight - picked.mass * 9.81;
    assert_true(fabs(picked.force_most - weight) < 1e-3 * weight);
    assert_true(fabs(picked.force_sum - weight - above) < 2e-3 * weight);
    assert_int_equal(picked_body_read(sim, world->body_count).body, -1);
    assert_int_equal(picked_body_read(sim, -1).body, -1);
    sand_simulation_free(sim);
    sand_scene_free(&scene);
}

// Looking about leaves the eye where it is; flying takes eye and target along.
static void flying(void **state) {
    (void)state;
    Camera camera = {.eye = {0, -5, 1}, .target = {0, 0, 1}, .angle = 0.5, .near = 0.1}, before = camera;
    input_fly(&camera, 0, 0, v3_make(0, 0, 1), 2, 10); // forward, 0.35 of the size in a second
    assert_true(fabs(camera.eye.y - 2) < 1e-9 && fabs(camera.target.y - 7) < 1e-9);
    camera = before;
    input_fly(&camera, 0.1, 0.2, v3_make(0, 0, 0), 1, 10);
    assert_true(v3_length(v3_sub(camera.eye, before.eye)) == 0);
    assert_true(fabs(v3_length(v3_sub(camera.target, camera.eye)) - 5) < 1e-9);
    assert_true(camera.target.x > 0 && camera.target.z > 1); // the mouse went right and up
    camera = before;
    input_fly(&camera, 0, 0, v3_make(1, 0.5, 0), 1, 10);
    assert_true(camera.eye.x > 0 && camera.eye.z > 1 && fabs(camera.eye.y + 5) < 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kinds), cmocka_unit_test(a_turning_body),
                                       cmocka_unit_test(behind_the_cut), cmocka_unit_test(forces_on_a_body),
                                       cmocka_unit_test(flying)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
