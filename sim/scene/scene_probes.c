// SPDX-License-Identifier: MIT
// Building probes: those of the file, and those that the options add as text.
#include "sim/core/suggestion.h"
#include "sim/scene/scene_builder.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 1000, MOST_YAML = 8 * MOST_TEXT }; // bytes of a probe as text, and as YAML

// --- what it measures at ----------------------------------------------------------------------------------------

// Returns the index of the name among those of `count` entries, `stride` bytes apart, or -1 with a message.
static int find_name(SandBuilder *b, const char *key, const char *name, const void *names, size_t stride, int count) {
    SandSuggestion known = sand_suggestion(name);
    for (int i = 0; i < count; i++) {
        const char *other = (const char *)names + stride * (size_t)i;
        if (!strcmp(other, name)) return i;
        sand_suggestion_add(&known, other);
    }
    sand_build_wrong(b, key, "there is no %s '%s'; %s", key, name, sand_suggestion_text(&known));
    return -1;
}

static bool probe_body(SandBuilder *b, const SandProbeFileDef *from, SandProbe *p) {
    if (from->body && from->index) return sand_build_wrong(b, "index", "a body has its name or its index; give one of them");
    if (from->body) return (p->body = sand_build_find_body(b, from->body, "body", "measure")) >= 0;
    p->body = from->index && *from->index < (uint32_t)b->world->body_count ? (int)*from->index : -1;
    return p->body >= 0 || sand_build_wrong(b, from->index ? "index" : "body",
                                            "expected a body: its name, or an index below %d", b->world->body_count);
}

static bool probe_force(SandBuilder *b, const SandProbeFileDef *from, SandProbe *p) {
    const SandWorld *w = b->world;
    if (from->about) {
        p->about = true;
        p->origin = sand_vector(from->about);
    }
    if (!from->boundary) return probe_body(b, from, p);
    if (from->body || from->index) return sand_build_wrong(b, "boundary", "a force is on a boundary or on a body; give one");
    p->boundary = find_name(b, "boundary", from->boundary, w->boundaries ? w->boundaries->name : NULL, sizeof *w->boundaries,
                            w->boundary_count);
    return p->boundary >= 0;
}

// Turns the axes of the plane so that the first is along this one, as far as it lies in the plane.
static bool turn_plane(SandBuilder *b, const double *axis, SandProbe *p) {
    SandVec3 wanted = sand_vector(axis), normal = p->axis[2];
    SandVec3 first = v3_madd(wanted, -v3_dot(wanted, normal), normal);
    if (!(v3_length(first) > 1e-9 * v3_length(wanted))) return sand_build_wrong(b, "axis", "it is along the normal");
    p->axis[0] = v3_unit_or(first, p->axis[0]);
    p->axis[1] = v3_cross(normal, p->axis[0]);
    return true;
}

static bool probe_flow(SandBuilder *b, const SandProbeFileDef *from, double scale, SandProbe *p) {
    const SandWorld *w = b->world;
    if (from->outlet) {
        p->outlet =
            find_name(b, "outlet", from->outlet, w->outlets ? w->outlets->name : NULL, sizeof *w->outlets, w->outlet_count);
        return p->outlet >= 0;
    }
    if (!from->point || !from->normal)
        return sand_build_wrong(b, from->point ? "normal" : "point", "missing: a flow has point and normal, or an outlet");
    *p = sand_probe_flow(v3_scale(scale, sand_vector(from->point)), sand_vector(from->normal));
    if (from->radius && from->size) return sand_build_wrong(b, "size", "a flow is through a disk or a rectangle; give one");
    if (from->radius) p->radius = scale * *from->radius;
    for (int a = 0; from->size && a < 2; a++) p->size[a] = scale * from->size[a];
    return !from->axis || turn_plane(b, from->axis, p);
}

static bool probe_line(SandBuilder *b, const SandProbeFileDef *from, double scale, SandProbe *p) {
    if (!from->from || !from->to || !from->width || !from->bins)
        return sand_build_wrong(b, "from", "a line has from, to, width and bins");
    if (*from->bins < 1 || *from->bins > SAND_MAX_PROBE_CELLS)
        return sand_build_wrong(b, "bins", "expected 1 to %d, got %u", SAND_MAX_PROBE_CELLS, *from->bins);
    sand_probe_line(p, v3_scale(scale, sand_vector(from->from)), v3_scale(scale, sand_vector(from->to)),
                    scale * *from->width, (int)*from->bins);
    return true;
}

// A box or a line; neither is the whole world, which some kinds allow.
static bool probe_region(SandBuilder *b, const SandProbeFileDef *from, double scale, SandProbe *p) {
    if (from->from || from->to) return probe_line(b, from, scale, p);
    if (!from->lower != !from->upper)
        return sand_build_wrong(b, from->lower ? "upper" : "lower", "missing: a box has lower and upper");
    if (from->lower) sand_probe_box(p, v3_scale(scale, sand_vector(from->lower)), v3_scale(scale, sand_vector(from->upper)));
    for (int a = 0; from->cells && a < 3; a++) {
        if (from->cells[a] < 1 || from->cells[a] > SAND_MAX_PROBE_CELLS)
            return sand_build_wrong(b, "cells", "expected 1 to %d, got %u", SAND_MAX_PROBE_CELLS, from->cells[a]);
        p->cells[a] = (int)from->cells[a];
    }
    return true;
}

// --- which keys a kind has --------------------------------------------------------------------------------------

// A key that is given, and whether the kind has it.
typedef struct KeyCheck {
    const char *key;
    bool given, allowed;
} KeyCheck;

static bool check_keys(SandBuilder *b, const SandProbeFileDef *f) {
    bool flow = f->kind == SAND_PROBE_FLOW, plane = flow && !f->outlet, force = f->kind == SAND_PROBE_FORCE;
    bool body = force || f->kind == SAND_PROBE_PATH, region = !flow && !body, line = region && f->kind != SAND_PROBE_SURFACE;
    const KeyCheck keys[] = {
        {"point", f->point, plane},
        {"normal", f->normal, plane},
        {"axis", f->axis, plane},
        {"size", f->size, plane},
        {"radius", f->radius, plane},
        {"outlet", f->outlet, flow},
        {"boundary", f->boundary, force},
        {"about", f->about, force},
        {"body", f->body, body},
        {"index", f->index, body},
        {"lower", f->lower, region},
        {"upper", f->upper, region},
        {"cells", f->cells, region},
        {"from", f->from, line},
        {"to", f->to, line},
        {"width", f->width, line},
        {"bins", f->bins, line},
        {"least_force", f->least_force, f->kind == SAND_PROBE_COORDINATION},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].given && !keys[i].allowed)
            return sand_build_wrong(b, keys[i].key, "a probe of kind %s has no such key%s", sand_probe_kind_name(f->kind),
                                    flow && f->outlet ? " when it is at an outlet" : "");
    return true;
}

static bool check_ranges(SandBuilder *b, const SandProbeFileDef *f) {
    return sand_build_range(b, "rate", f->rate, 1e-6, 1e9) && sand_build_range3(b, "point", f->point, SAND_FAR) &&
           sand_build_range3(b, "normal", f->normal, SAND_FAR) && sand_build_range3(b, "axis", f->axis, SAND_FAR) &&
           sand_build_range(b, "size", f->size, SAND_TINY, SAND_FAR) &&
           sand_build_range(b, "size", f->size ? f->size + 1 : NULL, SAND_TINY, SAND_FAR) &&
           sand_build_range(b, "radius", f->radius, SAND_TINY, SAND_FAR) &&
           sand_build_range3(b, "about", f->about, SAND_FAR) && sand_build_range3(b, "lower", f->lower, SAND_FAR) &&
           sand_build_range3(b, "upper", f->upper, SAND_FAR) && sand_build_range3(b, "from", f->from, SAND_FAR) &&
           sand_build_range3(b, "to", f->to, SAND_FAR) && sand_build_range(b, "width", f->width, SAND_TINY, SAND_FAR) &&
           sand_build_range(b, "least_force", f->least_force, 0, 1e15);
}

static bool build_probe(SandBuilder *b, const SandProbeFileDef *from) {
    double scale = from->scales && *from->scales ? b->scene->scale : 1;
    SandProbe p = sand_probe_of(from->kind);
    SandError reason;
    if (!check_keys(b, from) || !check_ranges(b, from)) return false;
    bool placed = from->kind == SAND_PROBE_FLOW    ? probe_flow(b, from, scale, &p)
                  : from->kind == SAND_PROBE_FORCE ? probe_force(b, from, &p)
                  : from->kind == SAND_PROBE_PATH  ? probe_body(b, from, &p)
                                                   : probe_region(b, from, scale, &p);
    if (!placed) return false;
    snprintf(p.name, sizeof p.name, "%s", from->name);
    p.rate = sand_number(from->rate, 0);
    p.least_force = sand_number(from->least_force, 0);
    if (sand_world_add_probe(b->world, &p, &reason) < 0) return sand_build_wrong(b, "name", "%s", reason.text);
    return true;
}

// --- probes as text ---------------------------------------------------------------------------------------------

// Appends one word of a probe's text as a key of YAML: the first two are name and kind, the others are KEY=VALUE, where a
// value with commas is a list. Returns the bytes written, 0: it is no such word.
static size_t put_word(char *yaml, size_t size, int word, const char *text, int length) {
    const char *equals = memchr(text, '=', (size_t)length), *key = word ? "kind" : "name", *value = text;
    int key_length = 4, value_length = length;
    if (equals) {
        key = text;
        key_length = (int)(equals - text);
        value = equals + 1;
        value_length = length - key_length - 1;
    }
    if ((word >= 2) != (equals != NULL)) return 0;
    bool list = memchr(value, ',', (size_t)value_length) != NULL;
    return (size_t)snprintf(yaml, size, "%s%.*s: %s%.*s%s", word ? ", " : "{", key_length, key, list ? "[" : "",
                            value_length, value, list ? "]" : "");
}

// Rewrites "NAME KIND KEY=VALUE ..." as YAML: {name: NAME, kind: KIND, KEY: VALUE, ...}. A word grows by at most 8 bytes.
static bool to_yaml(const char *text, char yaml[MOST_YAML]) {
    static const char *const spaces = " \t\n";
    size_t used = 0, added = 1;
    int word = 0;
    for (text += strspn(text, spaces); *text && added; text += strspn(text, spaces)) {
        size_t length = strcspn(text, spaces);
        used += added = put_word(yaml + used, MOST_YAML - used, word++, text, (int)length);
        text += length;
    }
    if (word < 2 || !added) return false;
    snprintf(yaml + used, MOST_YAML - used, "}");
    return true;
}

// Builds a probe of the options; messages name it in place of a file.
static bool build_text(SandBuilder *b, const char *text) {
    char yaml[MOST_YAML], name[SAND_NAME + 16];
    SandSceneFile file = {0};
    const SandSceneFile *scene = b->file;
    if (strlen(text) > MOST_TEXT || !to_yaml(text, yaml))
        return sand_fail(b->error, "probe '%.200s': expected NAME KIND KEY=VALUE ...", text);
    snprintf(name, sizeof name, "probe %.*s", (int)strcspn(text, " \t\n"), text);
    if (!sand_probe_file_read(&file.yaml, yaml, strlen(yaml), name, b->error)) return false;
    b->file = &file;
    b->path[0] = 0;
    bool built = build_probe(b, file.yaml.def);
    b->file = scene;
    sand_yaml_free(&file.yaml);
    return built;
}

bool sand_scene_add_probe(SandScene *scene, SandWorld *world, const char *text, SandError *error) {
    SandBuilder b = {.scene = scene, .file = scene->file, .def = scene->file->def, .world = world, .error = error};
    return build_text(&b, text);
}

bool sand_build_probes(SandBuilder *b) {
    const SandSceneOptions *options = &b->scene->options;
    for (uint32_t i = 0; i < b->def->probes_count; i++) {
        snprintf(b->path, sizeof b->path, "probes[%u]", i);
        if (!build_probe(b, &b->def->probes[i])) return false;
    }
    for (int i = 0; i < options->probe_count; i++)
        if (!build_text(b, options->probes[i])) return false;
    return true;
}
