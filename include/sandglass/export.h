// SPDX-License-Identifier: MIT
// Exports of a simulation over time to files of other programs: bodies and contacts for ParaView (.vtkhdf, .pvd), OVITO
// (.gsd), renderers (.usda) and everything else (.csv). docs/data.md has the formats and the columns. In the shared library
// alone.
//
//     SandExportDef def = sand_default_export("run.vtkhdf");
//     SandExport *run = sand_export_open(sim, &def, &error);
//     while (...) if (!sand_simulation_step(sim, &error) || !sand_export_step(run, &error)) ...
//     sand_export_close(run, &error);
//
// Frames are copied out of the simulation and written by threads of their own. Every export says where it came from:
// version and commit, scene, seed, step, solver and units.
#pragma once
#include "sandglass/simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandExportDef {
    const char *path;      // its ending says the format
    const char *columns;   // names with commas between them; NULL: those that docs/data.md marks
    bool contacts;         // the contacts too
    double rate;           // Hz, frames for each simulated second; one for each step at most
    SandVec3 lower, upper; // m, what a view should show: the box of .gsd along axes that do not repeat; equal: the bodies
    const char *scene;     // for the file: where the world came from; NULL: nothing is said
    bool has_seed;         // for the file: `seed` is that of the scene
    uint64_t seed;
    SandMessageCallback *on_message; // told where writing is slower than the simulation, or fails; NULL: nobody
    void *message_user;
} SandExportDef;
SAND_API SandExportDef sand_default_export(const char *path); // 30 Hz, bodies alone

typedef struct SandExport SandExport;

// Opens the file and writes the state of now. Strings of the definition are copied. The simulation must outlive the export.
SAND_API SandExport *sand_export_open(SandSimulation *sim, const SandExportDef *def, SandError *error);
// Writes a frame where one is due; to be called after every step. Where the file cannot be written the export ends and the
// message says so, and calls go on to succeed: sand_export_close fails. This one fails where the state cannot be read.
SAND_API bool sand_export_step(SandExport *run, SandError *error);
// Waits until all frames are written, and frees the export, NULL too. False, with a sentence, where something is missing.
SAND_API bool sand_export_close(SandExport *run, SandError *error);

#ifdef __cplusplus
}
#endif
