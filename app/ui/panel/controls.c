// SPDX-License-Identifier: MIT
// The table of controls, and the widgets that look them up in it.
#include "app/ui/panel/controls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/cimgui.h"

// clang-format off
const Control control_table[CONTROL_COUNT] = {
    [CONTROL_SCENE] = {"Scene", "Opens another scene from the scenes folder, at its start.", "sandglass rubble"},
    [CONTROL_BODIES] = {"Bodies", "How many bodies the scene has; what holds them grows along. More look finer and cost time. The scene starts anew.", "sandglass hourglass --bodies 3000"},
    [CONTROL_START] = {"Settled", "The bodies start at rest, packed at random, and not on a lattice. Where they never did this takes some seconds; then it is kept. The scene starts anew.", "sandglass cylinder --start settled"},
    [CONTROL_KNOB] = {"Knob", "The scene starts anew when it is let go.", "sandglass drum --set rate=0.5"},
    [CONTROL_PLAY] = {"Play", "Lets time run, or stops it.", "sandglass hourglass --paused"},
    [CONTROL_STEP] = {"Step", "Takes one time step, then pauses.", "sandglass bench hourglass --warmup 0 --steps 1"},
    [CONTROL_STEP_BACK] = {"Step back", "Goes back by one time step, to the same bits as before, and pauses.", "sandglass freeze hourglass --at 0.99 --out before.sand"},
    [CONTROL_RESET] = {"Reset", "The scene from its start, with the settings as they are.", "sandglass hourglass"},
    [CONTROL_FLIP] = {"Flip", "Turns the glass over, by half a turn about the x axis.", "sandglass turned.take"},
    [CONTROL_SCRUB] = {"Time", "Goes to any step that is still remembered, and pauses. The steps after it are found again by replay, to the same bits.", "sandglass freeze hourglass --at 1 --out then.sand"},
    [CONTROL_SPEED] = {"Speed", "Simulated seconds for each second of the clock. Where the machine cannot keep up, the real-time factor says so.", "sandglass hourglass --speed 0.5"},
    [CONTROL_SOLVER] = {"Solver", "The method that finds the contact impulses of each step.", "sandglass hourglass --solver gauss-seidel"},
    [CONTROL_CITE] = {"Copy BibTeX", "Copies the references of this solver to the clipboard.", "sandglass list solvers --json"},
    [CONTROL_PARAM] = {"Parameter", "Takes effect from the next step on.", "sandglass hourglass --solver jacobi --set omega=0.3"},
    [CONTROL_FRICTION] = {"Friction", "How contacts resist sliding.", "sandglass hourglass --friction frictionless"},
    [CONTROL_BOUNDS] = {"Bounds", "Where the bounds of box, prism and cylinder come from.", "sandglass hourglass --friction box --bounds outside"},
    [CONTROL_FACETS] = {"Facets", "Of polyhedral and prism. More come nearer to the circle and cost time.", "sandglass hourglass --friction polyhedral --facets 8"},
    [CONTROL_BUDGET] = {"Budget", "What ends a solve: a number of iterations (the same result each time) or milliseconds (depends on the machine's speed); or, before that, that the step is solved to an accuracy.", "sandglass hourglass --budget-ms 5"},
    [CONTROL_ITERATIONS] = {"Iterations", "Most products with the contact operator in a solve. More cost time and lower the residual.", "sandglass hourglass --iterations 50"},
    [CONTROL_BUDGET_MS] = {"Milliseconds", "Most milliseconds of a solve. More lower the residual. The motion then depends on the machine's speed.", "sandglass hourglass --budget-ms 5"},
    [CONTROL_TOLERANCE] = {"Tolerance", "m/s; a solve stops when its residual is at most this. Lower is more exact and takes longer; 0 uses up the budget.", "sandglass hourglass --tolerance 1e-4"},
    [CONTROL_RELATIVE] = {"Relative tolerance", "The tolerance has no dimension: of the relative residual, which is the error of Siconos, in place of m/s.", "sandglass hourglass --tolerance 1e-8 --relative"},
    [CONTROL_ACCURACY] = {"Accuracy", "Percent; a solve stops when so much of the step is solved, as the gauge on the right shows, and when its budget is used up at the latest.", "sandglass hourglass --accuracy 99 --iterations 500"},
    [CONTROL_SHADOW] = {"Shadow", "A second solver on the same problem of each step. It does not touch the scene: its residual is laid over the first one's, and it costs time.", "sandglass hourglass --shadow jacobi"},
    [CONTROL_SHADOW_PARAM] = {"Parameter", "Of the shadow solver, from the next step on.", "sandglass hourglass --shadow jacobi --set shadow.omega=0.3"},
    [CONTROL_BESIDE] = {"Beside", "The same scene once more in the right half of the picture, from this step on, with this solver. Both get the same acts; the first does not notice. It costs the time of a second run.", "sandglass hourglass --beside jacobi"},
    [CONTROL_BESIDE_FRICTION] = {"Friction", "Of the second run.", "sandglass hourglass --beside-friction frictionless"},
    [CONTROL_BESIDE_ITERATIONS] = {"Iterations", "Most products with the contact operator in a solve of the second run.", "sandglass hourglass --beside jacobi --beside-iterations 10"},
    [CONTROL_BESIDE_PARAM] = {"Parameter", "Of the solver of the second run, from the next step on.", "sandglass hourglass --beside jacobi --set beside.omega=0.3"},
    [CONTROL_RACE_SOLVER] = {"Solvers", "Who takes part in the race. Dim: it cannot do this friction.", "sandglass race hourglass --at 1 --solvers p-spg-fb,ipm-soc"},
    [CONTROL_RACE_ITERATIONS] = {"Iterations", "Budget of each solver in the race. More takes longer.", "sandglass race hourglass --at 1 --iterations 200"},
    [CONTROL_RACE_COLD] = {"Cold start", "All start from no impulses at all, not from those of the step before.", "sandglass race hourglass --at 1 --cold"},
    [CONTROL_RACE] = {"Race", "Freezes the step on the screen and lets the solvers run in turn on its contact problem, over the picture, on the device that the scene runs on where they can.", "sandglass race hourglass --at 1 --plot race.png"},
    [CONTROL_RACE_SHOW] = {"Show the race", "Shows its curves over the picture again.", "sandglass race hourglass --at 1 --plot race.png"},
    [CONTROL_RACE_AGAIN] = {"Again", "Races on the step on the screen.", "sandglass race hourglass --at 1"},
    [CONTROL_RACE_CANCEL] = {"Cancel", "Ends the race with what there is.", "sandglass race hourglass --at 1 --budget-ms 100"},
    [CONTROL_RACE_CLOSE] = {"Close", "Back to the scene; a race that still runs goes on.", "sandglass hourglass"},
    [CONTROL_RACE_QUANTITY] = {"Curves", "What is plotted: the residual (m/s), or the objective (J) above the least that is known.", "sandglass race hourglass --at 1 --csv race.csv"},
    [CONTROL_RACE_AGAINST] = {"Against", "The horizontal axis: iterations, or seconds of the solve.", "sandglass race hourglass --at 1 --csv race.csv"},
    [CONTROL_RACE_CURVE] = {"Curve", "Shows or hides the curve of this solver.", "sandglass race hourglass --at 1 --solvers p-spg-fb,apgd"},
    [CONTROL_RACE_PNG] = {"PNG", "Saves this plot as a PNG picture on white, in the folder of the recordings.", "sandglass race hourglass --at 1 --plot race.png"},
    [CONTROL_RACE_SVG] = {"SVG", "Saves this plot as an SVG drawing, for papers, in the folder of the recordings.", "sandglass race hourglass --at 1 --plot race.png"},
    [CONTROL_RACE_CSV] = {"CSV", "Saves the numbers of this plot as a CSV file in the folder of the recordings.", "sandglass race hourglass --at 1 --csv race.csv"},
    [CONTROL_GRAVITY] = {"Gravity", "m/s\xc2\xb2; strength of gravity. 9.81 on Earth, 1.62 on the Moon.", "sandglass hourglass --gravity 0,0,-1.62"},
    [CONTROL_TILT] = {"Tilt", "Degrees that gravity leans from straight down, as if the whole scene were tilted.", "sandglass hourglass --gravity 1.7,0,-9.66"},
    [CONTROL_TOWARDS] = {"Towards", "Degrees from the x axis to the y axis: which way gravity leans.", "sandglass hourglass --gravity 0,1.7,-9.66"},
    [CONTROL_BACKEND] = {"Runs on", "The device that computes, its threads, and the numbers of the solver. The scene can move to another while it runs; the bits differ there.", "sandglass hourglass --backend cpu --threads 2 --precision double"},
    [CONTROL_COLOR] = {"Color", "What the bodies' color shows. Speed in m/s, force in N, residual of the body's contacts in m/s; the legend has the scale.", "sandglass hourglass --color speed"},
    [CONTROL_COLORMAP] = {"Color map", "The colors of numbers. Cividis looks the same to eyes that tell no red from green.", "sandglass hourglass --color speed --colormap cividis"},
    [CONTROL_RANGE] = {"Range", "What the ends of the color map mean: fixed by the scene, fitted to each picture, or held as it is now.", "sandglass hourglass --color force --range fit"},
    [CONTROL_CHAINS] = {"Force chains", "Draws every contact from body to body, as wide and bright as its normal force (N) is strong, seen through the bodies.", "sandglass hourglass --chains"},
    [CONTROL_CHAIN_THRESHOLD] = {"Threshold", "Contacts with less than this share of the largest force are left out of the force chains.", "sandglass hourglass --chains --chain-threshold 0.1"},
    [CONTROL_CHAIN_SCALE] = {"Width", "Factor of the width of the force chains.", "sandglass hourglass --chains --chain-scale 2"},
    [CONTROL_CUT] = {"Cut", "Hides the bodies and chains in front of a plane through the scene, so that its inside is seen.", "sandglass hourglass --chains --cut 0,-1,0,0"},
    [CONTROL_EXPOSURE] = {"Exposure", "Brightness of the picture.", "sandglass hourglass --exposure 1.5"},
    [CONTROL_QUALITY] = {"Quality", "Of shadows and ambient light. Lower draws faster.", "sandglass hourglass --quality medium"},
    [CONTROL_SAMPLES] = {"Samples", "Samples of each pixel. More smooth the edges of glass and meshes, and draw slower.", "sandglass record hourglass --samples 4 --out frames"},
    [CONTROL_CLOCK] = {"Clock", "Shows the simulated time, in seconds, in the picture.", "sandglass record hourglass --overlay clock --out frames"},
    [CONTROL_LEGEND] = {"Legend", "Shows the scale of the colors in the picture.", "sandglass record hourglass --overlay legend --out frames"},
    [CONTROL_RESIDUAL] = {"Residual", "Shows the residual of the step against the iteration, in m/s, as a plot in the picture.", "sandglass record hourglass --overlay residual --out frames"},
    [CONTROL_VIEW] = {"View", "Frames the whole scene from here. The last three are without perspective.", "sandglass hourglass --camera top"},
    [CONTROL_BOOKMARK] = {"Bookmark", "Goes to the view that was kept. It is remembered from one start to the next.", "sandglass hourglass --camera 1,-3,2,0,0,1"},
    [CONTROL_BOOKMARK_ADD] = {"Keep view", "Keeps the view as it is now, under the next free number below.", "sandglass hourglass --camera 1,-3,2,0,0,1"},
    [CONTROL_BOOKMARK_REMOVE] = {"Forget", "Forgets the last view that was kept.", "sandglass hourglass --camera default"},
    [CONTROL_CAMERA_COPY] = {"Copy view", "Copies the view to the clipboard as an option of the command line.", "sandglass hourglass --camera 1,-3,2,0,0,1"},
    [CONTROL_FOLLOW] = {"Follow", "The camera moves with the vehicle, or stays where it is.", "sandglass rover --follow off"},
    [CONTROL_TAKE] = {"Save take", "Saves the run so far as a take: scene, settings, camera keys and every act with its step. Played or filmed, it gives the same bits.", "sandglass hourglass --take hourglass.take"},
    [CONTROL_CAMERA_KEY] = {"Camera key", "The film of the take sees the scene from here at this time; between keys the camera moves smoothly.", "sandglass record hourglass --camera-key 0=front --camera-key 4=high --out frames"},
    [CONTROL_FOLDER] = {"Folder", "Where frames, films, pictures and saved plots go. Created if missing; nothing in it is overwritten.", "sandglass record hourglass --out frames"},
    [CONTROL_OPEN_FOLDER] = {"Open folder", "Opens the folder in the file manager.", "sandglass record hourglass --out frames"},
    [CONTROL_FORMAT] = {"Format", "PNG frames, or a film by ffmpeg.", "sandglass record hourglass --mp4 hourglass.mp4"},
    [CONTROL_FPS] = {"Frames/s", "Frames for each simulated second. The film is smooth however slowly the scene runs.", "sandglass record hourglass --fps 60 --out frames"},
    [CONTROL_SIZE] = {"Size", "Pixels of the picture, whatever the window's size.", "sandglass record hourglass --size 1920x1080 --out frames"},
    [CONTROL_RECORD] = {"Record", "Starts or ends a recording of what is seen, without the panel, at high quality. A film counts simulated time: while a picture of it is drawn, time stands still.", "sandglass record hourglass --out frames"},
    [CONTROL_SCREENSHOT] = {"Picture", "Saves a PNG of what is on the screen, without the panel, in the folder above.", "sandglass record hourglass --frames 1 --out frames"},
    [CONTROL_SAVE_CSV] = {"CSV", "Saves the numbers of this plot as a CSV file in the folder of the recordings.", "sandglass run hourglass --headless --log hourglass.csv"},
    [CONTROL_PROBE] = {"Probe", "What to measure: a name, a kind and where. For example `slope surface lower=-1,-1,0 upper=1,1,2 cells=8,1,1`, `floor force boundary=floor` or `e energy`.", "sandglass hourglass --probes measured --probe=PROBE"},
    [CONTROL_PROBE_ADD] = {"Add", "Measures this from now on.", "sandglass hourglass --probes measured --probe=PROBE"},
    [CONTROL_SAVE_PNG] = {"PNG", "Saves this plot as a PNG picture on white, in the folder of the recordings.", "sandglass record hourglass --overlay residual --out frames"},
    [CONTROL_HELP] = {"Keys", "All keys and what the mouse does.", "sandglass --help"},
    [CONTROL_HIDE] = {"Hide", "Hides the panel; Tab brings it back.", "sandglass hourglass --panel off"},
    [CONTROL_CANCEL] = {"Cancel", "Ends it: the step is not taken and the scene stands still, or the scene that was open goes on.", "sandglass hourglass --bodies 5000"},
    [CONTROL_CLOSE_SAVE] = {"Save and close", "Ends the film, saves the run as a take, and closes.", "sandglass hourglass --take hourglass.take"},
    [CONTROL_CLOSE_NOW] = {"Close", "Closes without saving the run; a film is ended and kept.", "sandglass hourglass"},
    [CONTROL_CLOSE_STAY] = {"Go on", "Back to the window.", "sandglass hourglass"},
    [CONTROL_CLOSE_ASK] = {"Ask every time", "Asks before a film or a run would be lost.", "sandglass hourglass"},
};
// clang-format on

static ControlPlace *watched;
void control_watch(ControlPlace *places) { watched = places; }

static void note_place(ControlId id, bool used) {
    if (!watched) return;
    ImVec2 low, high;
    igGetItemRectMin(&low);
    igGetItemRectMax(&high);
    ControlPlace *place = &watched[id];
    place->used += used;
    if (place->frame == igGetFrameCount()) return;
    place->frame = igGetFrameCount();
    place->x = 0.5 * (low.x + high.x);
    place->y = 0.5 * (low.y + high.y);
    place->width = high.x - low.x;
    place->height = high.y - low.y;
    place->hovered = igIsItemHovered(0);
    place->held = igIsItemActive();
    place->open = false;
    place->drawn = true;
}

// Notes an entry of an open list, if it is the one that the test wants.
static void note_entry(ControlId id, const char *label, bool selected, bool enabled, bool used) {
    static bool after; // the previous entry was the selected one
    ControlPlace *place = &watched[id];
    bool wanted =
        *place->wanted_entry ? !strcmp(label, place->wanted_entry) : enabled && !selected && (after || !place->open);
    after = selected;
    place->used += used;
    if (!wanted || !igIsItemVisible()) return;
    ImVec2 low, high;
    igGetItemRectMin(&low);
    igGetItemRectMax(&high);
    place->entry_x = 0.5 * (low.x + high.x);
    place->entry_y = low.y + 3; // near its top: the last entry may be cut off
    place->on_entry = igIsItemHovered(0);
    place->held = igIsItemActive();
    place->open = true;
}

bool control_entry(ControlId id, const char *label, bool selected, bool enabled) {
    igBeginDisabled(!enabled);
    bool picked = igSelectable_Bool(label, selected, 0, (ImVec2){0, 0});
    igEndDisabled();
    if (watched) note_entry(id, label, selected, enabled, picked);
    return picked && !selected;
}

static const char *call; // of the next control, in place of that of the table

void control_call(const char *command_line) { call = command_line; }

static void show_tip(ControlId id, const char *more) {
    if (!igIsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || igIsItemActive()) return;
    igPushStyleVar_Float(ImGuiStyleVar_Alpha, 1); // a disabled control must not fade its tooltip
    igBeginTooltip();
    igPushTextWrapPos(24 * igGetFontSize());
    if (more && *more) {
        igTextUnformatted(more, NULL);
        igSpacing();
    }
    igTextUnformatted(control_table[id].tip, NULL);
    igSpacing();
    igPushStyleColor_U32(ImGuiCol_Text, 0xffc4bab0u);
    igTextUnformatted(call ? call : control_table[id].command_line, NULL);
    igPopStyleColor(1);
    igPopTextWrapPos();
    igEndTooltip();
    igPopStyleVar(1);
}

bool control_end(ControlId id, bool used, const char *more) {
    note_place(id, used);
    show_tip(id, more);
    call = NULL;
    return used;
}

void control_row(const char *label) {
    igAlignTextToFramePadding();
    igTextUnformatted(label, NULL);
    igSameLine(7.2f * igGetFontSize(), -1);
    igSetNextItemWidth(-1e-6f); // up to the right edge
}

// Widget ids are made of control and label: a button may have the name of a section, and sliders of two sections the same
// label.
static void push_name(ControlId id, const char *label) {
    igPushID_Int((int)id);
    igPushID_Str(label);
}

static void pop_name(void) {
    igPopID();
    igPopID();
}

bool control_button(ControlId id, const char *label, float width) {
    igPushID_Int((int)id);
    bool pressed = igButton(label ? label : control_table[id].label, (ImVec2){width, 0});
    igPopID();
    return control_end(id, pressed, NULL);
}

bool control_check_as(ControlId id, const char *label, bool *value) {
    igPushID_Int((int)id);
    bool changed = igCheckbox(label, value);
    igPopID();
    return control_end(id, changed, NULL);
}

bool control_check(ControlId id, bool *value) { return control_check_as(id, control_table[id].label, value); }

bool control_slider(ControlId id, const char *label, double *value, double least, double most, const char *format,
                    bool logarithmic, const char *more) {
    if (!label) label = control_table[id].label;
    control_row(label);
    push_name(id, label);
    bool changed = igSliderScalar("##value", ImGuiDataType_Double, value, &least, &most, format,
                                  ImGuiSliderFlags_AlwaysClamp | ImGuiSliderFlags_NoRoundToFormat |
                                      (logarithmic ? ImGuiSliderFlags_Logarithmic : 0));
    pop_name();
    return control_end(id, changed, more);
}

bool control_integer(ControlId id, const char *label, int *value, int least, int most, bool logarithmic, const char *more) {
    if (!label) label = control_table[id].label;
    control_row(label);
    push_name(id, label);
    bool changed = igSliderInt("##value", value, least, most, "%d",
                               ImGuiSliderFlags_AlwaysClamp | (logarithmic ? ImGuiSliderFlags_Logarithmic : 0));
    pop_name();
    return control_end(id, changed, more);
}

bool control_begin_choice(ControlId id, const char *label, const char *now, const char *more) {
    if (!label) label = control_table[id].label;
    control_row(label);
    char id_text[96]; // an id pushed here would be popped in the list's own window
    snprintf(id_text, sizeof id_text, "##%d %s", (int)id, label);
    bool open = igBeginCombo(id_text, now, ImGuiComboFlags_HeightLargest); // lists show all that there is
    if (watched) snprintf(watched[id].shown, sizeof watched[id].shown, "%s", now);
    if (!open) control_end(id, false, more);
    if (open && watched) watched[id].open = watched[id].on_entry = false; // until its entries are drawn
    return open;
}

bool control_choice(ControlId id, const char *label, int *value, const char *const *names, int count, const char *more) {
    bool changed = false;
    int now = *value;
    if (!control_begin_choice(id, label, names[now], more)) return false;
    for (int i = 0; i < count; i++)
        if (control_entry(id, names[i], i == now, true)) {
            *value = i;
            changed = true;
        }
    igEndCombo();
    return changed;
}

bool control_text(ControlId id, char *text, int size) {
    control_row(control_table[id].label);
    igPushID_Int((int)id);
    bool changed = igInputText("##value", text, (size_t)size, 0, NULL, NULL);
    igPopID();
    return control_end(id, changed, NULL);
}
