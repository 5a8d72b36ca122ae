// SPDX-License-Identifier: MIT
// The window's own state, for its own files: window.c is the loop and one frame of it, window_keys.c the keys,
// window_drive.c the vehicle, window_mouse.c the mouse, window_demo.c the demo, window_files.c pictures, takes and films.
#pragma once
#include "app/ui/window.h"

#include "app/io/snapshot.h"
#include "app/render/context.h"
#include "app/render/renderer.h"
#include "app/ui/frame_pacing.h"
#include "app/ui/input.h"
#include "app/ui/panel/panel.h"
#include "app/ui/window_recording.h"

#include <glad/gl.h>
#include <GLFW/glfw3.h>
#include <time.h>

// A press or release of a mouse button. Events are queued where GLFW reports them and handled once a frame, so that a click
// that is shorter than a frame is not lost.
typedef struct MouseEvent {
    int button;
    bool down;
    bool grab;   // with Ctrl
    double x, y; // 0 to 1 from the lower left corner
} MouseEvent;
enum { MOUSE_EVENTS = 64 };

// A press of a key. They are queued like those of the mouse, and for the same reason.
typedef struct KeyPress {
    int key;
    bool shifted;
} KeyPress;
enum { KEY_PRESSES = 64 };

// The demo, where the window shows a playlist.
typedef struct WindowDemo {
    bool taken;       // by a person
    double untouched; // s, since the last touch
    bool asked;       // the scene of the playlist was asked for
    unsigned before;  // version of the scene before it
    double waited;    // s, for it
    bool has_mouse;
    double mouse_x, mouse_y; // where the mouse was when it last moved
    bool races;              // a race was asked for
    double seconds;          // since it began
    double thrown;           // s, when a visitor last threw a ball
    int balls;               // thrown by visitors in this scene
} WindowDemo;

// The glass, which is turned over when it is empty.
typedef struct WindowTurn {
    unsigned scene; // version
    uint64_t step;  // of the last frame
    double most;    // J, the largest kinetic energy since it was turned
    double moved;   // s, simulated, when it last moved
    int turned;     // acts of this run that were turns
} WindowTurn;

// What was last asked of the wheels of a vehicle.
typedef struct WindowDrive {
    unsigned scene;  // version that it was asked of
    double sides[2]; // -1 to 1, left and right
} WindowDrive;

typedef struct Window {
    const WindowDef *def;
    Context *context;
    GLFWwindow *glfw;
    Renderer *renderer;
    Split *split; // the picture: of one run, or of two side by side
    Engine *engine;
    Interface *interface;
    Panel *panel;
    Snapshot *snapshot;
    bool picture_due; // a picture is to be saved with this frame
    EngineScene scene;
    EngineFrame *frame; // the newest, or NULL before the first
    Camera camera;
    RendererDef look;
    Input input;
    int width, height;               // of the framebuffer
    double ui_scale;                 // as asked for, 0: automatic
    int first_quality, kept_quality; // at the start, and from the settings
    bool first_hidden, kept_hidden;  // the panel, likewise
    FramePacing pacing;
    double shown;                  // s, simulated time on the screen
    bool moved;                    // since the last frame
    bool is_split;                 // the last frame had a second run
    Camera unmoved;                // as the window last framed the scene
    unsigned framed;               // scene version that the camera was framed for
    int reframe;                   // frames in which the scene is still to be framed: the panel needs a few for its layout
    const char *preset;            // camera option that is still to be applied; NULL: none
    double first_picture;          // s, wall time of the first picture of all
    double first_motion;           // s, wall time of the first picture with moving bodies
    double scroll;                 // turns of the wheel since the last frame
    bool keys[GLFW_KEY_LAST + 1];  // held
    KeyPress presses[KEY_PRESSES]; // since the last frame
    int press_count;
    int heard; // presses so far
    MouseEvent events[MOUSE_EVENTS];
    int event_count;
    int clicks;              // on the picture, so far
    int button;              // the button that began what the mouse does, -1: none
    double press_x, press_y; // where
    WindowDemo demo;
    WindowRecording recording; // the film that is being taken
    CameraPath path;           // camera keys of the take
    bool follow;               // the camera follows them, until the user moves it
    Camera followed;           // the last camera set by the path
    bool has_followed;
    WindowDrive drive;
    WindowTurn turn;
    bool fly;                // keys and mouse move the camera freely
    int picked;              // body that the engine reports on
    int saved_acts;          // acts in the last take that was saved
    char watched[TAKE_PATH]; // scene file that is opened again when it changes; "": none
    struct timespec changed; // when it did last
    double next_look;        // s, wall time
    int openings;            // files opened so far
} Window;

static inline bool window_plays(const Window *w) { return w->frame && w->frame->playing; }

// window_view.c
void window_frame_scene(Window *w);    // frames the whole scene in the part of the window that the panel leaves free
double window_aspect(const Window *w); // of the picture that the camera sees: the window, or a half of its free part
SplitDef window_split(const Window *w, int width); // what to draw into a picture of this width

// window_keys.c
extern const PanelKey window_key_texts[]; // ended by a NULL key
void window_on_key(GLFWwindow *glfw, int key, int code, int action, int mods);
void window_handle_keys(Window *w);
void window_toggle_fly(Window *w);
SandVec3 window_fly_direction(const Window *w); // of the held keys: right, up, forward

// window_drive.c
void window_handle_drive(Window *w); // arrow keys and gamepad drive the vehicle of the scene
void window_follow_body(Window *w);  // moves the camera with the body that the scene names, after the path of a take

// window_mouse.c
void window_on_button(GLFWwindow *glfw, int button, int action, int mods);
void window_on_scroll(GLFWwindow *glfw, double x, double y);
void window_handle_mouse(Window *w, double elapsed);

// window_demo.c; without a playlist all of them do nothing
void window_demo_begin(Window *w);
void window_demo_step(Window *w, double elapsed); // before the keys and the mouse are handled
void window_demo_draw(Window *w);                 // over the picture
double window_scale(const Window *w);             // pixels per unit of text and widgets

// window_opening.c
bool window_draw_opening(Window *w, const EngineWork *work); // before the first scene; true: the person cancels
void window_tell_opening(Window *w, const char *what);       // the same before something that stops the window for a while
// Shows the start screen until something is chosen, and hands that to the def's `choose`. `closed`: the window is to close.
bool window_start(Window *w, bool *closed, SandError *error);
// Calls the def's `prepare` on another thread, and draws meanwhile. `closed`: the person closed the window.
bool window_prepare(Window *w, bool *closed, SandError *error);

// window_turn.c
void window_turn_over(Window *w); // turns the glass when it is empty, where the def says so

// window_files.c
void window_set_up_files(Window *w);                  // the panel's callbacks
void window_save_picture(Window *w, double ui_scale); // where one is due; after the frame of the interface has ended
void window_film(Window *w);                          // the next frame of the film; likewise
bool window_save_take(Window *w, const char *path, SandError *error);
void window_save_new_take(Window *w); // under a free name
void window_add_camera_key(Window *w);
void window_follow_path(Window *w); // a take is shown along its camera keys, until the user moves the camera
bool window_is_unsaved(const Window *w);
void window_note_opening(Window *w); // takes over the camera keys of a take that was opened, and notes the file
void window_watch_file(Window *w);   // opens the scene again when its file changes on disk
void window_on_drop(GLFWwindow *glfw, int count, const char **paths);
