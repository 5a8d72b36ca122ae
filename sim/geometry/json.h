// SPDX-License-Identifier: MIT
// Reading JSON: a tree of values that point into the text. Internal to sim/geometry, for glTF.
#pragma once
#include "sim/core/array.h"
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandJsonKind {
    SAND_JSON_NULL,
    SAND_JSON_BOOL,
    SAND_JSON_NUMBER,
    SAND_JSON_TEXT,
    SAND_JSON_LIST,
    SAND_JSON_MAP
} SandJsonKind;

typedef struct SandJsonValue {
    SandJsonKind kind;
    const char *text, *key; // of a text without its quotes, escapes as they are written; of a member of a map its key
    int length, key_length;
    double number;
    int first, next, count; // of a list or map: its first value, -1: none; next: the value behind this one, -1: none
    int line;
} SandJsonValue;

typedef struct SandJson {
    SAND_ARRAY(SandJsonValue) values; // 0 is the whole
    int count;
} SandJson;

// Reads a text of this many bytes, behind which there is a zero byte. The sentence of a failure has the line.
bool sand_json_read(SandJson *json, const char *path, const char *text, size_t size, SandError *error);
void sand_json_free(SandJson *json);
// The value of a member of a map, or entry `index` of a list; -1 where there is none, or `of` is -1 itself.
int sand_json_member(const SandJson *json, int of, const char *key);
int sand_json_entry(const SandJson *json, int of, int index);
// The number of a member, or what stands in for it where there is none.
double sand_json_number(const SandJson *json, int of, const char *key, double otherwise);
// Whether a value is this text.
bool sand_json_is(const SandJson *json, int value, const char *text);

#ifdef __cplusplus
}
#endif
