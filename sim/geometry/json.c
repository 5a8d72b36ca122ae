// SPDX-License-Identifier: MIT
// JSON by recursive descent. Texts are not copied, and escapes in them are left as they are: names and paths of glTF files
// that have them are found by nobody.
#include "sim/geometry/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100, MOST_VALUES = 1 << 26 };

typedef struct Reader {
    SandJson *json;
    const char *path, *at, *end;
    int line;
    SandError *error;
} Reader;

static bool wrong(Reader *r, const char *what) { return sand_fail(r->error, "%s:%d: %s", r->path, r->line, what); }

static void skip_blanks(Reader *r) {
    for (; r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at; r->at++) r->line += *r->at == '\n';
}

// Passes a character, behind blanks.
static bool take(Reader *r, char c) {
    skip_blanks(r);
    if (r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static int add_value(Reader *r, SandJsonKind kind) {
    if (r->json->count >= MOST_VALUES) return wrong(r, "the file has too many values"), -1;
    if (!SAND_RESERVE(r->json->values, r->json->count + 1, "values of a file", r->error)) return -1;
    r->json->values.data[r->json->count] = (SandJsonValue){.kind = kind, .first = -1, .next = -1, .line = r->line};
    return r->json->count++;
}

// Finds the end of a text, behind its first quote.
static bool read_text(Reader *r, const char **text, int *length) {
    *text = r->at;
    for (; r->at < r->end && *r->at != '"'; r->at++) {
        if ((unsigned char)*r->at < ' ') return wrong(r, "a text ends within its line");
        if (*r->at == '\\' && r->at + 1 < r->end) r->at++;
    }
    if (r->at >= r->end || r->at - *text > 1 << 30) return wrong(r, "a text has no end");
    *length = (int)(r->at++ - *text);
    return true;
}

static int read_value(Reader *r, int depth);

// Reads the values of a list or map up to its closing bracket.
static bool read_inside(Reader *r, int of, bool is_map, int depth) {
    int last = -1;
    char closing = is_map ? '}' : ']';
    if (take(r, closing)) return true;
    for (;;) {
        const char *key = NULL;
        int length = 0;
        if (is_map && (!take(r, '"') || !read_text(r, &key, &length) || !take(r, ':')))
            return wrong(r, "expected a key in quotes, and a colon");
        int value = read_value(r, depth + 1);
        if (value < 0) return false;
        SandJsonValue *values = r->json->values.data;
        values[value].key = key;
        values[value].key_length = length;
        *(last < 0 ? &values[of].first : &values[last].next) = value;
        values[of].count++;
        last = value;
        if (take(r, closing)) return true;
        if (!take(r, ',')) return wrong(r, is_map ? "expected , or }" : "expected , or ]");
    }
}

static int read_word(Reader *r) {
    static const struct {
        const char *word;
        SandJsonKind kind;
        double number;
    } words[] = {{"true", SAND_JSON_BOOL, 1}, {"false", SAND_JSON_BOOL, 0}, {"null", SAND_JSON_NULL, 0}};
    for (int k = 0; k < 3; k++) {
        size_t length = strlen(words[k].word);
        if ((size_t)(r->end - r->at) < length || strncmp(r->at, words[k].word, length) != 0) continue;
        int value = add_value(r, words[k].kind);
        r->at += length;
        if (value >= 0) r->json->values.data[value].number = words[k].number;
        return value;
    }
    char *end;
    double number = strtod(r->at, &end);
    if (end == r->at || end > r->end || !isfinite(number)) return wrong(r, "expected a value"), -1;
    int value = add_value(r, SAND_JSON_NUMBER);
    r->at = end;
    if (value >= 0) r->json->values.data[value].number = number;
    return value;
}

static int read_value(Reader *r, int depth) {
    const char *text;
    int length;
    if (depth > DEEPEST) return wrong(r, "values lie too deep"), -1;
    if (take(r, '"')) {
        if (!read_text(r, &text, &length)) return -1;
        int value = add_value(r, SAND_JSON_TEXT);
        if (value >= 0) r->json->values.data[value].text = text;
        if (value >= 0) r->json->values.data[value].length = length;
        return value;
    }
    bool is_map = take(r, '{');
    if (!is_map && !take(r, '[')) return read_word(r);
    int value = add_value(r, is_map ? SAND_JSON_MAP : SAND_JSON_LIST);
    return value >= 0 && read_inside(r, value, is_map, depth) ? value : -1;
}

bool sand_json_read(SandJson *json, const char *path, const char *text, size_t size, SandError *error) {
    Reader r = {json, path, text, text + size, 1, error};
    *json = (SandJson){0};
    bool ok = read_value(&r, 0) >= 0;
    skip_blanks(&r);
    while (ok && r.at < r.end && !*r.at) r.at++; // chunks of GLB files are padded
    if (ok && r.at < r.end) ok = wrong(&r, "something stands behind the end");
    if (!ok) sand_json_free(json);
    return ok;
}

void sand_json_free(SandJson *json) {
    SAND_FREE_ARRAYS(&json->values);
    *json = (SandJson){0};
}

int sand_json_member(const SandJson *json, int of, const char *key) {
    if (of < 0 || json->values.data[of].kind != SAND_JSON_MAP) return -1;
    for (int k = json->values.data[of].first; k >= 0; k = json->values.data[k].next)
        if (json->values.data[k].key_length == (int)strlen(key) && !memcmp(json->values.data[k].key, key, strlen(key)))
            return k;
    return -1;
}

int sand_json_entry(const SandJson *json, int of, int index) {
    if (of < 0 || json->values.data[of].kind != SAND_JSON_LIST || index < 0) return -1;
    int k = json->values.data[of].first;
    while (k >= 0 && index-- > 0) k = json->values.data[k].next;
    return k;
}

double sand_json_number(const SandJson *json, int of, const char *key, double otherwise) {
    int value = sand_json_member(json, of, key);
    return value < 0 || json->values.data[value].kind != SAND_JSON_NUMBER ? otherwise : json->values.data[value].number;
}

bool sand_json_is(const SandJson *json, int value, const char *text) {
    if (value < 0 || json->values.data[value].kind != SAND_JSON_TEXT) return false;
    return json->values.data[value].length == (int)strlen(text) &&
           !memcmp(json->values.data[value].text, text, strlen(text));
}
