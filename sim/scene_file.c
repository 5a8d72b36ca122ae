// Reading a scene file: the schema that maps YAML onto the structs of scene_file.h, and the check that turns whatever
// is wrong into one line.
//
// cyaml alone is not strict enough for us: it takes `3x` for 3, -1 for an unsigned number, any word for true, and
// tells the line of the event before the fault. So the text is first walked along the same schema with libyaml's
// events, and cyaml only sees files that passed. The same walk later finds the line of a key by its path.
#include "scene_file.h"
#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

// ---- the schema ----

#define OPTIONAL_PTR (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define REAL(type, key) CYAML_FIELD_FLOAT_PTR(#key, OPTIONAL_PTR, type, key)
#define REAL_NEEDED(type, key) CYAML_FIELD_FLOAT(#key, CYAML_FLAG_DEFAULT, type, key)
#define NUMBERS(type, key, n) CYAML_FIELD_SEQUENCE_FIXED(#key, OPTIONAL_PTR, type, key, &real_value, n)
#define NUMBERS_NEEDED(type, key, n) CYAML_FIELD_SEQUENCE_FIXED(#key, CYAML_FLAG_DEFAULT, type, key, &real_value, n)
#define WHOLE(type, key) CYAML_FIELD_UINT_PTR(#key, OPTIONAL_PTR, type, key)
#define WHOLE_NEEDED(type, key) CYAML_FIELD_UINT(#key, CYAML_FLAG_DEFAULT, type, key)
#define FLAG(type, key) CYAML_FIELD_BOOL_PTR(#key, OPTIONAL_PTR, type, key)
#define TEXT(type, key) CYAML_FIELD_STRING_PTR(#key, OPTIONAL_PTR, type, key, 1, SAND_NAME - 1)
#define TEXT_NEEDED(type, key) CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER, type, key, 1, SAND_NAME - 1)
#define LONG_TEXT(type, key, most) CYAML_FIELD_STRING_PTR(#key, OPTIONAL_PTR, type, key, 1, most)
#define CHOICE(type, key, names) CYAML_FIELD_ENUM_PTR(#key, OPTIONAL_PTR, type, key, names, CYAML_ARRAY_LEN(names))
#define CHOICE_NEEDED(type, key, names) CYAML_FIELD_ENUM(#key, CYAML_FLAG_STRICT, type, key, names, CYAML_ARRAY_LEN(names))
#define PART(type, key, fields) CYAML_FIELD_MAPPING_PTR(#key, OPTIONAL_PTR, type, key, fields)
#define LIST(type, key, entry, most) CYAML_FIELD_SEQUENCE(#key, OPTIONAL_PTR, type, key, &entry, 0, most)

enum { MOST_PATH = 1023, MOST_WALLS = 4096, MOST_SINGLE = 100000, MOST_CORNERS = 4096, MOST_DEPTH = 16 };

static const cyaml_schema_value_t real_value = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};
static const cyaml_schema_value_t name_value = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, SAND_NAME - 1)};

static const cyaml_schema_field_t ball_fields[] = {
    NUMBERS_NEEDED(SandBallDef, center, 3),
    REAL_NEEDED(SandBallDef, radius),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t ball_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandBallDef, ball_fields)};

static const cyaml_schema_field_t clump_fields[] = {
    TEXT_NEEDED(SandClumpDef, name),
    CYAML_FIELD_SEQUENCE("spheres", CYAML_FLAG_POINTER, SandClumpDef, spheres, &ball_value, 1, SAND_MAX_BALLS),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t clump_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandClumpDef, clump_fields)};

static const cyaml_schema_field_t material_fields[] = {
    TEXT_NEEDED(SandMaterialDef, name),
    REAL(SandMaterialDef, density),
    REAL(SandMaterialDef, mu),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t material_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandMaterialDef, material_fields)};

static const cyaml_schema_field_t pair_fields[] = {
    TEXT_NEEDED(SandPairDef, a),
    TEXT_NEEDED(SandPairDef, b),
    REAL_NEEDED(SandPairDef, mu),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t pair_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandPairDef, pair_fields)};

static const cyaml_schema_field_t turn_fields[] = {
    NUMBERS_NEEDED(SandTurnDef, axis, 3),
    REAL_NEEDED(SandTurnDef, angle),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t motion_fields[] = {
    NUMBERS(SandMotionDef, velocity, 3),
    NUMBERS(SandMotionDef, axis, 3),
    NUMBERS(SandMotionDef, center, 3),
    REAL(SandMotionDef, rate),
    REAL(SandMotionDef, start),
    REAL(SandMotionDef, stop),
    CYAML_FIELD_END,
};

static const cyaml_strval_t wall_shapes[] = {
    {"plane", SAND_WALL_PLANE},     {"box", SAND_WALL_BOX},         {"cylinder", SAND_WALL_CYLINDER},
    {"frustum", SAND_WALL_FRUSTUM}, {"sphere", SAND_WALL_SPHERE},   {"revolution", SAND_WALL_REVOLUTION},
    {"mesh", SAND_WALL_MESH},       {"terrain", SAND_WALL_TERRAIN},
};
static const cyaml_strval_t sides[] = {{"inside", SAND_INSIDE}, {"outside", SAND_OUTSIDE}};
static const cyaml_strval_t caps[] = {
    {"both", SAND_CAPS_BOTH}, {"bottom", SAND_CAPS_BOTTOM}, {"top", SAND_CAPS_TOP}, {"none", SAND_CAPS_NONE}};
static const cyaml_schema_value_t corner_value = {CYAML_VALUE_SEQUENCE_FIXED(CYAML_FLAG_DEFAULT, double, &real_value, 2)};

static const cyaml_schema_field_t wall_fields[] = {
    TEXT(SandWallDef, name),
    TEXT(SandWallDef, material),
    CHOICE_NEEDED(SandWallDef, shape, wall_shapes),
    CHOICE(SandWallDef, side, sides),
    NUMBERS(SandWallDef, position, 3),
    NUMBERS(SandWallDef, normal, 3),
    NUMBERS(SandWallDef, size, 3),
    PART(SandWallDef, rotation, turn_fields),
    PART(SandWallDef, motion, motion_fields),
    REAL(SandWallDef, radius),
    REAL(SandWallDef, height),
    NUMBERS(SandWallDef, radii, 2),
    CHOICE(SandWallDef, caps, caps),
    LIST(SandWallDef, profile, corner_value, MOST_CORNERS),
    LONG_TEXT(SandWallDef, file, MOST_PATH),
    REAL(SandWallDef, width),
    REAL(SandWallDef, length),
    REAL(SandWallDef, amplitude),
    REAL(SandWallDef, wavelength),
    WHOLE(SandWallDef, cells),
    WHOLE(SandWallDef, seed),
    FLAG(SandWallDef, scales),
    REAL(SandWallDef, narrowest),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t wall_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandWallDef, wall_fields)};

static const cyaml_schema_field_t body_fields[] = {
    TEXT(SandBodyFileDef, name),           TEXT(SandBodyFileDef, material),   TEXT_NEEDED(SandBodyFileDef, shape),
    REAL(SandBodyFileDef, radius),         NUMBERS(SandBodyFileDef, size, 3), REAL(SandBodyFileDef, height),
    REAL(SandBodyFileDef, scale),          REAL(SandBodyFileDef, mass),       NUMBERS(SandBodyFileDef, position, 3),
    NUMBERS(SandBodyFileDef, velocity, 3), NUMBERS(SandBodyFileDef, spin, 3), PART(SandBodyFileDef, rotation, turn_fields),
    REAL(SandBodyFileDef, enter),          FLAG(SandBodyFileDef, scales),     CYAML_FIELD_END,
};
static const cyaml_schema_value_t body_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandBodyFileDef, body_fields)};

static const cyaml_schema_field_t lattice_fields[] = {
    REAL_NEEDED(SandLatticeDef, spacing),
    REAL(SandLatticeDef, jitter),
    REAL(SandLatticeDef, from),
    REAL(SandLatticeDef, to),
    NUMBERS(SandLatticeDef, center, 2),
    WHOLE(SandLatticeDef, columns),
    REAL(SandLatticeDef, pour),
    FLAG(SandLatticeDef, dense),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t region_fields[] = {
    REAL(SandRegionDef, cylinder),
    NUMBERS(SandRegionDef, box, 2),
    REAL(SandRegionDef, clearance),
    FLAG(SandRegionDef, inside),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t fill_fields[] = {
    TEXT(SandFillDef, name),
    TEXT(SandFillDef, material),
    TEXT(SandFillDef, shape),
    LIST(SandFillDef, shapes, name_value, 255),
    REAL(SandFillDef, radius),
    NUMBERS(SandFillDef, radii, 2),
    NUMBERS(SandFillDef, sizes, 2),
    REAL(SandFillDef, mass),
    WHOLE(SandFillDef, count),
    CYAML_FIELD_MAPPING("lattice", CYAML_FLAG_DEFAULT, SandFillDef, lattice, lattice_fields),
    PART(SandFillDef, region, region_fields),
    NUMBERS(SandFillDef, velocity, 3),
    FLAG(SandFillDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t fill_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandFillDef, fill_fields)};

static const cyaml_strval_t knob_kinds[] = {{"mass", SAND_KNOB_MASS},
                                            {"narrowest", SAND_KNOB_NARROWEST},
                                            {"rate", SAND_KNOB_RATE},
                                            {"mu", SAND_KNOB_MU},
                                            {"tilt", SAND_KNOB_TILT}};
static const cyaml_schema_field_t knob_fields[] = {
    TEXT_NEEDED(SandKnobDef, name),
    LONG_TEXT(SandKnobDef, about, SAND_SENTENCE - 1),
    LONG_TEXT(SandKnobDef, unit, SAND_UNIT - 1),
    TEXT(SandKnobDef, of),
    CHOICE_NEEDED(SandKnobDef, kind, knob_kinds),
    REAL_NEEDED(SandKnobDef, least),
    REAL_NEEDED(SandKnobDef, most),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t knob_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandKnobDef, knob_fields)};

static const cyaml_schema_field_t setting_fields[] = {
    TEXT_NEEDED(SandSettingDef, name),
    TEXT_NEEDED(SandSettingDef, value),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t setting_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandSettingDef, setting_fields)};

static const cyaml_schema_field_t solver_fields[] = {
    TEXT(SandSolverDef, name),
    WHOLE(SandSolverDef, iterations),
    REAL(SandSolverDef, budget_ms),
    REAL(SandSolverDef, tolerance),
    LIST(SandSolverDef, set, setting_value, SAND_MAX_PARAMS),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t bounds_fields[] = {
    NUMBERS_NEEDED(SandBoundsDef, lower, 3),
    NUMBERS_NEEDED(SandBoundsDef, upper, 3),
    FLAG(SandBoundsDef, scales),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t size_fields[] = {WHOLE_NEEDED(SandSizeDef, bodies), CYAML_FIELD_END};

static const cyaml_schema_field_t scene_fields[] = {
    TEXT_NEEDED(SandSceneDef, name),
    LONG_TEXT(SandSceneDef, about, SAND_SENTENCE - 1),
    REAL(SandSceneDef, step),
    REAL(SandSceneDef, seconds),
    WHOLE(SandSceneDef, seed),
    NUMBERS(SandSceneDef, gravity, 3),
    REAL(SandSceneDef, recovery),
    REAL(SandSceneDef, envelope),
    PART(SandSceneDef, world, bounds_fields),
    PART(SandSceneDef, view, bounds_fields),
    PART(SandSceneDef, size, size_fields),
    PART(SandSceneDef, solver, solver_fields),
    TEXT(SandSceneDef, friction),
    LIST(SandSceneDef, materials, material_value, 256),
    LIST(SandSceneDef, pairs, pair_value, 65536),
    LIST(SandSceneDef, shapes, clump_value, 256),
    LIST(SandSceneDef, boundaries, wall_value, MOST_WALLS),
    LIST(SandSceneDef, bodies, body_value, MOST_SINGLE),
    LIST(SandSceneDef, fills, fill_value, 256),
    LIST(SandSceneDef, knobs, knob_value, SAND_MAX_KNOBS),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t scene_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, SandSceneDef, scene_fields)};

// ---- the walk ----

typedef struct Walk {
    yaml_parser_t parser;
    const char *file;
    SandError *error;
    const char *target; // path whose line is wanted, or NULL
    size_t best;        // bytes of the target matched so far
    size_t line;        // line of that match
    char path[256];     // of the value at hand, "fills[0].radius"
} Walk;

// A message is one line whatever the file contains.
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
    sand_fail(w->error, "%.200s:%zu: %.40s%s%s", w->file, line, key, *key ? ": " : "", sentence);
    make_one_line(w->error);
    return false;
}

static bool walk_next(Walk *w, yaml_event_t *event) {
    if (yaml_parser_parse(&w->parser, event)) return true;
    const char *problem = w->parser.problem ? w->parser.problem : "not readable";
    return walk_fail(w, w->parser.problem_mark.line + 1, "", "not YAML: %s", problem);
}

// The last key of a path, without the number of a list's entry: the line tells which one.
static const char *last_key(const char *path) {
    static _Thread_local char key[SAND_NAME];
    const char *dot = strrchr(path, '.');
    snprintf(key, sizeof key, "%.63s", dot ? dot + 1 : path);
    key[strcspn(key, "[")] = 0;
    return key;
}

// Remembers the line when the path at hand leads to the target, or to something around it.
static void walk_note(Walk *w, size_t line) {
    size_t length = strlen(w->path);
    if (!w->target || length <= w->best || strncmp(w->target, w->path, length) != 0) return;
    char next = w->target[length];
    if (next && next != '.' && next != '[') return;
    w->best = length;
    w->line = line;
}

// What a value should look like, in words.
static void describe(const cyaml_schema_value_t *schema, char *text, size_t room) {
    switch (schema->type) {
    case CYAML_FLOAT: snprintf(text, room, "a number"); return;
    case CYAML_UINT: snprintf(text, room, "a whole number"); return;
    case CYAML_BOOL: snprintf(text, room, "true or false"); return;
    case CYAML_STRING: snprintf(text, room, "text of 1 to %u bytes", schema->string.max); return;
    case CYAML_MAPPING: snprintf(text, room, "keys with values"); return;
    case CYAML_SEQUENCE:
        snprintf(text, room, "a list of at least %u and at most %u", schema->sequence.min, schema->sequence.max);
        return;
    case CYAML_SEQUENCE_FIXED: snprintf(text, room, "a list of %u numbers", schema->sequence.max); return;
    case CYAML_ENUM: {
        size_t used = (size_t)snprintf(text, room, "one of");
        for (uint32_t i = 0; i < schema->enumeration.count && used < room; i++)
            used += (size_t)snprintf(text + used, room - used, "%s %s", i ? "," : "", schema->enumeration.strings[i].str);
        return;
    }
    default: snprintf(text, room, "something else"); return;
    }
}

static bool is_real(const char *text, size_t length) {
    char *end;
    if (length == 0 || strspn(text, "0123456789+-.eE") != length) return false;
    double x = strtod(text, &end);
    return end == text + length && x >= -1e15 && x <= 1e15;
}

// No leading zeros: cyaml would read them as octal.
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
    char known[300];
    size_t used = 0;
    for (int i = 0; fields[i].key && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", fields[i].key);
    return walk_fail(w, line, key, "unknown key; expected one of %s", known);
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
        return walk_fail(w, line, key, "expected %s, got %s%.40s%s", want, length ? "'" : "nothing", text,
                         length > 40 ? "...'"
                         : length    ? "'"
                                     : "");
    }
    case YAML_SEQUENCE_START_EVENT:
        if (schema->type == CYAML_SEQUENCE || schema->type == CYAML_SEQUENCE_FIXED)
            return walk_sequence(w, schema, line, depth);
        return walk_fail(w, line, key, "expected %s, got a list", want);
    case YAML_MAPPING_START_EVENT:
        if (schema->type == CYAML_MAPPING) return walk_mapping(w, schema, line, depth);
        return walk_fail(w, line, key, "expected %s, got keys with values", want);
    case YAML_ALIAS_EVENT: return walk_fail(w, line, key, "expected %s, got an alias, which scenes do not have", want);
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
            ok = walk_fail(w, line, "", "expected a scene, got an empty file");
        else if (state == 2)
            ok = walk_value(w, &scene_value, &event, 0);
        else if (state == 4 && event.type != YAML_STREAM_END_EVENT)
            ok = walk_fail(w, line, "", "expected one document, got another");
        yaml_event_delete(&event);
        if (!ok) return false;
    }
    return true;
}

static bool walk_text(const char *text, size_t size, const char *file, const char *target, size_t *line, SandError *error) {
    Walk w = {.file = file, .error = error, .target = target, .line = 1};
    if (!yaml_parser_initialize(&w.parser)) return sand_fail(error, "%.200s: out of memory", file);
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, size);
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

bool sand_scene_file_read(SandSceneFile **out, const char *text, size_t size, const char *name, SandError *error) {
    *out = NULL;
    if (size > SAND_MAX_SCENE_BYTES)
        return sand_fail(error, "%.200s: %zu MB is too long for a scene, at most 64", name, size >> 20);
    if (!walk_text(text, size, name, NULL, NULL, error)) return false;
    SandSceneFile *file = calloc(1, sizeof *file);
    if (!file || !(file->name = strdup(name)) || !(file->text = malloc(size + 1))) {
        sand_scene_file_free(file);
        return sand_fail(error, "%.200s: out of memory", name);
    }
    memcpy(file->text, text, size);
    file->text[size] = 0;
    file->size = size;
    char log[200] = "";
    cyaml_config_t config = make_config(log);
    cyaml_err_t status =
        cyaml_load_data((const uint8_t *)text, size, &config, &scene_value, (cyaml_data_t **)&file->def, NULL);
    if (status != CYAML_OK || !file->def) {
        sand_fail(error, "%.200s:1: not a scene: %s %s", name, cyaml_strerror(status), log);
        make_one_line(error);
        sand_scene_file_free(file);
        return false;
    }
    *out = file;
    return true;
}

void sand_scene_file_free(SandSceneFile *file) {
    if (!file) return;
    char log[200] = "";
    cyaml_config_t config = make_config(log);
    cyaml_free(&config, &scene_value, file->def, 0);
    free(file->text);
    free(file->name);
    free(file);
}

bool sand_scene_wrong(const SandSceneFile *file, SandError *error, const char *path, const char *format, ...) {
    char sentence[400];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    size_t line = 1;
    SandError ignored;
    walk_text(file->text, file->size, file->name, path, &line, &ignored);
    sand_fail(error, "%.200s:%zu: %.60s: %s", file->name, line, last_key(path), sentence);
    make_one_line(error);
    return false;
}
