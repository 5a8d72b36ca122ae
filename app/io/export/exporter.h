// SPDX-License-Identifier: MIT
// Exports bodies and contacts over time to a file (--export): frames are copied out of the simulation and written by threads
// of their own; a simulation on a GPU does not even wait for the bodies to come to the host. When the disk is slower than
// the simulation, that waits, and says so once; when the disk is full the export ends with a sentence, and the run goes on.
#pragma once
#include "app/io/export/format.h"

typedef struct Exporter Exporter;

// Called with a sentence for a person to read, on the thread of the simulation.
typedef void ExportMessage(void *user, const char *sentence);

int exporter_format_count(void);
const ExportFormat *exporter_format(int k);
// Refuses a file whose ending is none of the formats'. Nothing is opened yet.
bool exporter_knows(const char *path, SandError *error);
// Whether every rank writes a part of each frame: then all of them open the same export, and come to every step of it.
// Otherwise rank 0 writes, of bodies that it gathers.
bool exporter_has_parts(const ExportDef *def);
// Opens the file. The definition is copied; path and shapes must outlive the exporter.
Exporter *exporter_open(const ExportDef *def, ExportMessage *tell, void *user, SandError *error);
// Writes a frame of the current state, due or not. Fails only where the state cannot be read.
bool exporter_write(Exporter *exporter, SandSimulation *sim, SandError *error);
// Writes a frame of the current state where one is due. Fails only where the state cannot be read.
bool exporter_step(Exporter *exporter, SandSimulation *sim, SandError *error);
void exporter_wait(Exporter *exporter); // until all frames so far are written and listed
// False, with a sentence, when not everything was written.
bool exporter_close(Exporter *exporter, SandError *error);
