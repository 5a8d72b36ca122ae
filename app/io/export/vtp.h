// SPDX-License-Identifier: MIT
// VTK XML PolyData (.vtp): points with their columns, appended as binary and compressed by zlib where there is one.
#pragma once
#include "app/io/export/deflate.h"
#include "app/io/export/frame.h"

// Scratch of a file being written, kept from file to file; all zero at first.
typedef struct Vtp {
    SAND_ARRAY(unsigned char) data; // appended to the file
    size_t data_size;
    Deflated deflated;         // the last array
    SAND_ARRAY(int32_t) index; // 0, 1, 2, ...
} Vtp;

// Writes a table of a frame, whole or not at all.
bool vtp_write(Vtp *vtp, const char *path, const ExportFrame *frame, const ExportTable *table, SandError *error);
void vtp_free(Vtp *vtp);
