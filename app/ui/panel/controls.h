// SPDX-License-Identifier: MIT
// Every control of the panel: label, tooltip, and the command line that does the same. No control is drawn that is not in
// the table; a test walks it and parses every command line.
#pragma once
#include <stdbool.h>

typedef enum ControlId {
    CONTROL_SCENE,
    CONTROL_BODIES,
    CONTROL_START,
    CONTROL_KNOB,
    CONTROL_PLAY,
    CONTROL_STEP,
    CONTROL_STEP_BACK,
    CONTROL_RESET,
    CONTROL_FLIP,
    CONTROL_SCRUB,
    CONTROL_SPEED,
    CONTROL_SOLVER,
    CONTROL_CITE,
    CONTROL_PARAM,
    CONTROL_FRICTION,
    CONTROL_BOUNDS,
    CONTROL_FACETS,
    CONTROL_BUDGET,
    CONTROL_ITERATIONS,
    CONTROL_BUDGET_MS,
    CONTROL_TOLERANCE,
    CONTROL_RELATIVE,
    CONTROL_ACCURACY,
    CONTROL_SHADOW,
    CONTROL_SHADOW_PARAM,
    CONTROL_BESIDE,
    CONTROL_BESIDE_FRICTION,
    CONTROL_BESIDE_ITERATIONS,
    CONTROL_BESIDE_PARAM,
    CONTROL_RACE_SOLVER,
    CONTROL_RACE_ITERATIONS,
    CONTROL_RACE_COLD,
    CONTROL_RACE,
    CONTROL_RACE_SHOW,
    CONTROL_RACE_AGAIN,
    CONTROL_RACE_CANCEL,
    CONTROL_RACE_CLOSE,
    CONTROL_RACE_QUANTITY,
    CONTROL_RACE_AGAINST,
    CONTROL_RACE_CURVE,
    CONTROL_RACE_PNG,
    CONTROL_RACE_SVG,
    CONTROL_RACE_CSV,
    CONTROL_PROBE,
    CONTROL_PROBE_ADD,
    CONTROL_GRAVITY,
    CONTROL_TILT,
    CONTROL_TOWARDS,
    CONTROL_BACKEND,
    CONTROL_COLOR,
    CONTROL_COLORMAP,
    CONTROL_RANGE,
    CONTROL_CHAINS,
    CONTROL_CHAIN_THRESHOLD,
    CONTROL_CHAIN_SCALE,
    CONTROL_CUT,
    CONTROL_EXPOSURE,
    CONTROL_QUALITY,
    CONTROL_SAMPLES,
    CONTROL_CLOCK,
    CONTROL_LEGEND,
    CONTROL_RESIDUAL,
    CONTROL_VIEW,
    CONTROL_BOOKMARK,
    CONTROL_BOOKMARK_ADD,
    CONTROL_BOOKMARK_REMOVE,
    CONTROL_CAMERA_COPY,
    CONTROL_FOLLOW,
    CONTROL_TAKE,
    CONTROL_CAMERA_KEY,
    CONTROL_FOLDER,
    CONTROL_OPEN_FOLDER,
    CONTROL_FORMAT,
    CONTROL_FPS,
    CONTROL_SIZE,
    CONTROL_RECORD,
    CONTROL_SCREENSHOT,
    CONTROL_SAVE_CSV,
    CONTROL_SAVE_PNG,
    CONTROL_HELP,
    CONTROL_HIDE,
    CONTROL_CANCEL,
    CONTROL_CLOSE_SAVE,
    CONTROL_CLOSE_NOW,
    CONTROL_CLOSE_STAY,
    CONTROL_CLOSE_ASK,
    CONTROL_COUNT
} ControlId;

typedef struct Control {
    const char *label;
    const char *tip;          // unit and effect
    const char *command_line; // the same from the command line
} Control;
extern const Control control_table[CONTROL_COUNT];

// Call it after a widget: shows the tooltip of the control under the mouse, with `more` above it (NULL: nothing), and
// returns `used`.
bool control_end(ControlId id, bool used, const char *more);

// Widgets with label to the left and tooltip; true when the value changed. A label of NULL takes the control's.
bool control_button(ControlId id, const char *label, float width);
bool control_check(ControlId id, bool *value);
bool control_check_as(ControlId id, const char *label, bool *value); // one of several with the same control
// The call of the command line that the tooltip of the next control shows, in place of that of the table.
void control_call(const char *command_line);
bool control_slider(ControlId id, const char *label, double *value, double least, double most, const char *format,
                    bool logarithmic, const char *more);
bool control_integer(ControlId id, const char *label, int *value, int least, int most, bool logarithmic, const char *more);
bool control_choice(ControlId id, const char *label, int *value, const char *const *names, int count, const char *more);
bool control_text(ControlId id, char *text, int size);
bool control_begin_choice(ControlId id, const char *label, const char *now, const char *more); // entries, igEndCombo follow
bool control_entry(ControlId id, const char *label, bool selected, bool enabled); // of an open list; true: it was picked
void control_row(const char *label); // draws a label, and sets position and width of the next widget

// For tests: notes place and state of the widget of each control, in an array of CONTROL_COUNT; NULL ends it. Of several
// widgets of one control the first counts.
typedef struct ControlPlace {
    char wanted_entry[32]; // set by the test: the entry of the list that it wants; empty: the one after the selected
    bool drawn;
    int frame;               // number of the last frame in which it was drawn
    double x, y;             // pixels, center
    double width, height;    // pixels
    bool hovered;            // by the mouse, and enabled
    bool held;               // it, or its entry, is held by the mouse
    int used;                // times that it was pressed or changed
    char shown[48];          // of a list: the entry that is selected
    bool open;               // its list is open, and the wanted entry is visible
    double entry_x, entry_y; // pixels, a point on that entry
    bool on_entry;           // the mouse is on it
} ControlPlace;
void control_watch(ControlPlace *places);
