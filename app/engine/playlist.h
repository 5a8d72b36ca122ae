// SPDX-License-Identifier: MIT
// Playlists: what `sandglass demo` shows, scene after scene, with captions and acts; and the clock that goes through one.
// The window and the film of a demo both follow it. docs/scenes.md describes the file.
#pragma once
#include "app/engine/acts.h"
#include "app/render/render_scene.h"
#include "sim/scene/yaml_file.h"

enum { PLAYLIST_MOST = 256, PLAYLIST_ACTS = 64 }; // scenes of a playlist, acts of a scene

// What happens at a time of a scene.
typedef enum PlaylistActKind {
    PLAYLIST_FLIP,    // turn the glass over
    PLAYLIST_THROW,   // throw a heavy ball at the middle of the picture
    PLAYLIST_SOLVE,   // another solver
    PLAYLIST_GRAVITY, // other gravity
    PLAYLIST_DRIVE,   // other speeds of the wheels of the vehicle
    PLAYLIST_COLOR,   // what the bodies' color shows
    PLAYLIST_CAPTION, // another text
    PLAYLIST_BESIDE,  // a second run with another solver beside the first, from here on; in a window
    PLAYLIST_RACE,    // freezes the step and races solvers on it; in a window
    PLAYLIST_ALONE,   // ends the second run, or the race
} PlaylistActKind;

typedef struct PlaylistAct {
    double at; // s, from the start of the scene, on the clock of who looks
    PlaylistActKind kind;
    int solver, iterations; // PLAYLIST_SOLVE, PLAYLIST_BESIDE; iterations 0: as before
    const char *solvers;    // PLAYLIST_RACE: `a,b`, of the file
    double accuracy;        // percent, of the same; 0: none, below 0: as before
    SandVec3 gravity;       // m/s^2
    double speeds[2];       // rad/s, of the left and the right wheels
    RenderColor color;
    const char *text; // of the file
} PlaylistAct;

typedef struct PlaylistScene {
    const char *scene;        // name or path
    int bodies;               // 0: the scene has a fixed number
    double seconds, orbit;    // s, how long it is shown; of one turn of the camera, 0: it stands still
    double speed;             // simulated seconds per second
    const char *title, *text; // of the caption; "": none
    const char *invite;       // what a visitor is invited to: any key throws a ball; "": nothing
    const char *camera;       // a preset or coordinates
    RenderColor color;
    bool chains;
    PlaylistAct acts[PLAYLIST_ACTS]; // sorted by time
    int act_count;
} PlaylistScene;

typedef struct Playlist {
    PlaylistScene *scenes;
    int count;
    SandYaml file; // owns the texts
} Playlist;

// Finds a playlist by its name, in the folder `playlists` of the scenes, or by its path, and reads it. An error is one line,
// `file:line: key: what was expected`. On failure there is nothing to free.
bool playlist_load(Playlist *playlist, const char *name_or_path, SandError *error);
void playlist_free(Playlist *playlist);
// Changes a solver definition as an act PLAYLIST_SOLVE says. The same method keeps its parameters.
void playlist_act_solve(const PlaylistAct *act, SandSolveDef *solve);

// Where a show has come to.
typedef struct Show {
    const Playlist *playlist;
    double seconds;   // of every scene, in place of the playlist's; 0: as it says
    int index, round; // scene that is shown, and how often the playlist ended
    double time;      // s, since it was there to see
    bool is_open;     // it is there; until then the picture is dark and the clock stands
    int acts_done;
    const char *text; // of the caption
} Show;

Show show_begin(const Playlist *playlist, double seconds);
const PlaylistScene *show_scene(const Show *show);
double show_seconds(const Show *show); // how long the present scene is shown
// Advances the clock. Returns the acts of the present scene that are due, from `*first` to before the returned index.
int show_advance(Show *show, double elapsed, int *first);
bool show_is_over(const Show *show);    // the present scene is
void show_next(Show *show);             // goes to the next scene, which is not open yet
bool show_seek_invitation(Show *show);  // goes to the next scene that invites visitors; false: there is none
double show_darkness(const Show *show); // 0 to 1: scenes fade in and out
double show_angle(const Show *show);    // rad, of the camera about the vertical axis
