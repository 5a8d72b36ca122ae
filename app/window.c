// The window: draws the newest frame of the engine at its own instant, and turns keys and mouse into requests. It never
// waits for the simulation.
#include "verbs.h"

#include "context.h"
#include "hands.h"
#include "png.h"
#include "renderer.h"
#include "sim/team.h"
#include "window.h"

#include <GLFW/glfw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Window {
    Context *context;
    GLFWwindow *glfw;
    Renderer *renderer;
    Engine *engine;
    EngineScene scene;
    Frame *frame; // the newest, or NULL before the first
    Camera camera;
    RendererDef look;
    Hands hands;
    PictureColor color;
    int width, height; // of the framebuffer
    double speed;      // simulated seconds for each second
    double shown;      // s, the instant on the screen
    double last;       // s, wall clock of the last frame
    double scroll;     // turns of the wheel since the last frame
    bool keys[GLFW_KEY_LAST + 1], pressed[GLFW_KEY_LAST + 1]; // held, and gone down since the last frame
    bool buttons[3];
    bool help;
    double stall; // s, longest time between two frames
    int64_t drawn;
} Window;

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
    hands_throw(w->engine, w->frame, &w->camera, (double)w->width / w->height, w->hands.x, w->hands.y);
}
static void next_color(Window *w) {
    w->color = (w->color + 1) % PICTURE_COLOR_COUNT;
    ask(w, (Act){.kind = ACT_COLOR, .number = w->color});
}
static void next_solver(Window *w) {
    Act act = {.kind = ACT_SOLVE, .solve = w->scene.solve};
    sand_solve_choose(&act.solve, (w->scene.solve.solver + 1) % sand_solver_count);
    ask(w, act);
}
static void faster(Window *w) { ask(w, (Act){.kind = ACT_SPEED, .number = w->speed = fmin(8, 2 * w->speed)}); }
static void slower(Window *w) { ask(w, (Act){.kind = ACT_SPEED, .number = w->speed = fmax(1.0 / 64, 0.5 * w->speed)}); }
static void next_quality(Window *w) { w->look.quality = (w->look.quality + 1) % QUALITY_COUNT; }
static void toggle_help(Window *w) { w->help = !w->help; }
static void close_window(Window *w) { context_close(w->context); }
static void frame_scene(Window *w) {
    if (w->frame)
        camera_frame(&w->camera, camera_preset_names[0], w->frame->picture.lower, w->frame->picture.upper, (double)w->width / w->height);
}

// All keys, in the order in which the help shows them.
static const struct Key {
    int key;
    const char *name, *text;
    void (*act)(Window *w);
} keys[] = {
    {GLFW_KEY_SPACE, "Space", "run or pause", play_or_pause},
    {GLFW_KEY_PERIOD, ".", "one step forward", step},
    {GLFW_KEY_COMMA, ",", "one step back", step_back},
    {GLFW_KEY_R, "R", "the scene from its start", reset},
    {GLFW_KEY_F, "F", "turn the glass over", flip},
    {GLFW_KEY_B, "B", "throw a heavy ball", throw_ball},
    {GLFW_KEY_S, "S", "the next solver", next_solver},
    {GLFW_KEY_C, "C", "the next colour mode", next_color},
    {GLFW_KEY_Q, "Q", "the next quality of the picture", next_quality},
    {GLFW_KEY_HOME, "Home", "see the whole scene", frame_scene},
    {GLFW_KEY_EQUAL, "+", "time runs faster", faster},
    {GLFW_KEY_MINUS, "-", "time runs slower", slower},
    {GLFW_KEY_F1, "F1", "all keys", toggle_help},
    {GLFW_KEY_ESCAPE, "Esc", "close", close_window},
};

static void on_key(GLFWwindow *glfw, int key, int code, int action, int mods) {
    (void)code, (void)mods;
    Window *w = glfwGetWindowUserPointer(glfw);
    if (key < 0 || key > GLFW_KEY_LAST) return;
    if (action == GLFW_PRESS || action == GLFW_REPEAT) w->pressed[key] = true;
    w->keys[key] = action != GLFW_RELEASE;
}

static void on_scroll(GLFWwindow *glfw, double x, double y) {
    (void)x;
    ((Window *)glfwGetWindowUserPointer(glfw))->scroll += y;
}

static void take_keys(Window *w) {
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (w->pressed[keys[k].key]) keys[k].act(w);
    memset(w->pressed, 0, sizeof w->pressed);
}

// --- mouse ------------------------------------------------------------------------------------------------

// Left: orbit, or draw a body along with Ctrl; right or middle: shift; wheel: closer.
static void take_mouse(Window *w) {
    double x, y, aspect = (double)w->width / w->height;
    int wide, high;
    glfwGetCursorPos(w->glfw, &x, &y);
    glfwGetWindowSize(w->glfw, &wide, &high); // the cursor is in screen units, not in pixels
    x /= wide > 0 ? wide : 1, y = 1 - y / (high > 0 ? high : 1);
    bool any = false, began = false;
    int button = 0;
    for (int b = 0; b < 3; b++) {
        bool down = glfwGetMouseButton(w->glfw, b) == GLFW_PRESS;
        if (down && !w->buttons[b]) began = true, button = b;
        w->buttons[b] = down;
        any = any || down;
    }
    bool grab = w->keys[GLFW_KEY_LEFT_CONTROL] || w->keys[GLFW_KEY_RIGHT_CONTROL];
    if (began) hands_press(&w->hands, w->engine, w->frame, &w->camera, aspect, x, y, button != 0, grab);
    else if (any) hands_move(&w->hands, w->engine, w->frame, &w->camera, aspect, x, y);
    else if (w->hands.mode != HANDS_IDLE) hands_release(&w->hands, w->engine);
    else w->hands.x = x, w->hands.y = y;
    if (w->scroll != 0) camera_zoom(&w->camera, pow(1.15, w->scroll));
    w->scroll = 0;
}

// --- frames -----------------------------------------------------------------------------------------------

static void print_messages(Window *w) {
    char messages[8][SAND_SENTENCE];
    int count;
    while ((count = engine_messages(w->engine, messages, 8)) > 0)
        for (int i = 0; i < count; i++) fprintf(stderr, "sandglass: %s\n", messages[i]);
}

// The newest frame, and the instant within its step to show: time goes on evenly between the steps of the engine.
static void take_frame(Window *w, double elapsed) {
    Frame *next = engine_frame(w->engine);
    if (next) {
        bool other = !w->frame || w->scene.version != next->scene_version;
        w->frame = next;
        if (other) {
            engine_scene(w->engine, &w->scene);
            if (w->drawn == 0 || next->step == 0) frame_scene(w);
        }
    }
    if (!w->frame) return;
    Picture *picture = &w->frame->picture;
    double newest = w->frame->time, step = w->frame->step_seconds;
    w->shown += w->frame->playing ? elapsed * w->speed : 0;
    if (!w->frame->playing || w->shown > newest) w->shown = newest;
    if (w->shown < newest - step) w->shown = newest - step;
    picture->time = w->shown;
    picture->back = newest - w->shown;
}

static bool draw(Window *w, SandError *error) {
    double now = sand_seconds(), elapsed = now - w->last;
    w->last = now;
    if (w->drawn > 10 && elapsed > w->stall) w->stall = elapsed;
    context_poll(w->context);
    context_size(w->context, &w->width, &w->height);
    take_frame(w, elapsed);
    print_messages(w);
    take_keys(w);
    take_mouse(w);
    if (w->frame && w->width > 0 && w->height > 0) {
        if (!renderer_draw(w->renderer, &w->frame->picture, &w->camera, &w->look, w->width, w->height, error)) return false;
        renderer_show(w->renderer, w->width, w->height);
    }
    context_swap(w->context);
    w->drawn++;
    return true;
}

static void show_title(Window *w, double *next) {
    double now = sand_seconds();
    if (!w->frame || now < *next) return;
    *next = now + 0.5;
    char title[256];
    snprintf(title, sizeof title, "Sandglass - %s - %s - t %.2f s - %.2f x real time - %d bodies, %d contacts, residual %.2g",
             w->scene.name, sand_solver_table[w->scene.solve.solver].name, w->frame->time, w->frame->real_time_factor,
             w->frame->bodies, w->frame->counters.contacts, w->frame->counters.metrics.residual);
    glfwSetWindowTitle(w->glfw, title);
}

static bool open_window(Window *w, const EngineDef *def, SandError *error) {
    ContextDef context = context_default();
    context.window = true;
    context.title = "Sandglass";
    w->look = renderer_default();
    w->speed = 1;
    hands_init(&w->hands);
    w->context = context_create(&context, error);
    if (!w->context) return false;
    w->glfw = context_window(w->context);
    glfwSetWindowUserPointer(w->glfw, w);
    glfwSetKeyCallback(w->glfw, on_key);
    glfwSetScrollCallback(w->glfw, on_scroll);
    w->renderer = renderer_create(error);
    w->engine = w->renderer ? engine_create(def, error) : NULL;
    return w->engine != NULL;
}

bool window_run(const EngineDef *def, WindowReport *report, SandError *error) {
    Window *w = calloc(1, sizeof *w);
    if (!w) return sand_fail(error, "out of memory for the window");
    bool ok = open_window(w, def, error);
    double next = 0, begin = sand_seconds();
    w->last = begin;
    while (ok && !context_closing(w->context) && !session_interrupted()) {
        ok = draw(w, error);
        show_title(w, &next);
    }
    if (w->context) {
        *report = (WindowReport){w->drawn, sand_seconds() - begin, w->stall, context_error_count(w->context)};
        if (ok && report->errors) ok = sand_fail(error, "the graphics driver reported: %s", context_error(w->context));
    }
    engine_free(w->engine);
    renderer_free(w->renderer);
    context_free(w->context);
    free(w);
    return ok;
}
