// SPDX-License-Identifier: MIT
// Each setting of SAND_WORLD_SETTINGS arrives from a scene, is refused beyond its limits there and before a step, and is
// part of what a world is known by and of what wakes sleeping bodies.
#include "tests/lab/lab.h"
#include "sim/step/sleep.h"
#include "sim/world/world_key.h"

static const char SCENE[] = "name: settings\n"
                            "materials: [{name: stone, density: 2500, mu: 0.5}]\n"
                            "boundaries: [{name: floor, shape: plane, normal: [0, 0, 1]}]\n"
                            "bodies: [{shape: sphere, radius: 0.1, position: [0, 0, 1]}]\n";

static bool load(SandScene *scene, const char *name, double value, SandError *error) {
    char text[600];
    SandSceneOptions options = {0};
    int length = snprintf(text, sizeof text, "%s%s: %.17g\n", SCENE, name, value);
    return sand_scene_load_text(scene, text, (size_t)length, "settings.yaml", &options, error);
}

// A value between the limits that is not the one of a new world.
static double other_value(double standard, double least, double most) {
    double value = least + 1;
    return value <= most && value != standard ? value : standard != most ? most : least;
}

static void expect_words(const SandError *error, const char *name, double least, double most) {
    char limits[80];
    snprintf(limits, sizeof limits, "from %g to %g", least, most);
    if (!strstr(error->text, name) || !strstr(error->text, limits)) fail_msg("%s: %s", name, error->text);
}

static void settings_arrive_from_a_scene(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
#define CHECK(type, name, standard, least, most, unit) \
    if (!load(&scene, #name, other_value(standard, least, most), &error)) fail_msg("%s", error.text); \
    assert_true((double)scene.world.name == other_value(standard, least, most)); \
    sand_scene_free(&scene);
    SAND_WORLD_SETTINGS(CHECK)
#undef CHECK
}

static void a_scene_with_a_setting_beyond_its_limits_is_refused(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
#define CHECK(type, name, standard, least, most, unit) \
    assert_false(load(&scene, #name, (least)-1, &error)); \
    expect_words(&error, #name, least, most); \
    sand_scene_free(&scene); \
    assert_false(load(&scene, #name, (most) + 1, &error)); \
    expect_words(&error, #name, least, most); \
    sand_scene_free(&scene);
    SAND_WORLD_SETTINGS(CHECK)
#undef CHECK
}

static void a_step_with_a_setting_beyond_its_limits_is_refused(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    if (!load(&scene, "step", 0.01, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    SandSimulation *sim = sand_simulation_create(&scene.world, &def, &error);
    if (!sim) fail_msg("%s", error.text);
    SandWorld *w = sand_simulation_change(sim);
#define CHECK(type, name, standard, least, most, unit) \
    w->name = (type)((most) + 1); \
    sand_simulation_change(sim); \
    assert_false(sand_simulation_step(sim, &error)); \
    expect_words(&error, #name, least, most); \
    w->name = standard;
    SAND_WORLD_SETTINGS(CHECK)
#undef CHECK
    sand_simulation_change(sim);
    assert_true(sand_simulation_step(sim, &error));
    sand_simulation_free(sim);
    sand_scene_free(&scene);
}

static void worlds_of_other_settings_have_other_keys(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    if (!load(&scene, "step", 0.01, &error)) fail_msg("%s", error.text);
    uint64_t key = sand_world_key(&scene.world), sleep = sand_sleep_settings(&scene.world);
#define CHECK(type, name, standard, least, most, unit) \
    scene.world.name = (type)other_value(standard, least, most); \
    if (sand_world_key(&scene.world) == key) fail_msg("the key of a world lacks %s", #name); \
    if (sand_sleep_settings(&scene.world) == sleep) fail_msg("%s wakes nothing", #name); \
    scene.world.name = standard;
    SAND_WORLD_SETTINGS(CHECK)
#undef CHECK
    assert_true(sand_world_key(&scene.world) == key && sand_sleep_settings(&scene.world) == sleep);
    sand_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_arrive_from_a_scene),
        cmocka_unit_test(a_scene_with_a_setting_beyond_its_limits_is_refused),
        cmocka_unit_test(a_step_with_a_setting_beyond_its_limits_is_refused),
        cmocka_unit_test(worlds_of_other_settings_have_other_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
