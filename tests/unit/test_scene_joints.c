// SPDX-License-Identifier: MIT
// Joints in a scene file: what arrives in the world, and what is refused, each in one line with the key.
#include "tests/lab/lab.h"

// A scene with two named bodies, a box of ground and these joints.
static bool load(SandScene *scene, const char *joints, SandError *error) {
    char text[2048];
    snprintf(text, sizeof text,
             "name: test\n"
             "bodies:\n"
             "  - {name: arm, shape: sphere, radius: 0.1, position: [1, 0, 2]}\n"
             "  - {name: bob, shape: sphere, radius: 0.2, position: [1.2, 0, 2]}\n"
             "joints:\n%s",
             joints);
    return sand_scene_load_text(scene, text, strlen(text), "test.yaml", NULL, error);
}

static void joints_arrive(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    const char *joints = "  - {name: pivot, kind: hinge, b: arm, anchor: [0, 0, 2], axis: [0, 2, 0], limits: [-90, 45],\n"
                         "     motor: {speed: 3, strength: 7}, spring: {stiffness: 5, damping: 2, rest: 10}}\n"
                         "  - {kind: rope, a: arm, b: bob}\n"
                         "  - {kind: slider, b: bob, axis: [0, 0, 1], limits: [-1, 2], motor: {position: 0.5, rate: 3, "
                         "fastest: 2}, collide: true}\n";
    if (!load(&scene, joints, &error)) fail_msg("%s", error.text);
    const SandWorld *w = &scene.world;
    assert_int_equal(w->joint_count, 3);
    const SandJoint *hinge = &w->joints[0], *rope = &w->joints[1], *slider = &w->joints[2];
    assert_int_equal(hinge->kind, SAND_JOINT_HINGE);
    assert_int_equal(hinge->a, -1);
    assert_int_equal(hinge->b, 0);
    NEAR(hinge->anchor_b.x, -1, 1e-12);
    NEAR(hinge->axis_a.y, 1, 1e-12);
    NEAR(hinge->drive.low, -0.5 * PI, 1e-12);
    NEAR(hinge->drive.high, 0.25 * PI, 1e-12);
    assert_int_equal(hinge->drive.motor, SAND_MOTOR_SPEED);
    NEAR(hinge->drive.target, 3, 0);
    NEAR(hinge->drive.strength, 7, 0);
    NEAR(hinge->drive.rest, 10 * PI / 180, 1e-12);
    assert_int_equal(sand_world_find_joint(w, "pivot"), 0);
    assert_int_equal(sand_world_find_joint(w, ""), -1);
    assert_int_equal(rope->kind, SAND_JOINT_DISTANCE);
    NEAR(rope->drive.high, 0.2, 1e-12);
    assert_true(rope->drive.low == -INFINITY);
    assert_int_equal(slider->drive.motor, SAND_MOTOR_POSITION);
    NEAR(slider->drive.speed, 2, 0);
    assert_true(sand_world_apart(w, 0, 1)); // and so the two may overlap
    sand_scene_free(&scene);
}

static void refused(const char *joints, const char *key, const char *words) {
    SandScene scene;
    SandError error = {""};
    assert_false(load(&scene, joints, &error));
    if (!strstr(error.text, "test.yaml:") || !strstr(error.text, key) || !strstr(error.text, words) ||
        strchr(error.text, '\n'))
        fail_msg("\"%s\" is not one line with \"%s\" and \"%s\"", error.text, key, words);
    print_message("%s\n", error.text);
}

static void mistakes_are_refused(void **state) {
    (void)state;
    refused("  - {name: x, kind: ball, b: bob}\n  - {name: x, kind: ball, b: arm}\n", "test.yaml:7: joints",
            "has the name x already");
    refused("  - {kind: ball, b: nobody}\n", "b", "there is no body 'nobody'");
    refused("  - {kind: ball, a: bop, b: bob}\n", "a", "bob");
    refused("  - {kind: ball, a: bob, b: bob}\n", "test.yaml:6", "itself");
    refused("  - {kind: hinge, b: bob, axis: [0, 0, 0]}\n", "axis", "length 0");
    refused("  - {kind: hinge, b: bob}\n", "axis", "missing");
    refused("  - {kind: hinge, b: bob, axis: [0, 0, 1], limits: [30, -30]}\n", "limits", "cross");
    refused("  - {kind: ball, b: bob, limits: [-30, 30]}\n", "limits", "no such key");
    refused("  - {kind: slider, b: bob, axis: [0, 0, 1], motor: {strength: 3}}\n", "motor", "speed and position");
    refused("  - {kind: slider, b: bob, axis: [0, 0, 1], spring: {stiffness: -3}}\n", "stiffness", "-3");
    refused("  - {kind: rod, b: bob}\n", "anchor", "missing");
    refused("  - {kind: glue, b: bob}\n", "kind", "glue");
    refused("  - {kind: universal, b: bob, axis: [0, 0, 1], axis_b: [0, 1, 1]}\n", "test.yaml:6", "right angle");
}

#define WHEELS \
    "  - {name: port, kind: hinge, b: arm, axis: [0, 1, 0], motor: {speed: 1, strength: 9}}\n" \
    "  - {name: free, kind: hinge, b: bob, axis: [0, 1, 0]}\n" \
    "  - {name: servo, kind: hinge, b: bob, axis: [0, 1, 0], motor: {position: 1}}\n" \
    "  - {name: star, kind: hinge, b: bob, axis: [0, 1, 0], motor: {speed: 1, strength: 9}}\n" \
    "  - {name: rail, kind: slider, b: bob, axis: [0, 1, 0], motor: {speed: 1}}\n" \
    "  - {kind: rope, a: arm, b: bob}\n"

static void vehicle_arrives(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    const char *text = WHEELS "vehicle: {left: [star], right: [port], speed: 2.5, torque: 3}\n";
    if (!load(&scene, text, &error)) fail_msg("%s", error.text);
    const SandVehicle *v = &scene.vehicle;
    assert_int_equal(v->wheel_count, 2);
    assert_int_equal(v->wheels[0].joint, 3);
    assert_false(v->wheels[0].right);
    assert_int_equal(v->wheels[1].joint, 0);
    assert_true(v->wheels[1].right);
    assert_string_equal(v->wheels[1].name, "port");
    NEAR(v->speed, 2.5, 0);
    NEAR(scene.world.joints[0].drive.strength, 3, 0);
    NEAR(scene.world.joints[3].drive.strength, 3, 0);
    sand_scene_free(&scene);
    if (!load(&scene, WHEELS, &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.vehicle.wheel_count, 0);
    sand_scene_free(&scene);
}

static void mistakes_of_a_vehicle_are_refused(void **state) {
    (void)state;
    refused(WHEELS "vehicle:\n  left: [port]\n  right:\n    - start\n", "test.yaml:15", "there is no joint 'start'");
    refused(WHEELS "vehicle:\n  left: [port]\n  right: [star, free]\n", "test.yaml:14", "'free' has no motor");
    refused(WHEELS "vehicle: {left: [port], right: [servo]}\n", "right", "'servo' has no motor with a speed");
    refused(WHEELS "vehicle: {left: [rail], right: [star]}\n", "left", "no hinge");
    refused(WHEELS "vehicle: {left: [port], right: [port]}\n", "right", "twice");
    refused(WHEELS "vehicle: {left: [port]}\n", "right", "missing");
    refused(WHEELS "vehicle: {left: [port], right: [star], torque: -1}\n", "torque", "-1");
    refused(WHEELS "vehicle: {left: [port], right: [star], brake: 1}\n", "brake", "unknown key");
}

static void the_camera_follows_a_body(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    if (!load(&scene, WHEELS "follow: bob\n", &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.follow, 1);
    NEAR(scene.follow_from.x, 1.2, 0);
    sand_scene_free(&scene);
    if (!load(&scene, WHEELS, &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.follow, -1);
    sand_scene_free(&scene);
    refused(WHEELS "follow: bop\n", "follow", "there is no body 'bop' to follow; did you mean bob");
}

static void passes_and_looks_arrive(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    if (!load(&scene, WHEELS "joint_passes: 3\nlooks: 0\n", &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.world.joint_passes, 3);
    assert_int_equal(scene.world.looks, 0);
    sand_scene_free(&scene);
    if (!load(&scene, WHEELS, &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.world.joint_passes, 1);
    assert_int_equal(scene.world.looks, -1);
    sand_scene_free(&scene);
    refused(WHEELS "joint_passes: 0\n", "joint_passes", "from 1 to 10");
    refused(WHEELS "looks: 5\n", "looks", "from -1 to 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_and_looks_arrive),
                                       cmocka_unit_test(joints_arrive),
                                       cmocka_unit_test(mistakes_are_refused),
                                       cmocka_unit_test(vehicle_arrives),
                                       cmocka_unit_test(mistakes_of_a_vehicle_are_refused),
                                       cmocka_unit_test(the_camera_follows_a_body)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
