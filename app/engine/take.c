// SPDX-License-Identifier: MIT
// Takes as YAML: the schema, reading with checks that name file, line and key, writing, and the way from and to a run.
#define _XOPEN_SOURCE 700 // realpath
#include "app/engine/take.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/io/json.h"
#include "sim/core/hash.h"
#include "sim/scene/solver_file.h"
#include "sim/scene/yaml_schema.h"

static const double DEGREE = 3.14159265358979323846 / 180;
enum { MOST_ACTS = 10000000 };

// --- the acts of the file -----------------------------------------------------------------------------------

// Keys of an act in addition to `step` and `act`.
enum {
    POINT = 1,
    VELOCITY = 2,
    RADIUS = 4,
    BODY = 8,
    GRAVITY = 16,
    SOLVER = 32,
    BACKEND = 64,
    SPEEDS = 128,
    FORCE = 256,
    JOINT = 512,
    TARGET = 1024,
    BOUNDARY = 2048,
    RATE = 4096
};

typedef struct ActRow {
    ActKind kind;
    const char *name;
    unsigned keys; // exactly those that it must have
} ActRow;

static const ActRow act_rows[] = {
    {ACT_SOLVE, "solve", SOLVER},
    {ACT_BACKEND, "backend", BACKEND},
    {ACT_GRAVITY, "gravity", GRAVITY},
    {ACT_FLIP, "flip", 0},
    {ACT_GRAB, "grab", BODY | POINT},
    {ACT_DRAG, "drag", POINT},
    {ACT_RELEASE, "release", 0},
    {ACT_THROW, "throw", POINT | VELOCITY | RADIUS},
    {ACT_DRIVE, "drive", SPEEDS},
    {ACT_PUSH, "push", BODY | FORCE},
    {ACT_REMOVE, "remove", BODY},
    {ACT_MOTOR, "motor", JOINT | TARGET},
    {ACT_MOVE, "move", BOUNDARY | VELOCITY | RATE},
};
enum { ACT_ROWS = sizeof act_rows / sizeof *act_rows };

static const ActRow *find_row(ActKind kind) {
    for (int i = 0; i < ACT_ROWS; i++)
        if (act_rows[i].kind == kind) return &act_rows[i];
    return NULL;
}

// --- the schema ---------------------------------------------------------------------------------------------

typedef struct KnobDef {
    char *name;
    double value;
} KnobDef;

typedef struct ViewDef {
    double time;
    double eye[3], target[3];
    double *angle, *height;
} ViewDef;

typedef struct ActDef {
    uint64_t step;
    ActKind act;
    double *point, *velocity, *radius, *gravity, *speeds, *force, *target, *rate;
    char *joint, *boundary;
    uint32_t *body;
    Backend *backend;
    SandSolverDef *solver;
    char *friction;
} ActDef;

typedef struct TakeDef {
    char *scene;
    uint32_t *bodies;
    double *step;
    uint64_t *seed, *steps;
    SandStart *start;
    SandPrecision *precision;
    Backend *backend;
    double *gravity;
    SandSolverDef *solver;
    char *friction, *hash;
    KnobDef *knobs;
    ViewDef *camera;
    ActDef *acts;
    uint32_t knobs_count, camera_count, acts_count;
} TakeDef;

static const cyaml_schema_field_t knob_fields[] = {
    TEXT_NEEDED(KnobDef, name),
    REAL_NEEDED(KnobDef, value),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t knob_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, KnobDef, knob_fields)};

static const cyaml_schema_field_t view_fields[] = {
    REAL_NEEDED(ViewDef, time), NUMBERS_NEEDED(ViewDef, eye, 3), NUMBERS_NEEDED(ViewDef, target, 3),
    REAL(ViewDef, angle),       REAL(ViewDef, height),           CYAML_FIELD_END,
};
static const cyaml_strval_t backends[] = {{"cpu", BACKEND_CPU}, {"cuda", BACKEND_CUDA}};
static const cyaml_schema_value_t view_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, ViewDef, view_fields)};

static const cyaml_strval_t act_names[] = {
    {"solve", ACT_SOLVE},   {"backend", ACT_BACKEND}, {"gravity", ACT_GRAVITY}, {"flip", ACT_FLIP},   {"grab", ACT_GRAB},
    {"drag", ACT_DRAG},     {"release", ACT_RELEASE}, {"throw", ACT_THROW},     {"drive", ACT_DRIVE}, {"push", ACT_PUSH},
    {"remove", ACT_REMOVE}, {"motor", ACT_MOTOR},     {"move", ACT_MOVE},
};
static const cyaml_schema_field_t act_fields[] = {
    WHOLE_NEEDED(ActDef, step),
    CHOICE_NEEDED(ActDef, act, act_names),
    WHOLE(ActDef, body),
    CHOICE(ActDef, backend, backends),
    NUMBERS(ActDef, point, 3),
    NUMBERS(ActDef, velocity, 3),
    REAL(ActDef, radius),
    NUMBERS(ActDef, gravity, 3),
    NUMBERS(ActDef, speeds, 2),
    NUMBERS(ActDef, force, 3),
    TEXT(ActDef, joint),
    REAL(ActDef, target),
    TEXT(ActDef, boundary),
    REAL(ActDef, rate),
    TEXT(ActDef, friction),
    PART(ActDef, solver, sand_solver_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t act_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, ActDef, act_fields)};

static const cyaml_strval_t precisions[] = {{"float", SAND_FLOAT}, {"double", SAND_DOUBLE}};
static const cyaml_strval_t starts[] = {{"lattice", SAND_START_LATTICE}, {"settled", SAND_START_SETTLED}};
static const cyaml_schema_field_t take_fields[] = {
    CYAML_FIELD_STRING_PTR("scene", CYAML_FLAG_POINTER, TakeDef, scene, 1, TAKE_PATH - 1),
    WHOLE(TakeDef, bodies),
    REAL(TakeDef, step),
    WHOLE(TakeDef, seed),
    WHOLE(TakeDef, steps),
    CHOICE(TakeDef, start, starts),
    CHOICE(TakeDef, precision, precisions),
    CHOICE(TakeDef, backend, backends),
    NUMBERS(TakeDef, gravity, 3),
    PART(TakeDef, solver, sand_solver_fields),
    TEXT(TakeDef, friction),
    TEXT(TakeDef, hash),
    LIST(TakeDef, knobs, knob_value, SAND_MAX_KNOBS),
    LIST(TakeDef, camera, view_value, CAMERA_KEYS),
    LIST(TakeDef, acts, act_value, MOST_ACTS),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t take_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, TakeDef, take_fields)};

// --- reading ------------------------------------------------------------------------------------------------

static SandVec3 vector(const double *v) { return v ? v3_make(v[0], v[1], v[2]) : v3_make(0, 0, 0); }

static bool read_view(Take *take, const SandYaml *yaml, uint32_t index, SandError *error) {
    const TakeDef *def = yaml->def;
    const ViewDef *from = &def->camera[index];
    char place[32];
    snprintf(place, sizeof place, "camera[%u]", index);
    if (!sand_yaml_range(yaml, error, place, "time", &from->time, 0, 1e9) ||
        !sand_yaml_range(yaml, error, place, "angle", from->angle, 1, 150) ||
        !sand_yaml_range(yaml, error, place, "height", from->height, 1e-6, 1e9))
        return false;
    if (from->angle && from->height)
        return sand_yaml_wrong(yaml, error, place, "expected `angle` (with perspective) or `height` (without), got both");
    CameraKey key = {.time = from->time,
                     .view = {.eye = vector(from->eye),
                              .target = vector(from->target),
                              .orthographic = from->height != NULL,
                              .angle = (from->angle ? *from->angle : 28) * DEGREE,
                              .height = from->height ? *from->height : 1}};
    if (!(v3_length(v3_sub(key.view.eye, key.view.target)) > 0))
        return sand_yaml_wrong(yaml, error, place, "eye and target are the same point");
    if (index > 0 && from->time <= def->camera[index - 1].time)
        return sand_yaml_wrong(yaml, error, strcat(place, ".time"), "expected keys in the order of their times");
    return camera_path_add(&take->views, &key, error);
}

// Checks that the act has every key that it needs, and no other.
static bool check_keys(const SandYaml *yaml, const char *place, const ActDef *from, SandError *error) {
    const ActRow *row = find_row(from->act);
    const struct {
        const char *name;
        unsigned bit;
        bool given;
    } keys[] = {
        {"point", POINT, from->point},       {"velocity", VELOCITY, from->velocity}, {"radius", RADIUS, from->radius},
        {"body", BODY, from->body},          {"gravity", GRAVITY, from->gravity},    {"solver", SOLVER, from->solver},
        {"backend", BACKEND, from->backend}, {"speeds", SPEEDS, from->speeds},       {"force", FORCE, from->force},
        {"joint", JOINT, from->joint},       {"target", TARGET, from->target},       {"boundary", BOUNDARY, from->boundary},
        {"rate", RATE, from->rate}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char path[64];
        bool needed = row->keys & keys[i].bit;
        snprintf(path, sizeof path, "%s.%s", place, keys[i].name);
        if (needed && !keys[i].given) return sand_yaml_wrong(yaml, error, path, "missing; the act %s needs it", row->name);
        if (!needed && keys[i].given) return sand_yaml_wrong(yaml, error, path, "the act %s has no such key", row->name);
    }
    return true;
}

// What joints, boundaries and bodies are told.
static void read_told(const ActDef *from, Act *act) {
    const char *name = from->joint ? from->joint : from->boundary;
    if (name) snprintf(act->text, sizeof act->text, "%s", name);
    if (from->force) act->vector = vector(from->force);
    if (from->target) act->number = *from->target;
    if (from->boundary) act->vector = vector(from->velocity), act->number = *from->rate;
}

static bool read_act(Take *take, const SandYaml *yaml, uint32_t index, SandError *error) {
    const TakeDef *def = yaml->def;
    const ActDef *from = &def->acts[index];
    char place[32];
    snprintf(place, sizeof place, "acts[%u]", index);
    if (!check_keys(yaml, place, from, error)) return false;
    if (!sand_yaml_range(yaml, error, place, "radius", from->radius, 1e-6, 1e7)) return false;
    if (from->body && *from->body >= SAND_MAX_BODIES)
        return sand_yaml_wrong(yaml, error, strcat(place, ".body"), "there is no body %u", *from->body);
    if (index > 0 && from->step < def->acts[index - 1].step)
        return sand_yaml_wrong(yaml, error, strcat(place, ".step"), "expected acts in the order of their steps");
    for (int k = 0; from->speeds && k < 2; k++)
        if (!sand_yaml_range(yaml, error, place, "speeds", &from->speeds[k], -1e6, 1e6)) return false;
    Act act = {.kind = from->act,
               .vector = from->gravity ? vector(from->gravity) : vector(from->point),
               .direction = vector(from->velocity),
               .number = from->radius    ? *from->radius
                         : from->backend ? *from->backend
                                         : 0,
               .body = from->body ? (int)*from->body : 0};
    if (from->speeds) act.vector = v3_make(from->speeds[0], from->speeds[1], 0);
    read_told(from, &act);
    if (from->solver) {
        act.solve = sand_default_solve();
        if (!sand_solver_file_apply(yaml, place, from->solver, from->friction, &act.solve, error)) return false;
    } else if (from->friction) {
        return sand_yaml_wrong(yaml, error, place, "`friction` belongs to the act solve");
    }
    return acts_add(&take->acts, from->step, &act, error);
}

// A relative path is relative to the folder of the take.
static bool read_scene(Take *take, const SandYaml *yaml, SandError *error) {
    const TakeDef *def = yaml->def;
    const char *slash = strrchr(yaml->name, '/');
    bool relative = def->scene[0] != '/' && (strchr(def->scene, '/') || strstr(def->scene, ".yaml"));
    int folder = relative && slash ? (int)(slash - yaml->name) + 1 : 0;
    const char *here = relative && !slash ? "./" : "";
    if (take_is(def->scene)) return sand_yaml_wrong(yaml, error, "scene", "expected a scene, got a take");
    if (snprintf(take->scene, sizeof take->scene, "%.*s%s%s", folder, yaml->name, here, def->scene) >= TAKE_PATH)
        return sand_yaml_wrong(yaml, error, "scene", "the path is too long");
    return true;
}

static bool read_settings(Take *take, const SandYaml *yaml, SandError *error) {
    const TakeDef *def = yaml->def;
    if (!sand_yaml_range(yaml, error, "", "step", def->step, 1e-9, 10)) return false;
    if (def->bodies && (*def->bodies < 1 || *def->bodies > SAND_MAX_BODIES))
        return sand_yaml_wrong(yaml, error, "bodies", "expected 1 to %d, got %u", SAND_MAX_BODIES, *def->bodies);
    take->options = (SandSceneOptions){.bodies = def->bodies ? (int)*def->bodies : 0,
                                       .step = def->step ? *def->step : 0,
                                       // Takes of the time when every scene started on its lattice have no such key.
                                       .start = def->start ? *def->start : SAND_START_LATTICE,
                                       .has_seed = def->seed != NULL,
                                       .seed = def->seed ? *def->seed : 0};
    take->precision = def->precision ? *def->precision : SAND_FLOAT;
    take->backend = def->backend ? *def->backend : BACKEND_AUTO;
    take->has_solve = def->solver || def->friction;
    take->solve = sand_default_solve();
    if (!sand_solver_file_apply(yaml, "", def->solver, def->friction, &take->solve, error)) return false;
    take->has_gravity = def->gravity != NULL;
    take->gravity = vector(def->gravity);
    for (uint32_t i = 0; i < def->knobs_count; i++) {
        TakeKnob *knob = &take->knobs[take->knob_count++];
        snprintf(knob->name, sizeof knob->name, "%s", def->knobs[i].name);
        knob->value = def->knobs[i].value;
    }
    take->steps = def->steps ? *def->steps : 0;
    take->has_hash = def->hash != NULL;
    if (take->has_hash && (strlen(def->hash) != 16 || strspn(def->hash, "0123456789abcdef") != 16))
        return sand_yaml_wrong(yaml, error, "hash", "expected 16 digits of 0 to 9 and a to f, got '%s'", def->hash);
    if (take->has_hash && !take->steps) return sand_yaml_wrong(yaml, error, "hash", "a hash needs `steps`");
    if (take->has_hash) take->hash = strtoull(def->hash, NULL, 16);
    return true;
}

bool take_load(Take *take, const char *path, SandError *error) {
    char *text;
    size_t size;
    *take = (Take){0};
    if (!sand_yaml_text(path, "take", &text, &size, error)) return false;
    bool ok = sand_yaml_read(&take->file, "take", &take_value, text, size, path, error);
    take->text_hash = SAND_HASH_BEGIN;
    for (size_t i = 0; i < size; i++) take->text_hash = sand_hash(take->text_hash, (unsigned char)text[i]);
    free(text);
    if (!ok) return false;
    const SandYaml *yaml = &take->file;
    const TakeDef *def = yaml->def;
    ok = read_scene(take, yaml, error) && read_settings(take, yaml, error);
    for (uint32_t i = 0; ok && i < def->camera_count; i++) ok = read_view(take, yaml, i, error);
    for (uint32_t i = 0; ok && i < def->acts_count; i++) ok = read_act(take, yaml, i, error);
    if (!ok) take_free(take);
    return ok;
}

void take_free(Take *take) {
    acts_free(&take->acts);
    sand_yaml_free(&take->file);
    *take = (Take){0};
}

bool take_is(const char *name) {
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".take") == 0;
}

// --- writing ------------------------------------------------------------------------------------------------

// Writes text, quoted where YAML would read it back as something else.
static void put_text(FILE *file, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
    if (*text != '-' && text[strspn(text, plain)] == '\0') {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        fprintf(file, *c < 32 ? "\\x%02x" : *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    fputc('"', file);
}

static void put_number(FILE *file, double value) {
    char text[JSON_NUMBER];
    fputs(json_shortest(value, text), file);
}

static void put_vector(FILE *file, const char *key, SandVec3 v) {
    fprintf(file, "%s: [", key);
    put_number(file, v.x);
    fputs(", ", file);
    put_number(file, v.y);
    fputs(", ", file);
    put_number(file, v.z);
    fputc(']', file);
}

// The first two components.
static void put_pair(FILE *file, const char *key, SandVec3 v) {
    fprintf(file, "%s: [", key);
    put_number(file, v.x);
    fputs(", ", file);
    put_number(file, v.y);
    fputc(']', file);
}

static void put_solver(FILE *file, const char *between, const SandSolveDef *solve) {
    const SandSolver *solver = &sand_solver_table[solve->solver];
    fprintf(file, "friction: %s%ssolver: {name: %s, iterations: %d", sand_friction_table[solve->friction].name, between,
            solver->name, solve->iterations);
    if (solve->budget_ms > 0) {
        fputs(", budget_ms: ", file);
        put_number(file, solve->budget_ms);
    }
    fputs(", tolerance: ", file);
    put_number(file, solve->tolerance);
    if (solve->relative) fputs(", relative: true", file);
    if (solve->accuracy > 0) {
        fputs(", accuracy: ", file);
        put_number(file, solve->accuracy);
    }
    if (solve->islands > 0) fprintf(file, ", islands: %d", solve->islands);
    fprintf(file, ", bounds: %s, facets: %d", sand_bounds_table[solve->bounds].name, solve->facets);
    int count = sand_param_count(solver);
    for (int i = 0; i < count; i++) {
        const SandParam *param = &solver->params[i];
        fprintf(file, "%s{name: %s, value: ", i ? ", " : ", set: [", param->name);
        if (param->kind == SAND_PARAM_CHOICE)
            fputs(param->choices[(int)solve->params[i]], file);
        else
            put_number(file, solve->params[i]);
        fputc('}', file);
    }
    fputs(count ? "]}" : "}", file);
}

static void put_view(FILE *file, const CameraKey *key) {
    fputs("  - {time: ", file);
    put_number(file, key->time);
    put_vector(file, ", eye", key->view.eye);
    put_vector(file, ", target", key->view.target);
    fputs(key->view.orthographic ? ", height: " : ", angle: ", file);
    put_number(file, key->view.orthographic ? key->view.height : key->view.angle / DEGREE);
    fputs("}\n", file);
}

static void put_act(FILE *file, const LoggedAct *logged) {
    const Act *act = &logged->act;
    const ActRow *row = find_row(act->kind);
    fprintf(file, "  - {step: %" PRIu64 ", act: %s", logged->step, row->name);
    if (row->keys & BODY) fprintf(file, ", body: %d", act->body);
    if (row->keys & POINT) put_vector(file, ", point", act->vector);
    if (row->keys & VELOCITY) put_vector(file, ", velocity", row->keys & BOUNDARY ? act->vector : act->direction);
    if (row->keys & FORCE) put_vector(file, ", force", act->vector);
    if (row->keys & (JOINT | BOUNDARY)) {
        fputs(row->keys & JOINT ? ", joint: " : ", boundary: ", file);
        put_text(file, act->text);
    }
    if (row->keys & (TARGET | RATE)) {
        fputs(row->keys & TARGET ? ", target: " : ", rate: ", file);
        put_number(file, act->number);
    }
    if (row->keys & RADIUS) {
        fputs(", radius: ", file);
        put_number(file, act->number);
    }
    if (row->keys & GRAVITY) put_vector(file, ", gravity", act->vector);
    if (row->keys & SPEEDS) put_pair(file, ", speeds", act->vector);
    if (row->keys & BACKEND) fprintf(file, ", backend: %s", backend_names[(int)act->number]);
    if (row->keys & SOLVER) {
        fputs(", ", file);
        put_solver(file, ", ", &act->solve);
    }
    fputs("}\n", file);
}

static void put_take(FILE *file, const Take *take) {
    fputs("# A take of Sandglass: `sandglass FILE` plays it, `sandglass record FILE` films it, to the same bits.\nscene: ",
          file);
    put_text(file, take->scene);
    if (take->options.bodies) fprintf(file, "\nbodies: %d", take->options.bodies);
    if (take->options.step > 0) {
        fputs("\nstep: ", file);
        put_number(file, take->options.step);
    }
    if (take->options.start == SAND_START_SETTLED) fputs("\nstart: settled", file);
    if (take->options.has_seed) fprintf(file, "\nseed: %" PRIu64, take->options.seed);
    fprintf(file, "\nprecision: %s\n", precisions[take->precision].str);
    if (take->backend != BACKEND_AUTO) fprintf(file, "backend: %s\n", backend_names[take->backend]);
    if (take->has_gravity) {
        put_vector(file, "gravity", take->gravity);
        fputc('\n', file);
    }
    if (take->has_solve) {
        put_solver(file, "\n", &take->solve);
        fputc('\n', file);
    }
    if (take->steps) fprintf(file, "steps: %" PRIu64 "\n", take->steps);
    if (take->has_hash) fprintf(file, "hash: \"%016" PRIx64 "\"\n", take->hash);
    for (int i = 0; i < take->knob_count; i++) {
        fputs(i ? "  - {name: " : "knobs:\n  - {name: ", file);
        put_text(file, take->knobs[i].name);
        fputs(", value: ", file);
        put_number(file, take->knobs[i].value);
        fputs("}\n", file);
    }
    if (take->views.count) fputs("camera:\n", file);
    for (int i = 0; i < take->views.count; i++) put_view(file, &take->views.keys[i]);
    if (take->acts.count) fputs("acts:\n", file);
    for (int i = 0; i < take->acts.count; i++) put_act(file, &take->acts.items[i]);
}

void take_write_start(const Take *take, FILE *file) {
    Take start = *take;
    start.steps = 0;
    start.has_hash = false;
    start.views.count = start.acts.count = 0;
    put_take(file, &start);
}

bool take_save(const Take *take, const char *path, SandError *error) {
    char part[4200];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return sand_fail(error, "%.200s...: the path is too long", path);
    FILE *file = fopen(part, "w");
    if (!file) return sand_fail(error, "%.300s: %s", path, strerror(errno));
    put_take(file, take);
    bool written = !ferror(file) && fflush(file) == 0;
    int why = errno;
    if (fclose(file) != 0 && written) {
        written = false;
        why = errno;
    }
    if (written && rename(part, path) == 0) return true;
    if (written) why = errno;
    unlink(part);
    return sand_fail(error, "%.300s: %s", path, strerror(why ? why : EIO));
}

// --- from and to a run --------------------------------------------------------------------------------------

void take_begin(Take *take, const char *opened, const SandScene *scene, double step, SandPrecision precision,
                const SandSolveDef *solve, SandVec3 gravity) {
    // An absolute path stays valid wherever the take is moved to.
    bool is_path = strchr(opened, '/') || strstr(opened, ".yaml");
    char *whole = is_path ? realpath(opened, NULL) : NULL;
    *take = (Take){.options = {.bodies = scene->bodies,
                               .step = step,
                               .start = scene->settled ? SAND_START_SETTLED : SAND_START_LATTICE,
                               .has_seed = true,
                               .seed = scene->seed},
                   .precision = precision,
                   .has_solve = true,
                   .solve = *solve,
                   .has_gravity = true,
                   .gravity = gravity};
    snprintf(take->scene, sizeof take->scene, "%s", whole ? whole : opened);
    free(whole);
    for (int i = 0; i < scene->knob_count; i++) {
        if (!scene->knobs[i].changed) continue;
        TakeKnob *knob = &take->knobs[take->knob_count++];
        snprintf(knob->name, sizeof knob->name, "%s", scene->knobs[i].name);
        knob->value = scene->knobs[i].value;
    }
}

bool take_open_scene(const Take *take, SandScene *scene, SandError *error) {
    SandError reason;
    if (!sand_scene_open(scene, take->scene, &take->options, &reason))
        return sand_yaml_wrong(&take->file, error, "scene", "%s", reason.text);
    for (int i = 0; i < take->knob_count; i++) {
        const TakeKnob *from = &take->knobs[i];
        int knob = sand_scene_knob(scene, from->name);
        char place[32];
        snprintf(place, sizeof place, "knobs[%d]", i);
        if (knob < 0)
            sand_yaml_wrong(&take->file, error, place, "the scene %s has no knob '%s'", scene->name, from->name);
        else if (!sand_scene_set_knob(scene, knob, from->value, &reason))
            sand_yaml_wrong(&take->file, error, place, "%s", reason.text);
        else
            continue;
        sand_scene_free(scene);
        return false;
    }
    return true;
}

bool take_check(const Take *take, const SandWorld *world, SandError *error) {
    if (!take->has_hash || world->step_index != take->steps) return true;
    uint64_t hash = sand_world_hash(world);
    if (hash == take->hash) return true;
    return sand_fail(error,
                     "the take ended otherwise: its hash is %016" PRIx64 " and was %016" PRIx64
                     " when it was made; has the scene's file changed since?",
                     hash, take->hash);
}

bool take_depends_on_clock(const Take *take) {
    bool depends = take->has_solve && take->solve.budget_ms > 0;
    for (int i = 0; i < take->acts.count; i++)
        depends = depends || (take->acts.items[i].act.kind == ACT_SOLVE && take->acts.items[i].act.solve.budget_ms > 0);
    return depends;
}
