// SPDX-License-Identifier: MIT
// Reading playlists, and the clock of a show.
#include "app/engine/playlist.h"

#include "sim/core/array.h"
#include "sim/scene/yaml_schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FADE = 0.8; // s

// --- the file -----------------------------------------------------------------------------------------------

typedef struct ActDef {
    double at;
    PlaylistActKind act;
    char *solver, *solvers, *text;
    uint32_t *iterations;
    double *accuracy;
    double *gravity; // 3
    double *speeds;  // 2
    RenderColor *color;
} ActDef;

typedef struct EntryDef {
    char *scene, *title, *text, *invite, *camera;
    uint32_t *bodies;
    double *seconds, *orbit, *speed;
    RenderColor *color;
    bool *chains;
    ActDef *acts;
    uint32_t acts_count;
} EntryDef;

typedef struct PlaylistDef {
    double *seconds, *orbit;
    EntryDef *scenes;
    uint32_t scenes_count;
} PlaylistDef;

static const cyaml_strval_t colors[] = {{"body", COLOR_BY_BODY},
                                        {"speed", COLOR_BY_SPEED},
                                        {"contacts", COLOR_BY_CONTACTS},
                                        {"force", COLOR_BY_FORCE},
                                        {"residual", COLOR_BY_RESIDUAL}};
static const cyaml_strval_t kinds[] = {{"flip", PLAYLIST_FLIP},       {"throw", PLAYLIST_THROW},   {"solve", PLAYLIST_SOLVE},
                                       {"gravity", PLAYLIST_GRAVITY}, {"drive", PLAYLIST_DRIVE},   {"color", PLAYLIST_COLOR},
                                       {"caption", PLAYLIST_CAPTION}, {"beside", PLAYLIST_BESIDE}, {"race", PLAYLIST_RACE},
                                       {"alone", PLAYLIST_ALONE}};
static const cyaml_schema_field_t act_fields[] = {
    REAL_NEEDED(ActDef, at),
    CHOICE_NEEDED(ActDef, act, kinds),
    TEXT(ActDef, solver),
    LONG_TEXT(ActDef, solvers, SAND_SENTENCE - 1),
    WHOLE(ActDef, iterations),
    REAL(ActDef, accuracy),
    NUMBERS(ActDef, gravity, 3),
    NUMBERS(ActDef, speeds, 2),
    CHOICE(ActDef, color, colors),
    LONG_TEXT(ActDef, text, SAND_SENTENCE - 1),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t act_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, ActDef, act_fields)};
static const cyaml_schema_field_t entry_fields[] = {
    CYAML_FIELD_STRING_PTR("scene", CYAML_FLAG_POINTER, EntryDef, scene, 1, 1023),
    WHOLE(EntryDef, bodies),
    LONG_TEXT(EntryDef, title, SAND_SENTENCE - 1),
    LONG_TEXT(EntryDef, text, SAND_SENTENCE - 1),
    LONG_TEXT(EntryDef, invite, SAND_SENTENCE - 1),
    LONG_TEXT(EntryDef, camera, SAND_SENTENCE - 1),
    REAL(EntryDef, seconds),
    REAL(EntryDef, orbit),
    REAL(EntryDef, speed),
    CHOICE(EntryDef, color, colors),
    FLAG(EntryDef, chains),
    LIST(EntryDef, acts, act_value, PLAYLIST_ACTS),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t entry_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, EntryDef, entry_fields)};
static const cyaml_schema_field_t playlist_fields[] = {
    REAL(PlaylistDef, seconds),
    REAL(PlaylistDef, orbit),
    CYAML_FIELD_SEQUENCE("scenes", CYAML_FLAG_POINTER, PlaylistDef, scenes, &entry_value, 1, PLAYLIST_MOST),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t playlist_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, PlaylistDef, playlist_fields)};

static double number(const double *value, double otherwise) { return value ? *value : otherwise; }

// Solver and budget, which belong to the acts solve and beside alone.
static bool read_solve(const SandYaml *yaml, const char *path, const ActDef *from, PlaylistAct *act, SandError *error) {
    bool is_solve = from->act == PLAYLIST_SOLVE || from->act == PLAYLIST_BESIDE;
    if (from->iterations && (!is_solve || *from->iterations < 1 || *from->iterations > 1000000))
        return sand_yaml_wrong(yaml, error, path, "iterations: 1 to 1000000, of the acts solve and beside");
    if (from->accuracy && !is_solve) return sand_yaml_wrong(yaml, error, path, "accuracy: of the acts solve and beside");
    if (!sand_yaml_range(yaml, error, path, "accuracy", from->accuracy, 0, SAND_MOST_ACCURACY)) return false;
    act->iterations = from->iterations ? (int)*from->iterations : 0;
    act->accuracy = number(from->accuracy, -1);
    if (!from->solver || (act->solver = sand_solver_find(from->solver)) >= 0) return true;
    SandError why;
    sand_solver_refuse("", from->solver, &why);
    return sand_yaml_wrong(yaml, error, path, "%.200s", why.text);
}

// The racers of an act race, each of which must be a solver.
static bool check_racers(const SandYaml *yaml, const char *path, const char *solvers, SandError *error) {
    for (const char *at = solvers; *at; at += strspn(at, ",")) {
        char name[SAND_NAME];
        SandError why;
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        if (sand_solver_find(name) >= 0) continue;
        sand_solver_refuse("", name, &why);
        return sand_yaml_wrong(yaml, error, path, "%.200s", why.text);
    }
    return true;
}

// Every act has the key that it needs and no other.
static bool read_act(const SandYaml *yaml, const char *path, const ActDef *from, PlaylistAct *act, SandError *error) {
    static const char *const needs[] = {
        [PLAYLIST_SOLVE] = "solver", [PLAYLIST_GRAVITY] = "gravity", [PLAYLIST_DRIVE] = "speeds", [PLAYLIST_COLOR] = "color",
        [PLAYLIST_CAPTION] = "text", [PLAYLIST_BESIDE] = "solver",   [PLAYLIST_RACE] = "solvers", [PLAYLIST_ALONE] = NULL};
    const char *given[] = {from->solver ? "solver" : NULL, from->gravity ? "gravity" : NULL,
                           from->color ? "color" : NULL,   from->text ? "text" : NULL,
                           from->speeds ? "speeds" : NULL, from->solvers ? "solvers" : NULL};
    const char *needed = needs[from->act];
    bool has = !needed;
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        if (given[k] && (!needed || strcmp(given[k], needed) != 0))
            return sand_yaml_wrong(yaml, error, path, "the act %s takes no `%s`", kinds[from->act].str, given[k]);
        has = has || given[k];
    }
    if (!has) return sand_yaml_wrong(yaml, error, path, "the act %s needs `%s`", kinds[from->act].str, needed);
    *act = (PlaylistAct){.at = from->at, .kind = from->act, .text = from->text, .solvers = from->solvers};
    if (from->solvers && !check_racers(yaml, path, from->solvers, error)) return false;
    if (!read_solve(yaml, path, from, act, error)) return false;
    if (from->gravity) act->gravity = v3_make(from->gravity[0], from->gravity[1], from->gravity[2]);
    if (from->color) act->color = *from->color;
    for (int k = 0; from->speeds && k < 2; k++) {
        if (!sand_yaml_range(yaml, error, path, "speeds", &from->speeds[k], -1e6, 1e6)) return false;
        act->speeds[k] = from->speeds[k];
    }
    return true;
}

static bool read_scene(Playlist *playlist, int index, SandError *error) {
    const SandYaml *yaml = &playlist->file;
    const PlaylistDef *def = yaml->def;
    const EntryDef *from = &def->scenes[index];
    PlaylistScene *scene = &playlist->scenes[index];
    char path[64];
    snprintf(path, sizeof path, "scenes[%d]", index);
    if (!sand_yaml_range(yaml, error, path, "seconds", from->seconds, 1, 1e6) ||
        !sand_yaml_range(yaml, error, path, "orbit", from->orbit, 0, 1e6) ||
        !sand_yaml_range(yaml, error, path, "speed", from->speed, 0.01, 100))
        return false;
    if (from->bodies && (*from->bodies < 1 || *from->bodies > SAND_MAX_BODIES))
        return sand_yaml_wrong(yaml, error, path, "bodies: expected 1 to %d", SAND_MAX_BODIES);
    *scene = (PlaylistScene){.scene = from->scene,
                             .bodies = from->bodies ? (int)*from->bodies : 0,
                             .seconds = number(from->seconds, number(def->seconds, 40)),
                             .orbit = number(from->orbit, number(def->orbit, 90)),
                             .speed = number(from->speed, 1),
                             .title = from->title ? from->title : "",
                             .text = from->text ? from->text : "",
                             .invite = from->invite ? from->invite : "",
                             .camera = from->camera ? from->camera : "default",
                             .color = from->color ? *from->color : COLOR_BY_BODY,
                             .chains = from->chains && *from->chains,
                             .act_count = (int)from->acts_count};
    for (int k = 0; k < scene->act_count; k++) {
        snprintf(path, sizeof path, "scenes[%d].acts[%d]", index, k);
        if (!read_act(yaml, path, &from->acts[k], &scene->acts[k], error)) return false;
        if (scene->acts[k].at < (k ? scene->acts[k - 1].at : 0))
            return sand_yaml_wrong(yaml, error, path, "at: expected acts sorted by their time");
    }
    return true;
}

// Opens every scene once, so that an exhibition does not end at the third, and finds how many bodies it has.
static bool check_scenes(Playlist *playlist, SandError *error) {
    for (int i = 0; i < playlist->count; i++) {
        SandScene scene;
        SandError why;
        char path[64];
        SandSceneOptions options = {.bodies = playlist->scenes[i].bodies};
        snprintf(path, sizeof path, "scenes[%d].scene", i);
        if (!sand_scene_open(&scene, playlist->scenes[i].scene, &options, &why))
            return sand_yaml_wrong(&playlist->file, error, path, "%.250s", why.text);
        playlist->scenes[i].bodies = scene.bodies;
        sand_scene_free(&scene);
    }
    return true;
}

bool playlist_load(Playlist *playlist, const char *name, SandError *error) {
    char path[4096], *text;
    size_t size = 0, capacity = 0;
    *playlist = (Playlist){0};
    bool is_path = strchr(name, '/') || (strlen(name) > 5 && !strcmp(name + strlen(name) - 5, ".yaml"));
    int length = is_path ? snprintf(path, sizeof path, "%s", name)
                         : snprintf(path, sizeof path, "%s/playlists/%s.yaml", sand_scenes_folder(), name);
    if (length < 0 || (size_t)length >= sizeof path) return sand_fail(error, "%.60s...: the name is too long", name);
    if (!sand_yaml_text(path, "playlist", &text, &size, error)) return false;
    bool ok = sand_yaml_read(&playlist->file, "playlist", &playlist_value, text, size, path, error);
    free(text);
    if (!ok) return false;
    const PlaylistDef *def = playlist->file.def;
    playlist->count = (int)def->scenes_count;
    ok = sand_yaml_range(&playlist->file, error, "", "seconds", def->seconds, 1, 1e6) &&
         sand_yaml_range(&playlist->file, error, "", "orbit", def->orbit, 0, 1e6) &&
         SAND_GROW(playlist->scenes, capacity, playlist->count, "playlist", error);
    for (int i = 0; ok && i < playlist->count; i++) ok = read_scene(playlist, i, error);
    ok = ok && check_scenes(playlist, error);
    if (!ok) playlist_free(playlist);
    return ok;
}

void playlist_free(Playlist *playlist) {
    sand_free(playlist->scenes);
    if (playlist->file.def) sand_yaml_free(&playlist->file);
    *playlist = (Playlist){0};
}

void playlist_act_solve(const PlaylistAct *act, SandSolveDef *solve) {
    if (act->solver != solve->solver) sand_solve_choose(solve, act->solver);
    if (act->iterations) solve->iterations = act->iterations;
    if (act->accuracy < 0) return;
    solve->accuracy = act->accuracy;
    solve->tolerance = 0;
    solve->relative = false;
}

// --- the show -----------------------------------------------------------------------------------------------

Show show_begin(const Playlist *playlist, double seconds) {
    return (Show){.playlist = playlist, .seconds = seconds, .text = playlist->scenes[0].text};
}

const PlaylistScene *show_scene(const Show *show) { return &show->playlist->scenes[show->index]; }
double show_seconds(const Show *show) { return show->seconds > 0 ? show->seconds : show_scene(show)->seconds; }

int show_advance(Show *show, double elapsed, int *first) {
    const PlaylistScene *scene = show_scene(show);
    *first = show->acts_done;
    if (!show->is_open) return *first;
    show->time += elapsed;
    // Where every scene is shown for a time of its own, its acts come sooner or later by as much.
    double pace = show_seconds(show) / scene->seconds;
    while (show->acts_done < scene->act_count && scene->acts[show->acts_done].at * pace <= show->time) {
        const PlaylistAct *act = &scene->acts[show->acts_done++];
        if (act->kind == PLAYLIST_CAPTION) show->text = act->text;
    }
    return show->acts_done;
}

bool show_is_over(const Show *show) { return show->is_open && show->time >= show_seconds(show); }

void show_next(Show *show) {
    show->index++;
    if (show->index == show->playlist->count) {
        show->index = 0;
        show->round++;
    }
    show->time = 0;
    show->is_open = false;
    show->acts_done = 0;
    show->text = show_scene(show)->text;
}

bool show_seek_invitation(Show *show) {
    int found = 0;
    for (int k = 0; k < show->playlist->count; k++) found += *show->playlist->scenes[k].invite != '\0';
    if (!found) return false;
    do show_next(show);
    while (!*show_scene(show)->invite);
    return true;
}

double show_darkness(const Show *show) {
    if (!show->is_open) return 1;
    double edge = fmin(show->time, show_seconds(show) - show->time);
    return fmax(0, 1 - fmax(0, edge) / FADE);
}

double show_angle(const Show *show) {
    double turn = show_scene(show)->orbit;
    return turn > 0 ? 2 * 3.14159265358979323846 * fmod(show->time / turn, 1) : 0;
}
