// SPDX-License-Identifier: MIT
// Files in the format GSD 2.0 (General Simulation Data, gsd.readthedocs.io): chunks of numbers by frame and name. A file is
// a header, a list of names, an index of chunks that grows by moving to the end of the file, and the chunks. Chunks come
// first, then their entries in the index in one write, so that a file is whole after every frame.
#pragma once
#include "sandglass/error.h"

typedef enum GsdType {
    GSD_UINT32 = 3,
    GSD_UINT64 = 4,
    GSD_INT8 = 5,
    GSD_INT32 = 7,
    GSD_FLOAT = 9,
    GSD_DOUBLE = 10,
} GsdType;

enum {
    GSD_MAX_CHUNKS = 48, // names of a file
    GSD_THREADS = 4,     // prepare what is written
};

typedef struct GsdEntry {
    uint64_t frame, rows;
    int64_t location; // bytes from the start of the file; 0: an entry that is not in use
    uint32_t columns;
    uint16_t name; // index into the names
    uint8_t type, flags;
} GsdEntry;

// A chunk of the first frame.
typedef struct GsdFirst {
    GsdEntry entry;
    void *data; // NULL: not needed yet
} GsdFirst;

typedef struct GsdFile {
    int descriptor;
    const char *path;
    int64_t end; // where the next chunk goes
    uint64_t index_location, index_capacity, entry_count;
    uint64_t frame; // being written
    GsdEntry pending[GSD_MAX_CHUNKS];
    int pending_count;
    int name_count;
    GsdFirst first[GSD_MAX_CHUNKS]; // by name
} GsdFile;

// Creates a file with these names of chunks. On failure nothing is open.
bool gsd_create(GsdFile *file, const char *path, const char *const *names, int count, const char *schema, SandError *error);
// Opens a file that gsd_create made with the same names, to go on with; refuses another.
bool gsd_reopen(GsdFile *file, const char *path, const char *const *names, int count, SandError *error);
// Drops the frames whose chunk `name`, one 64-bit number, is above `most`; the frames are in the order of it.
bool gsd_keep(GsdFile *file, int name, uint64_t most, SandError *error);
// Adds a chunk to the current frame, in the order of the names. It may have no rows.
bool gsd_chunk(GsdFile *file, int name, GsdType type, uint64_t rows, uint32_t columns, const void *data, SandError *error);
// The same, unless the chunk is that of the first frame, which readers fall back to.
bool gsd_chunk_if_new(GsdFile *file, int name, GsdType type, uint64_t rows, uint32_t columns, const void *data,
                      SandError *error);
bool gsd_end_frame(GsdFile *file, SandError *error); // the frame is in the file from now on
bool gsd_close(GsdFile *file, SandError *error);
