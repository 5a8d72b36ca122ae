// SPDX-License-Identifier: MIT
// The strict walk over a YAML file, and reading it with cyaml: see yaml_file.h.
#include "sim/scene/yaml_file.h"
#include "sim/core/suggestion.h"
#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { MOST_DEPTH = 16 };

// ---- the walk ----

typedef struct Walk {
    yaml_parser_t parser;
    const SandYaml *yaml;
    SandError *error;
    const char *target; // path whose line is wanted, or NULL
    size_t best;        // bytes of the target matched so far
    size_t line;        // line of that match
    char path[256];     // of the current value, "fills[0].radius"
} Walk;

// Replaces control characters, so that a message is one line whatever the file contains.
static void make_one_line(SandError *error) {
    for (char *c = error->text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
}

__attribute__((format(printf, 4, 5))) static bool walk_fail(Walk *w, size_t line, const char *key, const char *format, ...) {
    char sentence[400];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    sand_fail(w->error, "%.200s:%zu: %.40s%s%s", w->yaml->name, line, key, *key ? ": " : "", sentence);
    make_one_line(w->error);
    return false;
}

static bool walk_next(Walk *w, yaml_event_t *event) {
    if (yaml_parser_parse(&w->parser, event)) return true;
    const char *problem = w->parser.problem ? w->parser.problem : "not readable";
    return walk_fail(w, w->parser.problem_mark.line + 1, "", "not YAML: %s", problem);
}

// Returns the last key of a path without the index of a list entry: the line tells which one it is.
static const char *last_key(const char *path) {
    static _Thread_local char key[SAND_NAME];
    const char *dot = strrchr(path, '.');
    snprintf(key, sizeof key, "%.63s", dot ? dot + 1 : path);
    key[strcspn(key, "[")] = 0;
    return key;
}

// Records the line when the current path is the target or a prefix of it.
static void walk_note(Walk *w, size_t line) {
    size_t length = strlen(w->path);
    if (!w->target || length <= w->best || strncmp(w->target, w->path, length) != 0) return;
    char next = w->target[length];
    if (next && next != '.' && next != '[') return;
    w->best = length;
    w->line = line;
}

// Describes in words what a value should look like.
static void describe(const cyaml_schema_value_t *schema, char *text, size_t capacity) {
    switch (schema->type) {
    case CYAML_FLOAT: snprintf(text, capacity, "a number"); return;
    case CYAML_INT:
    case CYAML_UINT: snprintf(text, capacity, "a whole number"); return;
    case CYAML_BOOL: snprintf(text, capacity, "true or false"); return;
    case CYAML_STRING: snprintf(text, capacity, "text of 1 to %u bytes", schema->string.max); return;
    case CYAML_MAPPING: snprintf(text, capacity, "keys with values"); return;
    case CYAML_SEQUENCE:
        snprintf(text, capacity, "a list of at least %u and at most %u", schema->sequence.min, schema->sequence.max);
        return;
    case CYAML_SEQUENCE_FIXED: snprintf(text, capacity, "a list of %u numbers", schema->sequence.max); return;
    case CYAML_ENUM: {
        size_t used = (size_t)snprintf(text, capacity, "one of");
        for (uint32_t i = 0; i < schema->enumeration.count && used < capacity; i++)
            used +=
                (size_t)snprintf(text + used, capacity - used, "%s %s", i ? "," : "", schema->enumeration.strings[i].str);
        return;
    }
    default: snprintf(text, capacity, "something else"); return;
    }
}

static bool is_real(const char *text, size_t length) {
    char *end;
    if (length == 0 || strspn(text, "0123456789+-.eE") != length) return false;
    double x = strtod(text, &end);
    return end == text + length && x >= -1e15 && x <= 1e15;
}

// Whether the text is an unsigned integer that fits this many bytes. No leading zeros: cyaml would read them as octal.
static bool is_whole(const char *text, size_t length, uint32_t bytes) {
    if (length == 0 || strspn(text, "0123456789") != length || (length > 1 && text[0] == '0')) return false;
    errno = 0;
    unsigned long long x = strtoull(text, NULL, 10);
    return errno == 0 && (bytes >= 8 || x < 1ull << (8 * bytes));
}

static bool is_choice(const char *text, const cyaml_schema_value_t *schema) {
    for (uint32_t i = 0; i < schema->enumeration.count; i++)
        if (strcmp(text, schema->enumeration.strings[i].str) == 0) return true;
    return false;
}

static bool scalar_fits(const cyaml_schema_value_t *schema, const char *text, size_t length) {
    if (strlen(text) != length) return false; // a zero byte inside
    switch (schema->type) {
    case CYAML_FLOAT: return is_real(text, length);
    case CYAML_INT:
        return is_whole(text + (*text == '-'), length - (*text == '-'), schema->data_size / 2); // room for a sign
    case CYAML_UINT: return is_whole(text, length, schema->data_size);
    case CYAML_BOOL: return strcmp(text, "true") == 0 || strcmp(text, "false") == 0;
    case CYAML_STRING: return length >= schema->string.min && length <= schema->string.max;
    case CYAML_ENUM: return is_choice(text, schema);
    default: return false;
    }
}

static bool walk_value(Walk *w, const cyaml_schema_value_t *schema, yaml_event_t *event, int depth);

static bool walk_sequence(Walk *w, const cyaml_schema_value_t *schema, size_t line, int depth) {
    size_t end = strlen(w->path);
    char want[256];
    for (uint32_t count = 0;; count++) {
        yaml_event_t event;
        if (!walk_next(w, &event)) return false;
        bool last = event.type == YAML_SEQUENCE_END_EVENT;
        if (last ? count < schema->sequence.min : count >= schema->sequence.max) {
            yaml_event_delete(&event);
            describe(schema, want, sizeof want);
            return walk_fail(w, line, last_key(w->path), "expected %s, got %s%u", want, last ? "" : "more than ", count);
        }
        if (last) {
            yaml_event_delete(&event);
            return true;
        }
        snprintf(w->path + end, sizeof w->path - end, "[%u]", count);
        walk_note(w, event.start_mark.line + 1);
        bool ok = walk_value(w, schema->sequence.entry, &event, depth + 1);
        yaml_event_delete(&event);
        if (!ok) return false;
        w->path[end] = 0;
    }
}

static bool walk_unknown_key(Walk *w, const cyaml_schema_field_t *fields, const char *key, size_t line) {
    SandSuggestion names = sand_suggestion(key);
    for (int i = 0; fields[i].key; i++) sand_suggestion_add(&names, fields[i].key);
    return walk_fail(w, line, key, "unknown key; %s", sand_suggestion_text(&names));
}

static bool walk_mapping(Walk *w, const cyaml_schema_value_t *schema, size_t line, int depth) {
    const cyaml_schema_field_t *fields = schema->mapping.fields;
    size_t end = strlen(w->path);
    uint64_t seen = 0;
    for (;;) {
        yaml_event_t event;
        if (!walk_next(w, &event)) return false;
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            break;
        }
        size_t key_line = event.start_mark.line + 1;
        if (event.type != YAML_SCALAR_EVENT) {
            yaml_event_delete(&event);
            return walk_fail(w, key_line, last_key(w->path), "expected a key");
        }
        int i = 0;
        const char *key = (const char *)event.data.scalar.value;
        while (fields[i].key && strcmp(fields[i].key, key) != 0) i++;
        bool known = fields[i].key != NULL, twice = known && (seen >> i & 1);
        if (!known) walk_unknown_key(w, fields, key, key_line);
        if (twice) walk_fail(w, key_line, key, "given twice");
        yaml_event_delete(&event);
        if (!known || twice) return false;
        seen |= 1ull << i;
        snprintf(w->path + end, sizeof w->path - end, "%s%s", end ? "." : "", fields[i].key);
        walk_note(w, key_line);
        if (!walk_next(w, &event)) return false;
        bool ok = walk_value(w, &fields[i].value, &event, depth + 1);
        yaml_event_delete(&event);
        if (!ok) return false;
        w->path[end] = 0;
    }
    for (int i = 0; fields[i].key; i++)
        if (!(seen >> i & 1) && !(fields[i].value.flags & CYAML_FLAG_OPTIONAL))
            return walk_fail(w, line, fields[i].key, "missing");
    return true;
}

static bool walk_value(Walk *w, const cyaml_schema_value_t *schema, yaml_event_t *event, int depth) {
    size_t line = event->start_mark.line + 1;
    char want[256];
    describe(schema, want, sizeof want);
    const char *key = last_key(w->path);
    if (depth > MOST_DEPTH) return walk_fail(w, line, key, "nested too deeply");
    switch (event->type) {
    case YAML_SCALAR_EVENT: {
        const char *text = (const char *)event->data.scalar.value;
        size_t length = event->data.scalar.length;
        if (scalar_fits(schema, text, length)) return true;
        SandSuggestion names = sand_suggestion(text);
        for (uint32_t i = 0; schema->type == CYAML_ENUM && i < schema->enumeration.count; i++)
            sand_suggestion_add(&names, schema->enumeration.strings[i].str);
        return walk_fail(w, line, key, "expected %s, got %s%.40s%s%s", want, length ? "'" : "nothing", text,
                         length > 40 ? "...'"
                         : length    ? "'"
                                     : "",
                         sand_suggestion_hint(&names));
    }
    case YAML_SEQUENCE_START_EVENT:
        if (schema->type == CYAML_SEQUENCE || schema->type == CYAML_SEQUENCE_FIXED)
            return walk_sequence(w, schema, line, depth);
        return walk_fail(w, line, key, "expected %s, got a list", want);
    case YAML_MAPPING_START_EVENT:
        if (schema->type == CYAML_MAPPING) return walk_mapping(w, schema, line, depth);
        return walk_fail(w, line, key, "expected %s, got keys with values", want);
    case YAML_ALIAS_EVENT:
        return walk_fail(w, line, key, "expected %s, got an alias, which a %s does not have", want, w->yaml->kind);
    default: return walk_fail(w, line, key, "expected %s, got nothing", want);
    }
}

static bool walk_document(Walk *w) {
    // Stream start, document start, the value, document end, stream end.
    for (int state = 0; state < 5; state++) {
        yaml_event_t event;
        if (!walk_next(w, &event)) return false;
        size_t line = event.start_mark.line + 1;
        bool ok = true;
        if (state == 1 && event.type == YAML_STREAM_END_EVENT)
            ok = walk_fail(w, line, "", "expected a %s, got an empty file", w->yaml->kind);
        else if (state == 2)
            ok = walk_value(w, w->yaml->schema, &event, 0);
        else if (state == 4 && event.type != YAML_STREAM_END_EVENT)
            ok = walk_fail(w, line, "", "expected one document, got another");
        yaml_event_delete(&event);
        if (!ok) return false;
    }
    return true;
}

// Checks the whole text and, given a path, finds its line on the way.
static bool walk_text(const SandYaml *yaml, const char *path, size_t *line, SandError *error) {
    Walk w = {.yaml = yaml, .error = error, .target = path, .line = 1};
    if (!yaml_parser_initialize(&w.parser)) return sand_fail(error, "%.200s: out of memory", yaml->name);
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)yaml->text, yaml->size);
    bool ok = walk_document(&w);
    yaml_parser_delete(&w.parser);
    if (line) *line = w.line;
    return ok;
}

// ---- reading ----

static void keep_log(cyaml_log_t level, void *context, const char *format, va_list list) {
    char *text = context;
    (void)level;
    if (!*text) vsnprintf(text, 200, format, list);
}

static cyaml_config_t make_config(char *log) {
    return (cyaml_config_t){
        .log_fn = keep_log, .log_ctx = log, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR, .flags = CYAML_CFG_NO_ALIAS};
}

bool sand_yaml_read(SandYaml *yaml, const char *kind, const struct cyaml_schema_value *schema, const char *text, size_t size,
                    const char *name, SandError *error) {
    *yaml = (SandYaml){.kind = kind, .schema = schema, .size = size};
    if (size > SAND_MAX_YAML_BYTES)
        return sand_fail(error, "%.200s: %zu MB is too long for a %s, at most 64", name, size >> 20, kind);
    if (!(yaml->name = strdup(name)) || !(yaml->text = malloc(size + 1))) {
        sand_yaml_free(yaml);
        return sand_fail(error, "%.200s: out of memory", name);
    }
    memcpy(yaml->text, text, size);
    yaml->text[size] = 0;
    if (!walk_text(yaml, NULL, NULL, error)) return sand_yaml_free(yaml), false;
    char log[200] = "";
    cyaml_config_t config = make_config(log);
    cyaml_err_t status = cyaml_load_data((const uint8_t *)text, size, &config, schema, (cyaml_data_t **)&yaml->def, NULL);
    if (status != CYAML_OK || !yaml->def) {
        sand_fail(error, "%.200s:1: not a %s: %s %s", name, kind, cyaml_strerror(status), log);
        make_one_line(error);
        sand_yaml_free(yaml);
        return false;
    }
    return true;
}

bool sand_yaml_text(const char *path, const char *kind, char **text, size_t *size, SandError *error) {
    *text = NULL;
    FILE *file = fopen(path, "rb");
    if (!file) return sand_fail(error, "%.300s: %s", path, strerror(errno));
    size_t used = 0, capacity = 0;
    bool ok = true;
    while (ok) {
        if (used == capacity) {
            capacity = capacity ? 2 * capacity : 65536;
            char *grown = realloc(*text, capacity);
            if (!grown) {
                ok = sand_fail(error, "%.300s: out of memory", path);
                break;
            }
            *text = grown;
        }
        size_t got = fread(*text + used, 1, capacity - used, file);
        if (got == 0) break;
        used += got;
        if (used > SAND_MAX_YAML_BYTES) ok = sand_fail(error, "%.300s: too long for a %s, at most 64 MB", path, kind);
    }
    // A folder can be opened, and fails here.
    if (ok && ferror(file)) ok = sand_fail(error, "%.300s: %s", path, strerror(errno));
    fclose(file);
    if (!ok) {
        free(*text);
        *text = NULL;
    }
    *size = used;
    return ok;
}

void sand_yaml_free(SandYaml *yaml) {
    char log[200] = "";
    cyaml_config_t config = make_config(log);
    if (yaml->def) cyaml_free(&config, yaml->schema, yaml->def, 0);
    free(yaml->text);
    free(yaml->name);
    *yaml = (SandYaml){0};
}

bool sand_yaml_wrong(const SandYaml *yaml, SandError *error, const char *path, const char *format, ...) {
    char sentence[400];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    size_t line = 1;
    SandError ignored;
    walk_text(yaml, path, &line, &ignored);
    sand_fail(error, "%.200s:%zu: %.60s: %s", yaml->name, line, last_key(path), sentence);
    make_one_line(error);
    return false;
}

bool sand_yaml_range(const SandYaml *yaml, SandError *error, const char *parent, const char *key, const double *value,
                     double least, double most) {
    if (!value || (*value >= least && *value <= most)) return true;
    char path[160];
    snprintf(path, sizeof path, "%s%s%s", parent, *parent ? "." : "", key);
    return sand_yaml_wrong(yaml, error, path, "expected a number from %g to %g, got %g", least, most, *value);
}
