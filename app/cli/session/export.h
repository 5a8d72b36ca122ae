// SPDX-License-Identifier: MIT
// The definition of an export, from --export and its options.
#pragma once
#include "app/io/export/exporter.h"
#include "app/cli/options/options.h"
#include "sandglass/scene.h"

// Reads the options; def->path is NULL where nothing is to be exported.
bool export_plan(ExportDef *def, const Options *options, SandError *error);
// Sets the ranks that write the export: those of the simulation, where its backend can read blocks of bodies, else rank 0
// alone.
void export_join(ExportDef *def, const SandSimulation *sim);
// Adds what a file says of the run and what formats need of the world before its first step: export_describe_end frees it.
bool export_place(ExportDef *def, const SandScene *scene, SandSimulation *sim, SandError *error);
