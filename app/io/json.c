// SPDX-License-Identifier: MIT
// The JSON writer, and the shortest decimal text of a double, which CSV files and takes use too.
#include "app/io/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

Json json_make(FILE *out) { return (Json){.out = out, .first = true}; }

// Length of the UTF-8 sequence at `s`, or 0 where it is invalid (overlong forms and surrogates included).
static int utf8_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    int length = s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0;
    return length;
}

static void write_text(FILE *out, const char *text) {
    putc('"', out);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s);
        } else if (*s == '\n') {
            fputs("\\n", out);
        } else if (*s < 0x20) {
            fprintf(out, "\\u%04x", *s);
        } else if (length) {
            fwrite(s, 1, (size_t)length, out);
        } else {
            fputs("\\ufffd", out);
        }
        s += length ? length : 1;
    }
    putc('"', out);
}

// Writes the comma, line break and key before a value.
static void begin_value(Json *json, const char *key) {
    if (!json->first) putc(',', json->out);
    if (json->depth) fprintf(json->out, "\n%*s", 2 * json->depth, "");
    json->first = false;
    if (key) {
        write_text(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_level(Json *json, const char *key, char bracket) {
    begin_value(json, key);
    putc(bracket, json->out);
    json->depth++;
    json->first = true;
}

static void close_level(Json *json, char bracket) {
    json->depth--;
    if (!json->first) fprintf(json->out, "\n%*s", 2 * json->depth, "");
    putc(bracket, json->out);
    json->first = false;
    if (json->depth == 0) putc('\n', json->out);
}

void json_open_object(Json *json, const char *key) { open_level(json, key, '{'); }
void json_close_object(Json *json) { close_level(json, '}'); }
void json_open_array(Json *json, const char *key) { open_level(json, key, '['); }
void json_close_array(Json *json) { close_level(json, ']'); }

void json_text(Json *json, const char *key, const char *value) {
    begin_value(json, key);
    if (value)
        write_text(json->out, value);
    else
        fputs("null", json->out);
}

void json_number(Json *json, const char *key, double value) {
    char text[JSON_NUMBER];
    begin_value(json, key);
    fputs(isfinite(value) ? json_shortest(value, text) : "null", json->out);
}

void json_integer(Json *json, const char *key, int64_t value) {
    begin_value(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void json_bool(Json *json, const char *key, bool value) {
    begin_value(json, key);
    fputs(value ? "true" : "false", json->out);
}

const char *json_shortest(double value, char text[JSON_NUMBER]) {
    // Integers without exponent; otherwise the fewest digits that read back exactly, at most 17.
    if (fabs(value) < 1e6 && value == floor(value)) {
        snprintf(text, JSON_NUMBER, "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, JSON_NUMBER, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return text;
}
