// SPDX-License-Identifier: MIT
// Settled states as files. A file is never trusted: magic, key, number of bodies and a hash of all poses must be right, and
// its size too; else the state is computed anew. The key covers the unsettled world, so that a change of the scene, its
// knobs, the seed or this program leads to another file.
#include "sim/scene/settled_state.h"

#include "sim/core/array.h"
#include "sim/core/hash.h"
#include "sim/world/world_key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Goes up whenever settling gives other poses.
enum { SETTLE_VERSION = 1, POSE_WORDS = 7, KEPT_PATH = 4096 };
static const char MAGIC[8] = "SANDREST";

typedef struct Header {
    char magic[8];
    uint64_t key, bodies, hash; // hash: of the poses
} Header;

uint64_t sand_settled_key(const SandScene *scene) {
    const int numbers[] = {SETTLE_VERSION, scene->has_plug};
    uint64_t hash = sand_hash_bytes(SAND_HASH_BEGIN, sand_version(), strlen(sand_version()));
    hash = sand_hash_bytes(hash, __VERSION__, strlen(__VERSION__)); // another compiler may round otherwise
    hash = sand_hash_bytes(hash, numbers, sizeof numbers);
    hash = sand_hash_bytes(hash, &scene->plug, sizeof scene->plug);
    hash = sand_hash_bytes(hash, &scene->seed, sizeof scene->seed);
    return sand_world_hash_matter(&scene->world, hash);
}

static uint64_t hash_poses(uint64_t key, const void *positions, const void *rotations, size_t bodies) {
    uint64_t hash = sand_hash_bytes(key, positions, bodies * sizeof(SandVec3));
    return sand_hash_bytes(hash, rotations, bodies * sizeof(SandQuat));
}

static bool name_file(char *path, const char *folder, uint64_t key) {
    int length = snprintf(path, KEPT_PATH, "%s/%016" PRIx64 ".settled", folder, key);
    return length > 0 && length < KEPT_PATH;
}

// Reads header and poses of a file of the right size. The poses are the caller's, to be freed with sand_free.
static double *read_poses(FILE *file, Header *header, size_t bodies) {
    double *poses = NULL;
    size_t capacity = 0, words = POSE_WORDS * bodies;
    SandError ignored; // without memory for it there is no state
    bool whole = fread(header, sizeof *header, 1, file) == 1 && header->bodies == bodies &&
                 SAND_GROW(poses, capacity, words + 1, "settled state", &ignored) &&
                 fread(poses, sizeof *poses, words, file) == words && fgetc(file) == EOF;
    if (whole) return poses;
    sand_free(poses);
    return NULL;
}

bool sand_settled_load(const char *folder, uint64_t key, SandWorld *world) {
    char path[KEPT_PATH];
    FILE *file = name_file(path, folder, key) ? fopen(path, "rb") : NULL;
    if (!file) return false;
    size_t n = (size_t)world->body_count;
    Header header;
    double *poses = read_poses(file, &header, n);
    fclose(file);
    bool right = poses && !memcmp(header.magic, MAGIC, sizeof MAGIC) && header.key == key &&
                 header.hash == hash_poses(key, poses, poses + 3 * n, n);
    if (right) {
        memcpy(world->position, poses, n * sizeof *world->position);
        memcpy(world->rotation, poses + 3 * n, n * sizeof *world->rotation);
    }
    sand_free(poses);
    return right;
}

static bool write_poses(FILE *file, const Header *header, const SandWorld *world) {
    size_t n = (size_t)world->body_count;
    return fwrite(header, sizeof *header, 1, file) == 1 && fwrite(world->position, sizeof *world->position, n, file) == n &&
           fwrite(world->rotation, sizeof *world->rotation, n, file) == n && fflush(file) == 0;
}

// Makes a folder and those it is in.
static bool make_folder(const char *folder) {
    char path[KEPT_PATH];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(path, 0777); // the last one decides
        *at = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

bool sand_settled_save(const char *folder, uint64_t key, const SandWorld *world, SandError *error) {
    char path[KEPT_PATH], part[KEPT_PATH + 32];
    if (!name_file(path, folder, key)) return sand_fail(error, "%.60s...: the path is too long", folder);
    if (!make_folder(folder)) return sand_fail(error, "%.300s: %s", folder, strerror(errno));
    snprintf(part, sizeof part, "%s.%ld", path, (long)getpid());
    size_t n = (size_t)world->body_count;
    Header header = {.key = key, .bodies = n};
    memcpy(header.magic, MAGIC, sizeof MAGIC);
    header.hash = hash_poses(key, world->position, world->rotation, n);
    FILE *file = fopen(part, "wb");
    bool written = file && write_poses(file, &header, world);
    int reason = errno;
    if (file && fclose(file) != 0) written = false;
    if (written && rename(part, path) == 0) return true;
    remove(part);
    return sand_fail(error, "%.300s: %s", path, strerror(reason));
}
