// SPDX-License-Identifier: MIT
// What bodies move among, and what they look like, beside a file for ParaView: FILE-walls.pvd lists the triangles of the
// boundaries over time, and FILE-shapes.vtm has those of every shape at scale 1, a table for glyphs. Both keep their files
// in the folder FILE, which the format makes.
#pragma once
#include "app/io/export/format.h"

typedef struct Scenery Scenery;

Scenery *scenery_open(const ExportDef *def, SandError *error); // writes the shapes
// Lists the boundaries of a frame, and writes them where they have moved from their places at time 0.
bool scenery_write(Scenery *scenery, const ExportFrame *frame, SandError *error);
void scenery_free(Scenery *scenery); // NULL too
