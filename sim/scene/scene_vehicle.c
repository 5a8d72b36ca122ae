// SPDX-License-Identifier: MIT
// The vehicle of a scene: which of its joints are driven wheels, and how fast and strong they are.
#include "sim/core/suggestion.h"
#include "sim/scene/scene_builder.h"
#include <stdio.h>
#include <string.h>

#define DEFAULT_SPEED 4.0 // rad/s
#define MOST_TORQUE 1e15  // N m

// Returns the joint of this name, or -1 with a message.
static int find_joint(SandBuilder *b, const char *name, const char *key) {
    SandSuggestion names = sand_suggestion(name);
    for (uint32_t i = 0; i < b->def->joints_count; i++) {
        const char *known = b->def->joints[i].name;
        if (known && strcmp(known, name) == 0) return (int)i;
        if (known) sand_suggestion_add(&names, known);
    }
    sand_build_wrong(b, key, "there is no joint '%s' to drive; %s", name, sand_suggestion_text(&names));
    return -1;
}

static bool check_wheel(SandBuilder *b, const char *name, int joint, const char *key) {
    const SandVehicle *v = &b->scene->vehicle;
    const SandJoint *j = &b->world->joints[joint];
    if (j->kind != SAND_JOINT_HINGE)
        return sand_build_wrong(b, key, "the joint '%s' is no hinge; a wheel turns on one", name);
    if (j->drive.motor != SAND_MOTOR_SPEED)
        return sand_build_wrong(b, key, "the joint '%s' has no motor with a speed", name);
    for (int i = 0; i < v->wheel_count; i++)
        if (v->wheels[i].joint == joint) return sand_build_wrong(b, key, "the wheel '%s' is named twice", name);
    return v->wheel_count < SAND_MAX_WHEELS || sand_build_wrong(b, key, "a vehicle has at most %d wheels", SAND_MAX_WHEELS);
}

static bool add_side(SandBuilder *b, const char *side, char **names, uint32_t count, bool right) {
    SandVehicle *v = &b->scene->vehicle;
    for (uint32_t i = 0; i < count; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s[%u]", side, i);
        int joint = find_joint(b, names[i], key);
        if (joint < 0 || !check_wheel(b, names[i], joint, key)) return false;
        SandWheel *wheel = &v->wheels[v->wheel_count++];
        *wheel = (SandWheel){.joint = joint, .right = right};
        snprintf(wheel->name, sizeof wheel->name, "%s", names[i]);
    }
    return count > 0 || sand_build_wrong(b, side, "missing: the joints of the wheels on this side");
}

bool sand_build_vehicle(SandBuilder *b) {
    const SandVehicleFileDef *from = b->def->vehicle;
    SandVehicle *v = &b->scene->vehicle;
    *v = (SandVehicle){0};
    if (!from) return true;
    snprintf(b->path, sizeof b->path, "vehicle");
    if (!sand_build_range(b, "speed", from->speed, 1e-6, SAND_FAST) ||
        !sand_build_range(b, "torque", from->torque, 0, MOST_TORQUE) ||
        !add_side(b, "left", from->left, from->left_count, false) ||
        !add_side(b, "right", from->right, from->right_count, true))
        return false;
    v->speed = sand_number(from->speed, DEFAULT_SPEED);
    for (int i = 0; i < v->wheel_count && from->torque; i++)
        b->world->joints[v->wheels[i].joint].drive.strength = *from->torque;
    return true;
}
