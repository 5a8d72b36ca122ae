// The window: draws the newest frame of the engine, interpolated within its step, and turns keys and mouse into requests. It
// never waits for the simulation. window_run is the loop, draw is one frame of it; keys[] is the table of keys.
#include "app/ui/window.h"

#include "app/render/context.h"
#include "app/ui/window_recording.h"
#include "app/ui/input.h"
#include "app/ui/frame_pacing.h"
#include "app/ui/panel/panel.h"
#include "app/render/renderer.h"
#include "app/ui/settings.h"
#include "sim/core/clock.h"
#include "app/io/snapshot.h"

#include <glad/gl.h>
#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REFRAME = 4 };

typedef struct Window {
    const WindowDef *def;
    Context *context;
    GLFWwindow *glfw;
    Renderer *renderer;
    Engine *engine;
    Interface *interface;
    Panel *panel;
    Snapshot *snapshot;
    EngineScene scene;
    EngineFrame *frame; // the newest, or NULL before the first
    Camera camera;
    RendererDef look;
    Input input;
    int width, height;               // of the framebuffer
    double ui_scale;                 // as asked for, 0: automatic
    int first_quality, kept_quality; // at the start, and from the settings
    FramePacing pacing;
    double shown;        // s, simulated time on the screen
    bool moved;          // since the last frame
    unsigned framed;     // scene version that the camera was framed for
    int reframe;         // frames in which the scene is still to be framed: the panel needs a few for its layout
    const char *preset;  // camera option that is still to be applied; NULL: none
    double first_motion; // s, wall time of the first picture with moving bodies
    double scroll;       // turns of the wheel since the last frame
    bool keys[GLFW_KEY_LAST + 1], pressed[GLFW_KEY_LAST + 1]; // held, and pressed since the last frame
    bool shifted[GLFW_KEY_LAST + 1];                          // pressed with Shift
    bool buttons[3];
    WindowRecording recording; // the film that is being taken
    CameraPath path;           // camera keys of the take
    bool follow;               // the camera follows them, until the user moves it
    Camera followed;           // the last camera set by the path
    bool has_followed;
    bool fly;   // keys and mouse move the camera freely
    int picked; // body that the engine reports on
} Window;

// --- pictures ---------------------------------------------------------------------------------------------

// The first free name in the current folder: sandglass-hourglass-1.png.
static void free_name(const Window *w, const char *ending, char *path, size_t capacity) {
    for (int n = 1;; n++) {
        snprintf(path, capacity, "sandglass-%s-%d.%s", w->scene.name, n, ending);
        if (access(path, F_OK) != 0) return;
    }
}

// Saves the window as it is. A thread writes the file, and a message says when it is done.
static bool save_screenshot(Window *w, SandError *error) {
    unsigned char *pixels = malloc(3 * (size_t)w->width * (size_t)w->height);
    if (!pixels) return sand_fail(error, "out of memory for a picture of the window");
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glReadBuffer(GL_FRONT);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, w->width, w->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    char path[SAND_SENTENCE];
    free_name(w, "png", path, sizeof path);
    return snapshot_begin(w->snapshot, path, w->width, w->height, pixels, error);
}

static bool panel_takes_picture(void *user, SandError *error) { return save_screenshot(user, error); }

// --- takes ------------------------------------------------------------------------------------------------

// Saves the run so far; without camera keys the film has the current view.
static bool save_take(Window *w, const char *path, SandError *error) {
    CameraPath views = w->path;
    if (!views.count && w->frame) {
        CameraKey key = {.view = camera_view(&w->camera, w->frame->render_scene.origin)};
        camera_path_add(&views, &key, error);
    }
    return engine_save(w->engine, path, &views, error);
}

static bool panel_saves_take(void *user, SandError *error) {
    Window *w = user;
    char path[SAND_SENTENCE];
    free_name(w, "take", path, sizeof path);
    return save_take(w, path, error);
}

static bool panel_adds_key(void *user, SandError *error) {
    Window *w = user;
    if (!w->frame) return true;
    CameraKey key = {.time = w->shown, .view = camera_view(&w->camera, w->frame->render_scene.origin)};
    if (!camera_path_add(&w->path, &key, error)) return false;
    char text[64];
    snprintf(text, sizeof text, "Camera key %d, at %.2f s", w->path.count, key.time);
    panel_say(w->panel, text);
    return true;
}

static bool same_view(const Camera *a, const Camera *b) {
    return v3_length(v3_sub(a->eye, b->eye)) == 0 && v3_length(v3_sub(a->target, b->target)) == 0 && a->height == b->height;
}

// A take is shown along its camera keys, until the user moves the camera.
static void follow_path(Window *w) {
    if (w->has_followed && !same_view(&w->camera, &w->followed)) w->follow = false;
    if (!w->follow || !w->path.count) return;
    const RenderScene *scene = &w->frame->render_scene;
    CameraView view = camera_path_at(&w->path, w->shown);
    camera_set(&w->camera, &view, scene->origin, scene->lower, scene->upper);
    w->followed = w->camera;
    w->has_followed = true;
}

// --- films ------------------------------------------------------------------------------------------------

static bool panel_records(void *user, bool start, SandError *error) {
    Window *w = user;
    if (start) return window_recording_start(&w->recording, w->frame, error);
    window_recording_stop(&w->recording);
    return true;
}

static void film_frame(Window *w) {
    SandError error;
    if (w->frame && w->recording.recorder) {
        if (!window_recording_frame(&w->recording, w->renderer, w->frame, &w->scene, &w->camera, &w->look, &error))
            panel_say(w->panel, error.text);
        frame_pacing_excuse(&w->pacing);
    }
    if (!window_recording_see_end(&w->recording, &error)) panel_say(w->panel, error.text);
}

// --- keys -------------------------------------------------------------------------------------------------

static void ask(Window *w, Act act) { engine_ask(w->engine, &act); }
static bool playing(const Window *w) { return w->frame && w->frame->playing; }

static void play_or_pause(Window *w) { ask(w, (Act){.kind = ACT_PLAY, .number = !playing(w)}); }
static void step(Window *w) { ask(w, (Act){.kind = ACT_STEP, .number = 1}); }
static void step_back(Window *w) {
    if (w->frame && w->frame->step > 0) ask(w, (Act){.kind = ACT_SEEK, .number = (double)w->frame->step - 1});
}
static void reset(Window *w) { ask(w, (Act){.kind = ACT_RESET}); }
static void flip(Window *w) { ask(w, (Act){.kind = ACT_FLIP}); }
static void throw_ball(Window *w) {
    input_throw(w->engine, w->frame, &w->camera, (double)w->width / w->height, w->input.x, w->input.y);
}
static void next_color(Window *w) {
    w->panel->color = (w->panel->color + 1) % RENDER_COLOR_COUNT;
    ask(w, (Act){.kind = ACT_COLOR, .number = w->panel->color});
}
// Chooses the next solver that supports this friction on this backend.
static void next_solver(Window *w) {
    SandSolveDef next = w->panel->solve;
    int now = next.solver;
    do {
        next.solver = (next.solver + 1) % sand_solver_count();
    } while (next.solver != now && !panel_solver_fits(&next, &w->scene));
    panel_choose_solver(w->panel, next.solver);
}
static void set_speed(Window *w, double speed) { ask(w, (Act){.kind = ACT_SPEED, .number = w->panel->speed = speed}); }
static void faster(Window *w) { set_speed(w, fmin(8, 2 * w->panel->speed)); }
static void slower(Window *w) { set_speed(w, fmax(1.0 / 64, 0.5 * w->panel->speed)); }
static void next_quality(Window *w) { w->look.quality = (w->look.quality + 1) % QUALITY_COUNT; }
static void toggle_help(Window *w) { w->panel->help = !w->panel->help; }
static void toggle_panel(Window *w) { w->panel->hidden = !w->panel->hidden; }
static void screenshot(Window *w) {
    SandError error;
    if (!save_screenshot(w, &error)) panel_say(w->panel, error.text);
}
static void save_a_take(Window *w) {
    SandError error;
    if (!panel_saves_take(w, &error)) panel_say(w->panel, error.text);
}
static void add_key(Window *w) {
    SandError error;
    if (!panel_adds_key(w, &error)) panel_say(w->panel, error.text);
}
static void toggle_fly(Window *w) {
    w->fly = !w->fly;
    glfwSetInputMode(w->glfw, GLFW_CURSOR, w->fly ? GLFW_CURSOR_DISABLED : GLFW_CURSOR_NORMAL);
    if (w->fly) panel_say(w->panel, "Flying: W A S D, Q down, E up, the mouse looks about; V or Esc ends it.");
}
static void close_window(Window *w) {
    if (w->fly)
        toggle_fly(w);
    else
        context_close(w->context);
}
// Frames the whole scene in the part of the window that the panel leaves free.
static void frame_scene(Window *w) {
    if (!w->frame) return;
    const Panel *p = w->panel;
    CameraArea area = {p->free_left, p->free_top, p->free_right, p->free_bottom};
    bool enough = area.right - area.left > 0.2 * w->width && area.bottom - area.top > 0.2 * w->height;
    if (!enough) area = (CameraArea){0, 0, w->width, w->height};
    camera_frame_within(&w->camera, camera_preset_names[0], w->frame->render_scene.lower, w->frame->render_scene.upper,
                        w->width, w->height, &area);
}

// Applies the camera option.
static void set_camera(Window *w) {
    const RenderScene *scene = &w->frame->render_scene;
    SandError error;
    if (!camera_parse(&w->camera, w->preset, scene->origin, scene->lower, scene->upper, (double)w->width / w->height,
                      &error))
        panel_say(w->panel, error.text);
    w->preset = NULL;
}

// All keys, in the order in which the help shows them.
enum { KEY_COUNT = 19 };
static const struct Key {
    int key;
    void (*act)(Window *w);
} keys[KEY_COUNT] = {
    {GLFW_KEY_SPACE, play_or_pause},
    {GLFW_KEY_PERIOD, step},
    {GLFW_KEY_COMMA, step_back},
    {GLFW_KEY_R, reset},
    {GLFW_KEY_F, flip},
    {GLFW_KEY_B, throw_ball},
    {GLFW_KEY_S, next_solver},
    {GLFW_KEY_C, next_color},
    {GLFW_KEY_Q, next_quality},
    {GLFW_KEY_HOME, frame_scene},
    {GLFW_KEY_EQUAL, faster},
    {GLFW_KEY_MINUS, slower},
    {GLFW_KEY_P, screenshot},
    {GLFW_KEY_T, save_a_take},
    {GLFW_KEY_K, add_key},
    {GLFW_KEY_V, toggle_fly},
    {GLFW_KEY_TAB, toggle_panel},
    {GLFW_KEY_F1, toggle_help},
    {GLFW_KEY_ESCAPE, close_window},
};
static const PanelKey key_texts[] = {
    {"Space", "run or pause", true},
    {".", "one step forward", false},
    {",", "one step back", false},
    {"R", "the scene from its start", false},
    {"F", "turn the glass over", true},
    {"B", "throw a heavy ball where the mouse points", true},
    {"S", "the next solver", true},
    {"C", "the next color mode", false},
    {"Q", "the next quality of the picture", false},
    {"Home", "see the whole scene", false},
    {"+", "time runs faster", false},
    {"-", "time runs slower", false},
    {"P", "save a picture of the window", false},
    {"T", "save the run as a take", false},
    {"K", "camera key: the film of the take sees this", false},
    {"V", "fly: W A S D, Q E, mouse; again ends it", false},
    {"Tab", "hide or show the panel", false},
    {"F1", "all keys", true},
    {"Esc", "close", false},
    {"1 to 8", "go to a view that was kept; with Shift: keep it", false},
    {"left drag", "orbit; with Ctrl on a body: draw it along", false},
    {"right drag", "shift the view", false},
    {"wheel", "closer or further away", false},
    {NULL, NULL, false},
};

static void on_key(GLFWwindow *glfw, int key, int code, int action, int mods) {
    (void)code;
    Window *w = glfwGetWindowUserPointer(glfw);
    if (key < 0 || key > GLFW_KEY_LAST) return;
    if (action != GLFW_RELEASE) {
        w->pressed[key] = true;
        w->shifted[key] = mods & GLFW_MOD_SHIFT;
    }
    w->keys[key] = action != GLFW_RELEASE;
}

static void on_scroll(GLFWwindow *glfw, double x, double y) {
    (void)x;
    ((Window *)glfwGetWindowUserPointer(glfw))->scroll += y;
}

// Bookmarks: a digit goes to a kept view, with Shift it keeps the current one.
static void handle_bookmarks(Window *w) {
    Bookmarks *marks = &w->panel->bookmarks;
    const RenderScene *scene = &w->frame->render_scene;
    for (int i = 0; i < BOOKMARKS; i++) {
        bool keep = w->shifted[GLFW_KEY_1 + i];
        if (!w->pressed[GLFW_KEY_1 + i]) continue;
        char text[64];
        snprintf(text, sizeof text, keep ? "View %d is kept." : "There is no view %d yet.", i + 1);
        if (keep) {
            marks->kept[i] = true;
            marks->views[i] = camera_view(&w->camera, scene->origin);
        } else if (marks->kept[i]) {
            camera_set(&w->camera, &marks->views[i], scene->origin, scene->lower, scene->upper);
        }
        if (keep || !marks->kept[i]) panel_say(w->panel, text);
    }
}

// Keys of flying, with their directions: right, up, forward.
static const struct FlyKey {
    int key;
    double right, up, forward;
} fly_keys[] = {{GLFW_KEY_W, 0, 0, 1}, {GLFW_KEY_S, 0, 0, -1}, {GLFW_KEY_A, -1, 0, 0},
                {GLFW_KEY_D, 1, 0, 0}, {GLFW_KEY_Q, 0, -1, 0}, {GLFW_KEY_E, 0, 1, 0}};
enum { FLY_KEYS = sizeof fly_keys / sizeof *fly_keys };

static void handle_keys(Window *w) {
    bool typing = interface_wants_keyboard(w->interface);
    // While flying these keys do nothing else.
    for (int k = 0; k < FLY_KEYS && w->fly; k++) w->pressed[fly_keys[k].key] = false;
    for (int k = 0; k < KEY_COUNT && !typing; k++)
        if (w->pressed[keys[k].key]) keys[k].act(w);
    if (w->frame && !typing) handle_bookmarks(w);
    memset(w->pressed, 0, sizeof w->pressed);
}

// --- mouse ------------------------------------------------------------------------------------------------

// Flying: the captured mouse looks around, and held keys move the camera.
static void fly(Window *w, double x, double y, double elapsed) {
    SandVec3 direction = {0, 0, 0};
    for (int k = 0; k < FLY_KEYS; k++)
        if (w->keys[fly_keys[k].key])
            direction = v3_add(direction, v3_make(fly_keys[k].right, fly_keys[k].up, fly_keys[k].forward));
    const RenderScene *scene = &w->frame->render_scene;
    input_fly(&w->camera, (x - w->input.x) * w->width / w->height, y - w->input.y, direction, fmin(elapsed, 0.5),
              v3_length(v3_sub(scene->upper, scene->lower)));
    w->input.x = x;
    w->input.y = y;
}

// Left: orbit, or with Ctrl drag a body; right or middle: pan; wheel: zoom.
static void read_mouse(Window *w, double elapsed) {
    double x, y, aspect = (double)w->width / w->height;
    int wide, high;
    glfwGetCursorPos(w->glfw, &x, &y);
    glfwGetWindowSize(w->glfw, &wide, &high); // the cursor position is in screen units
    x /= wide > 0 ? wide : 1;
    y = 1 - y / (high > 0 ? high : 1);
    if (w->fly && w->frame) {
        fly(w, x, y, elapsed);
        return;
    }
    bool any = false, began = false;
    int button = 0;
    for (int b = 0; b < 3; b++) {
        bool down = glfwGetMouseButton(w->glfw, b) == GLFW_PRESS;
        if (down && !w->buttons[b] && !interface_wants_mouse(w->interface)) {
            began = true;
            button = b;
        }
        w->buttons[b] = down;
        any = any || down;
    }
    bool grab = w->keys[GLFW_KEY_LEFT_CONTROL] || w->keys[GLFW_KEY_RIGHT_CONTROL];
    SandError error;
    if (began && w->frame && !render_scene_read_store(&w->frame->render_scene, &error)) panel_say(w->panel, error.text);
    if (began) {
        input_press(&w->input, w->engine, w->frame, &w->camera, aspect, x, y, button != 0, grab);
    } else if (any && w->input.mode != INPUT_IDLE) {
        input_move(&w->input, w->engine, w->frame, &w->camera, aspect, x, y);
    } else if (w->input.mode != INPUT_IDLE) {
        input_release(&w->input, w->engine);
    } else {
        w->input.x = x;
        w->input.y = y;
    }
    if (w->scroll != 0 && !interface_wants_mouse(w->interface)) camera_zoom(&w->camera, pow(1.15, w->scroll));
    w->scroll = 0;
}

// --- frames -----------------------------------------------------------------------------------------------

static void show_messages(Window *w) {
    char messages[8][SAND_SENTENCE];
    int count;
    while ((count = engine_messages(w->engine, messages, 8)) > 0)
        for (int i = 0; i < count; i++) {
            fprintf(stderr, "sandglass: %s\n", messages[i]);
            panel_say(w->panel, messages[i]);
        }
    if (snapshot_done(w->snapshot, messages[0], sizeof messages[0])) panel_say(w->panel, messages[0]);
}

// Fetches the newest frame and advances the shown time within its step, so that motion is smooth between steps.
static void read_frame(Window *w, double elapsed) {
    EngineFrame *next = engine_frame(w->engine);
    if (next) {
        bool other = w->framed != next->scene_version;
        w->frame = next;
        char before[SAND_NAME];
        memcpy(before, w->scene.name, sizeof before);
        engine_scene(w->engine, &w->scene);
        if (*before && strcmp(before, w->scene.name)) w->path.count = 0; // the keys belong to the other scene
        if (other) w->reframe = REFRAME;
        w->framed = next->scene_version;
    }
    if (!w->frame) return;
    RenderScene *render_scene = &w->frame->render_scene;
    double newest = w->frame->time, step = w->frame->step_seconds;
    w->shown += w->frame->playing ? elapsed * w->panel->speed : 0;
    if (!w->frame->playing || w->shown > newest) w->shown = newest;
    if (w->shown < newest - step) w->shown = newest - step;
    w->moved = next || render_scene->back != newest - w->shown;
    render_scene->time = w->shown;
    render_scene->back = newest - w->shown;
    render_scene->map = w->panel->map;
}

// Asks for the figures of the last picked body; they come with the frames.
static void describe_picked(Window *w) {
    if (w->input.picked != w->picked && engine_ask(w->engine, &(Act){.kind = ACT_PICK, .body = w->input.picked}))
        w->picked = w->input.picked;
    w->panel->picked = w->frame->picked;
    w->panel->camera_keys = w->path.count;
}

static bool draw(Window *w, SandError *error) {
    double elapsed = frame_pacing_begin(&w->pacing, w->moved || w->input.mode != INPUT_IDLE, playing(w));
    context_size(w->context, &w->width, &w->height);
    read_frame(w, elapsed);
    if (w->frame) describe_picked(w);
    show_messages(w);
    handle_keys(w);
    read_mouse(w, elapsed);
    bool anew = false; // the scene changed and was drawn again
    film_frame(w);
    if (w->frame && w->width > 0 && w->height > 0) {
        if (w->pacing.frames == 0) frame_scene(w);
        follow_path(w);
        int width = w->width / w->pacing.coarse, height = w->height / w->pacing.coarse;
        const RenderScene *render_scene = &w->frame->render_scene;
        anew = !renderer_has(w->renderer, render_scene, &w->camera, &w->look, width, height);
        if (anew && !renderer_draw(w->renderer, render_scene, &w->camera, &w->look, width, height, error)) return false;
        engine_drawn(w->engine);
        renderer_show(w->renderer, w->width, w->height);
        double scale = w->ui_scale > 0 ? w->ui_scale : context_scale(w->context);
        interface_begin(w->interface, w->width, w->height, scale, elapsed);
        panel_draw(w->panel, w->frame, &w->scene, &w->camera, &w->look, w->width, w->height, elapsed);
        interface_end(w->interface, 0);
        if (w->reframe > 0) {
            w->reframe--;
            frame_scene(w);
            w->has_followed = false; // the user did not move it
        }
        if (w->preset) set_camera(w);
    }
    context_swap(w->context);
    if (w->first_motion == 0 && anew && w->frame->step > 0 && w->frame->kinetic > 0) w->first_motion = sand_seconds();
    context_poll(w->context, frame_pacing_rest(&w->pacing, anew && playing(w)));
    return true;
}

static void show_title(Window *w, double *next) {
    double now = sand_seconds();
    if (!w->frame || now < *next) return;
    *next = now + 0.5;
    char title[256];
    snprintf(title, sizeof title,
             "Sandglass - %s - %s - t %.2f s - %.2f x real time - %d bodies, %d contacts, residual %.2g", w->scene.name,
             sand_solver_table[w->scene.solve.solver].name, w->frame->time, w->frame->real_time_factor, w->frame->bodies,
             w->frame->counters.contacts, w->frame->counters.metrics.residual);
    glfwSetWindowTitle(w->glfw, title);
}

static bool panel_asks(void *user, const Act *act) { return engine_ask(((Window *)user)->engine, act); }
static void panel_hears(void *user, const char *sentence) {
    const WindowDef *def = ((Window *)user)->def;
    def->on_message(def->user, sentence);
}

WindowDef window_default(void) {
    return (WindowDef){.engine = engine_default(), .quality = -1, .speed = 1, .overlay = {.legend = true}};
}

// Applies the options, as if by the panel.
static void apply(Window *w, const WindowDef *def, const Settings *settings) {
    Panel *p = w->panel;
    p->color = def->color;
    ask(w, (Act){.kind = ACT_COLOR, .number = def->color});
    p->map = def->map;
    p->chains = def->chains;
    ask(w, (Act){.kind = ACT_CHAINS, .number = def->chains});
    p->overlay = def->overlay;
    p->hidden = def->hidden || settings->hidden;
    p->unfold = def->unfold;
    set_speed(w, def->speed);
    if (def->shadow) {
        p->shadow = *def->shadow;
        p->shadowing = true;
        ask(w, (Act){.kind = ACT_SHADOW, .number = 1, .solve = *def->shadow});
    }
    // The software renderer is slow: start at low quality there.
    bool software = context_is_software();
    int quality = def->quality >= 0 ? def->quality : settings->quality;
    w->look.quality = quality >= 0 ? (RendererQuality)quality : software ? QUALITY_LOW : QUALITY_HIGH;
    w->first_quality = (int)w->look.quality;
    w->kept_quality = settings->quality;
}

static bool open_window(Window *w, const WindowDef *def, SandError *error) {
    ContextDef context = context_default();
    context.window = true;
    context.title = "Sandglass";
    if (def->width) {
        context.width = def->width;
        context.height = def->height;
    }
    w->ui_scale = def->ui_scale;
    w->look = renderer_default();
    input_init(&w->input);
    w->picked = -1;
    w->context = context_create(&context, error);
    if (!w->context) return false;
    w->glfw = context_window(w->context);
    glfwSetWindowUserPointer(w->glfw, w);
    glfwSetKeyCallback(w->glfw, on_key);
    glfwSetScrollCallback(w->glfw, on_scroll);
    w->renderer = renderer_create(error);
    w->interface = w->renderer ? interface_create(w->glfw, error) : NULL;
    w->panel = w->interface ? panel_create(w->interface, error) : NULL;
    EngineDef engine = def->engine;
    engine.buffer = w->panel ? triple_buffer_create_gl(false, error) : NULL;
    w->engine = engine.buffer ? engine_create(&engine, error) : NULL;
    w->snapshot = w->engine ? snapshot_create(error) : NULL;
    if (!w->snapshot) return false;
    w->panel->keys = key_texts;
    w->panel->user = w;
    w->panel->ask = panel_asks;
    w->panel->on_message = def->on_message ? panel_hears : NULL;
    w->panel->record = panel_records;
    w->panel->screenshot = panel_takes_picture;
    w->panel->save_take = panel_saves_take;
    w->panel->add_key = panel_adds_key;
    if (def->engine.take) {
        w->path = def->engine.take->views;
        w->follow = true;
    }
    w->panel->picked.body = -1;
    w->recording = (WindowRecording){.engine = w->engine, .wanted = &w->panel->recording, .overlay = &w->panel->overlay};
    w->panel->race = engine_race(w->engine);
    Settings settings;
    if (!settings_load(&settings, error)) {
        fprintf(stderr, "sandglass: %s; defaults are used\n", error->text);
        panel_say(w->panel, error->text);
    }
    w->panel->first_start = settings.first_start;
    w->panel->bookmarks = settings.bookmarks;
    w->preset = def->camera;
    if (def->notice && *def->notice) panel_say(w->panel, def->notice);
    apply(w, def, &settings);
    return !context_is_software() || renderer_warm(w->renderer, &w->look, error);
}

// Saves the settings. A quality that the user chose is remembered; one from the options or the renderer is not.
static void remember(Window *w) {
    SandError error;
    Settings s = {.first_start = w->panel->first_start,
                  .hidden = w->panel->hidden,
                  .quality = w->kept_quality,
                  .bookmarks = w->panel->bookmarks};
    if ((int)w->look.quality != w->first_quality) s.quality = (int)w->look.quality;
    if (!settings_save(&s, &error)) fprintf(stderr, "sandglass: %s\n", error.text);
}

bool window_run(const WindowDef *def, WindowReport *report, SandError *error) {
    Window *w = calloc(1, sizeof *w);
    if (!w) return sand_fail(error, "out of memory for the window");
    w->def = def;
    bool ok = open_window(w, def, error);
    double next = 0, begin = sand_seconds();
    if (ok) frame_pacing_start(&w->pacing, context_is_software());
    while (ok && !context_closing(w->context) && !(def->should_close && def->should_close(def->user))) {
        ok = draw(w, error);
        show_title(w, &next);
    }
    if (w->context) {
        *report = (WindowReport){w->pacing.frames, sand_seconds() - begin,          frame_pacing_rate(&w->pacing),
                                 w->pacing.stall,  context_error_count(w->context), w->first_motion};
        if (ok && report->errors) ok = sand_fail(error, "the graphics driver reported: %s", context_error(w->context));
    }
    SandError closing;
    if (ok) remember(w);
    window_recording_close(&w->recording);
    // The last messages, such as that of a take saved at the end, only reach standard error.
    if (ok && def->take && !save_take(w, def->take, &closing)) fprintf(stderr, "sandglass: %s\n", closing.text);
    if (w->engine) {
        engine_stop(w->engine);
        show_messages(w);
    }
    snapshot_free(w->snapshot);
    engine_free(w->engine);
    panel_free(w->panel);
    interface_free(w->interface);
    renderer_free(w->renderer);
    context_free(w->context);
    free(w);
    return ok;
}
