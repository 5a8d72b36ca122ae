// SPDX-License-Identifier: MIT
// Writing GSD files frame by frame, and going on with one behind the frames that are kept. Chunks that are equal to those of
// the first frame are not written again, as the format allows.
#define _XOPEN_SOURCE 700 // pread, pwrite
#include "app/io/export/gsd_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/core/assert.h"

enum { NAME_BLOCK = 64, NAME_BLOCKS = 64, FIRST_INDEX = 256 };
#define GSD_VERSION(major, minor) ((uint32_t)(major) << 16 | (minor))
static const uint64_t MAGIC = 0x65DF65DF65DF65DFu;

typedef struct Header {
    uint64_t magic, index_location, index_capacity, names_location, name_blocks;
    uint32_t schema_version, version;
    char application[64], schema[64], reserved[80];
} Header;
_Static_assert(sizeof(Header) == 256 && sizeof(GsdEntry) == 32, "as in the file");

static bool fail(const GsdFile *f, SandError *error) { return sand_fail(error, "%.300s: %s", f->path, strerror(errno)); }

static bool put(const GsdFile *f, const void *data, size_t size, int64_t at, SandError *error) {
    const char *bytes = data;
    while (size) {
        ssize_t done = pwrite(f->descriptor, bytes, size, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return fail(f, error);
        bytes += done;
        at += done;
        size -= (size_t)done;
    }
    return true;
}

static bool get(const GsdFile *f, void *data, size_t size, int64_t at, SandError *error) {
    if (pread(f->descriptor, data, size, at) == (ssize_t)size) return true;
    return sand_fail(error, "%.300s: is cut off", f->path);
}

// The names one after the other, each with its terminator.
static bool pack_names(char packed[NAME_BLOCK * NAME_BLOCKS], const char *const *names, int count, SandError *error) {
    size_t used = 0;
    memset(packed, 0, NAME_BLOCK * NAME_BLOCKS);
    for (int k = 0; k < count; k++) {
        size_t length = strlen(names[k]) + 1;
        if (k == GSD_MAX_CHUNKS || used + length >= NAME_BLOCK * NAME_BLOCKS)
            return sand_fail(error, "too many columns for a GSD file");
        memcpy(packed + used, names[k], length);
        used += length;
    }
    return true;
}

static Header make_header(const GsdFile *f, const char *schema) {
    Header header = {.magic = MAGIC,
                     .index_location = f->index_location,
                     .index_capacity = f->index_capacity,
                     .names_location = sizeof header,
                     .name_blocks = NAME_BLOCKS,
                     .schema_version = GSD_VERSION(1, 4),
                     .version = GSD_VERSION(2, 0)};
    strcpy(header.application, "Sandglass");
    strncpy(header.schema, schema, sizeof header.schema - 1);
    return header;
}

bool gsd_create(GsdFile *f, const char *path, const char *const *names, int count, const char *schema, SandError *error) {
    char packed[NAME_BLOCK * NAME_BLOCKS];
    static const GsdEntry unused[FIRST_INDEX];
    *f = (GsdFile){.path = path, .name_count = count, .index_capacity = FIRST_INDEX};
    if (!pack_names(packed, names, count, error)) return false;
    f->index_location = sizeof(Header) + sizeof packed;
    f->end = (int64_t)(f->index_location + sizeof unused);
    Header header = make_header(f, schema);
    f->descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (f->descriptor < 0) return fail(f, error);
    if (put(f, packed, sizeof packed, sizeof header, error) &&
        put(f, unused, sizeof unused, (int64_t)f->index_location, error) && put(f, &header, sizeof header, 0, error))
        return true;
    close(f->descriptor);
    return false;
}

// --- frames -------------------------------------------------------------------------------------------------

static size_t chunk_bytes(const GsdEntry *e) {
    bool is_long = e->type == GSD_UINT64 || e->type == GSD_DOUBLE;
    return e->rows * e->columns * (e->type == GSD_INT8 ? 1 : is_long ? 8 : 4);
}

bool gsd_chunk(GsdFile *f, int name, GsdType type, uint64_t rows, uint32_t columns, const void *data, SandError *error) {
    GsdEntry entry = {.frame = f->frame,
                      .rows = rows,
                      .location = f->end,
                      .columns = columns,
                      .name = (uint16_t)name,
                      .type = (uint8_t)type};
    SAND_ASSERT(!f->pending_count || f->pending[f->pending_count - 1].name < name);
    if (!put(f, data, chunk_bytes(&entry), f->end, error)) return false;
    f->pending[f->pending_count++] = entry;
    f->end += (int64_t)chunk_bytes(&entry);
    if (f->frame == 0) f->first[name].entry = entry;
    return true;
}

// Reads a chunk of the first frame, once. Where that fails the chunk counts as another one.
static bool read_first(const GsdFile *f, GsdFirst *first) {
    SandError ignored;
    size_t size = chunk_bytes(&first->entry);
    if (first->data) return true;
    first->data = malloc(size + 1);
    if (first->data && get(f, first->data, size, first->entry.location, &ignored)) return true;
    free(first->data);
    first->data = NULL;
    return false;
}

// On a few cores: the columns of a million bodies that do not change are 20 MB, and wanted once a frame.
static bool are_equal(const char *a, const char *b, size_t size) {
    enum { BLOCK = 1 << 16 };
    bool differ = false;
#pragma omp parallel for reduction(|| : differ) num_threads(GSD_THREADS) if (size > 16 * BLOCK)
    for (size_t at = 0; at < size; at += BLOCK)
        differ = differ || memcmp(a + at, b + at, size - at < BLOCK ? size - at : BLOCK);
    return !differ;
}

// Whether the first frame has these numbers in this chunk.
static bool is_as_in_first(const GsdFile *f, GsdFirst *first, uint64_t rows, uint32_t columns, const void *data) {
    const GsdEntry *e = &first->entry;
    if (f->frame == 0 || !e->location || e->rows != rows || e->columns != columns) return false;
    return read_first(f, first) && are_equal(first->data, data, chunk_bytes(e));
}

bool gsd_chunk_if_new(GsdFile *f, int name, GsdType type, uint64_t rows, uint32_t columns, const void *data,
                      SandError *error) {
    return is_as_in_first(f, &f->first[name], rows, columns, data) || gsd_chunk(f, name, type, rows, columns, data, error);
}

// Copies the index to the end of the file, twice as large, and only then points the header to it.
static bool grow_index(GsdFile *f, SandError *error) {
    uint64_t capacity = 2 * f->index_capacity, words[2] = {(uint64_t)f->end, capacity};
    GsdEntry *index = calloc(capacity, sizeof *index);
    bool grown = index ? get(f, index, f->entry_count * sizeof *index, (int64_t)f->index_location, error) &&
                             put(f, index, capacity * sizeof *index, f->end, error) &&
                             put(f, words, sizeof words, (int64_t)offsetof(Header, index_location), error)
                       : sand_fail(error, "out of memory for the index of a GSD file");
    free(index);
    if (!grown) return false;
    f->index_location = words[0];
    f->index_capacity = capacity;
    f->end += (int64_t)(capacity * sizeof *index);
    return true;
}

bool gsd_end_frame(GsdFile *f, SandError *error) {
    size_t count = (size_t)f->pending_count;
    // One entry stays unused, and a frame number is below the capacity.
    while (f->entry_count + count >= f->index_capacity)
        if (!grow_index(f, error)) return false;
    int64_t at = (int64_t)(f->index_location + f->entry_count * sizeof(GsdEntry));
    if (!put(f, f->pending, count * sizeof(GsdEntry), at, error)) return false;
    f->entry_count += count;
    f->pending_count = 0;
    f->frame++;
    return true;
}

bool gsd_close(GsdFile *f, SandError *error) {
    for (int k = 0; k < GSD_MAX_CHUNKS; k++) free(f->first[k].data);
    return close(f->descriptor) == 0 || fail(f, error);
}

// --- going on with a file -----------------------------------------------------------------------------------

static bool open_index(GsdFile *f, const char *const *names, int count, SandError *error) {
    Header header;
    char packed[NAME_BLOCK * NAME_BLOCKS], was[sizeof packed];
    if (!pack_names(packed, names, count, error) || !get(f, &header, sizeof header, 0, error)) return false;
    if (header.magic != MAGIC || header.names_location != sizeof header || header.name_blocks != NAME_BLOCKS)
        return sand_fail(error, "%.300s: is no GSD file of Sandglass", f->path);
    if (!get(f, was, sizeof was, sizeof header, error)) return false;
    if (memcmp(was, packed, sizeof packed)) return sand_fail(error, "%.300s: has other columns", f->path);
    f->index_location = header.index_location;
    f->index_capacity = header.index_capacity;
    f->end = lseek(f->descriptor, 0, SEEK_END);
    return f->end > 0 || fail(f, error);
}

bool gsd_reopen(GsdFile *f, const char *path, const char *const *names, int count, SandError *error) {
    *f = (GsdFile){.path = path, .name_count = count};
    f->descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (f->descriptor < 0) return fail(f, error);
    if (open_index(f, names, count, error)) return true;
    close(f->descriptor);
    return false;
}

// Counts the entries of the frames to keep.
static bool count_kept(GsdFile *f, const GsdEntry *index, int name, uint64_t most, SandError *error) {
    for (uint64_t k = 0; k < f->index_capacity && index[k].location; k++) {
        uint64_t number = 0;
        if (index[k].name == name && !get(f, &number, sizeof number, index[k].location, error)) return false;
        if (number > most) break;
        f->entry_count = k + 1;
        f->frame = index[k].frame + 1;
        if (index[k].frame == 0 && index[k].name < GSD_MAX_CHUNKS) f->first[index[k].name].entry = index[k];
    }
    return true;
}

bool gsd_keep(GsdFile *f, int name, uint64_t most, SandError *error) {
    size_t size = f->index_capacity * sizeof(GsdEntry);
    if (size > (size_t)f->end) return sand_fail(error, "%.300s: is cut off", f->path);
    GsdEntry *index = malloc(size);
    if (!index) return sand_fail(error, "out of memory for the index of a GSD file");
    bool kept = get(f, index, size, (int64_t)f->index_location, error) && count_kept(f, index, name, most, error);
    if (kept) {
        memset(index + f->entry_count, 0, size - f->entry_count * sizeof *index);
        kept = put(f, index, size, (int64_t)f->index_location, error);
    }
    free(index);
    return kept;
}
