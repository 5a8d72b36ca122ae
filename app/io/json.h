// SPDX-License-Identifier: MIT
// A small JSON writer. Keys are NULL inside an array and at the top.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct Json {
    FILE *out;
    int depth;
    bool first; // nothing written yet in the innermost object or array
} Json;

Json json_make(FILE *out);
void json_open_object(Json *json, const char *key);
void json_close_object(Json *json); // the outermost one ends the line
void json_open_array(Json *json, const char *key);
void json_close_array(Json *json);

void json_text(Json *json, const char *key, const char *value); // NULL is null; bytes that are not UTF-8 are replaced
void json_number(Json *json, const char *key, double value);    // what is not finite is null
void json_integer(Json *json, const char *key, int64_t value);
void json_bool(Json *json, const char *key, bool value);

enum { JSON_NUMBER = 32 }; // bytes for a number as text
// The shortest text that reads back to the same double. Returns `text`.
const char *json_shortest(double value, char text[JSON_NUMBER]);
