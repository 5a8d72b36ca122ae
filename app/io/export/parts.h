// SPDX-License-Identifier: MIT
// An export of several ranks: each writes the bodies of its block into files of its own, and rank 0 lists them. A frame is
// listed once all ranks have written theirs, and where one of them fails the export ends for all.
#pragma once
#include "app/io/export/frame.h"
#include "sim/core/ranks.h"

// All ranks meet, and each says whether it has fared well. Then the frame has the number of bodies of every part; where one
// has failed it has no parts, and `fault` is the sentence of the first that has. False: the run is over.
bool parts_meet(const SandRanks *ranks, bool well, ExportFrame *frame, SandError *fault, SandError *error);
