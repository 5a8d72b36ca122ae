// SPDX-License-Identifier: MIT
// The panel over the picture: controls on the left, figures and plots on the right, the time bar at the bottom. It reads
// frames and leaves requests; it never touches the simulation. Call panel_draw between interface_begin and interface_end.
// Its parts are in panel_parts.h.
#pragma once
#include "app/render/camera.h"
#include "app/engine/engine.h"
#include "app/ui/interface.h"
#include "app/ui/overlay.h"
#include "app/ui/race_plot.h"
#include "app/ui/settings.h"
#include "app/render/split.h"

// A key of the window, for the help.
typedef struct PanelKey {
    const char *key, *text;
    bool first; // one of the few for new users
} PanelKey;

typedef enum PanelFormat { FORMAT_PNG, FORMAT_MP4, FORMAT_WEBM, FORMAT_GIF, FORMAT_COUNT } PanelFormat;
extern const char *const panel_format_names[FORMAT_COUNT];

// Settings and progress of a recording. The window does the recording.
typedef struct PanelRecording {
    char folder[SAND_SENTENCE];
    PanelFormat format;
    int fps;
    int width, height; // of the picture
    bool active;       // set by the window
    int64_t frames;    // written so far
} PanelRecording;

// Recent figures, for the plots against time.
enum { HISTORY_POINTS = 4096 };
typedef enum PanelSeries {
    SERIES_TIME,
    SERIES_RESIDUAL,
    SERIES_KINETIC,
    SERIES_POTENTIAL,
    SERIES_COLLIDE,
    SERIES_WARM_START,
    SERIES_BUILD,
    SERIES_SOLVE,
    SERIES_INTEGRATE,
    SERIES_STEP,
    SERIES_CONTACTS,
    SERIES_PENETRATION,
    SERIES_COUNT
} PanelSeries;

// Recent samples of a probe of one cell.
enum { PROBE_POINTS = 1024 };
typedef struct PanelProbe {
    int count;
    uint64_t steps[PROBE_POINTS];
    double time[PROBE_POINTS], values[READING_CURVES][PROBE_POINTS];
} PanelProbe;

enum { PANEL_MESSAGES = 4, PANEL_CURVE = 2048 };

typedef struct PanelMessage {
    char text[SAND_SENTENCE];
    double left;  // s, remaining display time
    double quiet; // s, for which the same sentence with other numbers is not shown again once it is gone
    int repeats;
} PanelMessage;

// Settings of a race, and a copy of its curves, which grows while it runs.
typedef struct PanelRace {
    bool chosen[SAND_RACE_MOST]; // by row of the solver table
    int iterations;
    bool cold;
    int waiting;               // frames left for a request to take effect
    bool theater;              // the race is shown over the picture
    bool objective, over_time; // what the theater plots, and against what
    uint32_t hidden;           // bit k: the curve of racer k is switched off
    RaceCurves curves;
    RacePlots plots;
    double plot_height; // pixels, of the plotting area in the theater
    uint64_t made;      // what the plots were made of: see panel_follow_race
} PanelRace;

// What a person answers when the window is about to close while something would be lost.
typedef enum PanelClosing { CLOSING_NOT, CLOSING_ASKED, CLOSING_SAVES, CLOSING_NOW } PanelClosing;

typedef struct Panel {
    // Set by the window.
    Interface *interface;
    const PanelKey *keys; // ended by a NULL key
    void *user;           // passed to the callbacks below
    bool (*ask)(void *user, const Act *act);
    bool (*open)(void *user, const char *path, const Act *race, SandError *error); // see engine_open
    void (*cancel)(void *user);                                                    // see engine_cancel
    EngineWork work;                                                               // what the engine is busy with
    void (*on_message)(void *user, const char *sentence);     // hears every message that is shown; NULL: nobody does
    bool (*record)(void *user, bool start, SandError *error); // starts or stops `recording`; NULL: not available
    bool (*screenshot)(void *user, SandError *error);
    bool (*save_take)(void *user, SandError *error);
    bool (*add_key)(void *user, SandError *error); // adds a camera key to the take
    int camera_keys;                               // how many there are
    RaceJob *race;                                 // of the engine; NULL: no races
    PickedBody picked;
    double frame_rate;     // pictures a second, lately
    bool filming, unsaved; // what would be lost if the window closed: a film, or acts that no take has

    // Read and set by both.
    bool hidden;       // the whole panel
    bool folded[2];    // the controls, the figures: a strip at the edge is left of them
    bool locked;       // nothing on the picture can be pressed: a demo
    double reserved;   // pixels at the bottom of the window that something else has: the caption of a demo
    bool follow;       // the camera moves with the body that the scene names
    SandVec3 followed; // m, how far it has moved with it
    bool help;         // all keys are shown
    bool first_start;  // the line of useful keys is shown
    bool ask_on_close; // before something is lost
    PanelClosing closing;
    double speed; // simulated seconds for each second
    RenderColor color;
    ColorMap map;
    bool chains;        // force chains are shown
    RenderRange limits; // how the ends of the color map are chosen
    double cut;         // how much of the scene is cut away from the front, 0 to 1
    OverlayDef overlay;
    PanelRecording recording;
    Bookmarks bookmarks;
    RecentFiles recent;

    bool unfold; // all sections are open, for tests

    // Set by panel_draw: the part of the window that it does not cover, in pixels from the upper left corner.
    double free_left, free_top, free_right, free_bottom;
    char headline[160];   // of the figures: how the step went, or what is wrong with it
    const char *advice;   // below it, where something is wrong; "": nothing is
    double gauge;         // percent of the step that is solved, smoothed so that it can be read
    char verdict[80];     // what the gauge says about it
    SplitArea halves;     // of that part, for two runs side by side
    OverlayPlaces places; // of the overlays
    Box folds[2];         // where the controls and the figures are folded and unfolded
    Box message_box;      // around the messages; empty: there are none

    // Private.
    SandSceneEntry *scenes;
    int scene_count;
    unsigned scene_version, settings_version;
    SandSolveDef solve, shadow, beside;
    bool by_time; // the budget is in milliseconds
    bool shadowing;
    bool has_beside;                                                // a second run is asked for
    bool solve_due, shadow_due, beside_due, gravity_due, speed_due; // changed, request not yet accepted
    bool curve_wanted, curve_asked;
    PanelRace racing;
    int bodies;
    double knobs[SAND_MAX_KNOBS];
    double gravity, tilt, towards; // m/s^2, degrees
    int64_t seek;                  // last requested step, -1: none
    uint64_t gauge_step;           // the step that the gauge followed last
    PanelMessage messages[PANEL_MESSAGES];
    int point_count;
    uint64_t steps[HISTORY_POINTS];
    double series[SERIES_COUNT][HISTORY_POINTS];
    PanelProbe probes[SAND_MAX_PROBES]; // as the frames have them
    char probe_text[SAND_SENTENCE];     // of one to be added
    double curve_x[2][PANEL_CURVE], curve_y[2][PANEL_CURVE];
} Panel;

Panel *panel_create(Interface *interface, SandError *error);
void panel_free(Panel *panel);

// Draws everything for a window of this many pixels. Controls change camera and look. `frame` may be NULL before the first.
void panel_draw(Panel *panel, const EngineFrame *frame, const EngineScene *scene, Camera *camera, RendererDef *look,
                int width, int height, double seconds);

// The data of the overlays, in a picture with these halves.
OverlayView panel_overlay(const EngineFrame *frame, const EngineScene *scene, SplitArea halves);
void panel_say(Panel *panel, const char *sentence); // shows it for a few seconds
// The same for what the engine tells. A sentence that comes again and again with other numbers takes the place of the one
// before, and after a while is not shown any more until it has not come for some seconds. False: it is not shown.
bool panel_hear(Panel *panel, const char *sentence);
bool panel_solver_fits(const SandSolveDef *solve, const EngineScene *scene); // on the backend that takes the steps
void panel_choose_solver(Panel *panel, int solver);                          // as if chosen in the list
void panel_toggle_beside(Panel *panel, const EngineScene *scene);            // begins or ends a second run beside the first
void panel_open(Panel *panel, const char *path); // a scene, a take or a contact problem, which is raced
void panel_start_race(Panel *panel);             // freezes the step and opens the race on it over the picture
void panel_hide(Panel *panel, bool hidden);      // says how to get it back
bool panel_close_topmost(Panel *panel);          // a dialog, the help, the race; false: nothing is open
// The outline and the forces of the picked body, for the window and for pictures of it; of two runs they are those of the
// first.
void panel_draw_marks(const Panel *panel, const EngineFrame *frame, const Camera *camera, SplitArea halves, int width,
                      int height);
bool panel_ask(Panel *panel, Act act); // leaves a request; false, with a message, when too many wait
