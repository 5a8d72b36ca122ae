// SPDX-License-Identifier: MIT
// Loads a scene by its name, runs it for half a second, and writes bodies and contacts for ParaView, OVITO or a spreadsheet:
// the ending of the file says which.
//   cc export.c $(pkg-config --cflags --libs sandglass) -o export && ./export run.pvd
#include <sandglass/sandglass.h>
#include <stdio.h>

static int fail(const SandError *error) { return fprintf(stderr, "export: %s\n", error->text), 1; }

int main(int argc, char **argv) {
    SandError error;
    SandScene scene;
    SandSceneOptions options = {.bodies = 300};
    if (!sand_scene_load(&scene, "hourglass", &options, &error)) return fail(&error);
    SandSimulationDef def = sand_default_simulation();
    SandSimulation *sim = sand_simulation_create(&scene.world, &def, &error);
    if (!sim) return fail(&error);

    SandExportDef file = sand_default_export(argc > 1 ? argv[1] : "run.csv");
    file.contacts = true;
    file.scene = scene.name;
    file.has_seed = true;
    file.seed = scene.seed;
    file.lower = scene.view_lower;
    file.upper = scene.view_upper;
    SandExport *run = sand_export_open(sim, &file, &error);
    if (!run) return fail(&error);
    while (sand_simulation_world(sim)->time < 0.5)
        if (!sand_simulation_step(sim, &error) || !sand_export_step(run, &error)) return fail(&error);
    if (!sand_export_close(run, &error)) return fail(&error);
    printf("%s has half a second of the scene %s\n", file.path, scene.name);
    sand_simulation_free(sim);
    sand_scene_free(&scene);
    return 0;
}
