// SPDX-License-Identifier: MIT
// libFuzzer target for the scene reader: any bytes give a world or a one-line error, and nothing leaks. Built with
// -DSAND_SANITIZE=fuzzer and clang; run as
//   fuzz_scene -max_len=4096 -max_total_time=60 CORPUS scenes
#include "sandglass/scene.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // Small worlds and no files, so that a run stays fast and reads nothing but its input.
    SandSceneOptions options = {.limit = 2000, .no_files = true};
    SandScene scene;
    SandError error = {""};
    if (sand_scene_load_text(&scene, (const char *)data, size, "fuzz.yaml", &options, &error)) {
        // An accepted world is finite, and setting every knob to its ends gives a world or a sentence.
        for (int i = 0; i < scene.world.body_count; i++)
            if (!v3_finite(scene.world.position[i]) || !(scene.world.mass[i] > 0)) abort();
        for (int i = 0; i < scene.knob_count; i++) {
            if (!sand_scene_set_knob(&scene, i, scene.knobs[i].most, &error)) abort();
            if (!sand_scene_build(&scene, &error) && !*error.text) abort();
        }
        sand_scene_free(&scene);
    } else if (strncmp(error.text, "fuzz.yaml", 9) != 0 || strchr(error.text, '\n')) {
        abort();
    }
    return 0;
}
