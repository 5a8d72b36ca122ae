// The panel over the picture: controls on the left, figures and plots on the right, time at the bottom. It reads a frame and
// asks for acts; it never touches the simulation. Between interface_begin and interface_end, panel_draw draws all of it.
#pragma once
#include "app/render/camera.h"
#include "app/engine/engine.h"
#include "app/ui/interface.h"
#include "app/ui/overlay.h"
#include "app/ui/race_plot.h"
#include "app/render/renderer.h"

// A key that the window knows, for the help.
typedef struct PanelKey {
    const char *key, *text;
    bool first; // one of the few that a new person should know
} PanelKey;

typedef enum PanelFormat { FORMAT_PNG, FORMAT_MP4, FORMAT_WEBM, FORMAT_GIF, FORMAT_COUNT } PanelFormat;
extern const char *const panel_format_names[FORMAT_COUNT];

// What the person wants recorded, and how far that is. The window does the recording.
typedef struct PanelRecording {
    char folder[SAND_SENTENCE];
    PanelFormat format;
    int fps;
    int width, height; // of the picture
    bool active;       // set by the window
    int64_t frames;    // written so far
} PanelRecording;

// Figures of the steps shown lately, for the plots against time.
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

enum { PANEL_MESSAGES = 4, PANEL_CURVE = 2048 };

// The race as the person wants it, and a copy of the last one's result.
typedef struct PanelRace {
    bool chosen[SAND_RACE_MOST]; // by the solver's row
    int iterations;
    bool cold;
    int waiting; // frames left to a request that has not begun
    int shown;   // serial number of the race in the copy
    RacePlots plots;
    uint64_t step;
    int count, contacts;
    char lines[SAND_RACE_MOST][160]; // what the table says of each
} PanelRace;

typedef struct Panel {
    // The window sets these.
    Interface *interface;
    const PanelKey *keys; // ended by a NULL key
    void *user;           // given to the calls below
    bool (*ask)(void *user, const Act *act);
    void (*on_message)(void *user, const char *sentence);     // hears every message that is shown; NULL: nobody does
    bool (*record)(void *user, bool start, SandError *error); // as `recording` says; NULL: there is no recording
    bool (*screenshot)(void *user, SandError *error);
    bool (*save_take)(void *user, SandError *error);
    bool (*add_key)(void *user, SandError *error); // keeps the view for the film of the take
    int camera_keys;                               // how many there are
    const RaceJob *race;                           // the engine's; NULL: there are no races
    Probe picked;

    // Both read and set these.
    bool hidden;      // the whole panel
    bool help;        // all keys are shown
    bool first_start; // the line of useful keys is shown
    double speed;     // simulated seconds for each second
    RenderColor color;
    ColorMap map;
    bool chains; // force chains are shown
    OverlayDef overlay;
    PanelRecording recording;
    Bookmarks bookmarks;

    bool unfold; // all sections are open, for tests

    // Left by panel_draw: the part of the window that it does not cover, in pixels from the upper left corner.
    double free_left, free_top, free_right, free_bottom;

    // Its own.
    SandSceneEntry *scenes;
    int scene_count;
    unsigned scene_version, settings_version;
    SandSolveDef solve, shadow;
    bool by_time; // the budget is in milliseconds
    bool shadowing;
    bool solve_due, shadow_due, gravity_due, speed_due; // changed, and not yet taken by the engine
    bool curve_wanted, curve_asked;
    PanelRace racing;
    int bodies;
    double knobs[SAND_MAX_KNOBS];
    double gravity, tilt, towards; // m/s^2, degrees
    int64_t seek;                  // step that was asked for last, -1: none
    struct {
        char text[SAND_SENTENCE];
        double left; // s, to be shown
    } messages[PANEL_MESSAGES];
    int point_count;
    uint64_t steps[HISTORY_POINTS];
    double series[SERIES_COUNT][HISTORY_POINTS];
    double curve_x[2][PANEL_CURVE], curve_y[2][PANEL_CURVE];
} Panel;

Panel *panel_create(Interface *interface, SandError *error);
void panel_free(Panel *panel);

// Draws everything for a window of this many pixels. Camera and look are changed by the person through it. The frame may
// be NULL before the first.
void panel_draw(Panel *panel, const EngineFrame *frame, const EngineScene *scene, Camera *camera, RendererDef *look,
                int width, int height, double seconds);

OverlayView panel_overlay(const EngineFrame *frame, const EngineScene *scene); // what clock, legend and residual show
void panel_say(Panel *panel, const char *sentence);                            // shows it for a few seconds
bool panel_solver_fits(const SandSolveDef *solve, const EngineScene *scene);   // on the machine that takes the steps
void panel_choose_solver(Panel *panel, int solver);                            // as if it had been chosen in the list
bool panel_ask(Panel *panel, Act act); // leaves a request; false, with a message, when too many wait
