// Every control of the panel: its label, what its tooltip says, and the call that does the same from the command line. No
// control is drawn that is not here; a test walks the table and parses every call.
#pragma once
#include <stdbool.h>

typedef enum ControlId {
    CONTROL_SCENE,
    CONTROL_BODIES,
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
    CONTROL_SHADOW,
    CONTROL_SHADOW_PARAM,
    CONTROL_RACE_SOLVER,
    CONTROL_RACE_ITERATIONS,
    CONTROL_RACE_COLD,
    CONTROL_RACE,
    CONTROL_RACE_CANCEL,
    CONTROL_GRAVITY,
    CONTROL_TILT,
    CONTROL_TOWARDS,
    CONTROL_BACKEND,
    CONTROL_COLOR,
    CONTROL_COLORMAP,
    CONTROL_CHAINS,
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
    CONTROL_TAKE,
    CONTROL_CAMERA_KEY,
    CONTROL_FOLDER,
    CONTROL_FORMAT,
    CONTROL_FPS,
    CONTROL_SIZE,
    CONTROL_RECORD,
    CONTROL_SCREENSHOT,
    CONTROL_SAVE_CSV,
    CONTROL_SAVE_PNG,
    CONTROL_HELP,
    CONTROL_HIDE,
    CONTROL_COUNT
} ControlId;

typedef struct Control {
    const char *label;
    const char *tip;  // unit and effect
    const char *twin; // the same from the command line
} Control;
extern const Control control_table[CONTROL_COUNT];

// After a widget: notes whether it was used, which it returns, and shows the control's tooltip when the mouse rests on it.
// `more` comes above that; NULL: nothing.
bool control_end(ControlId id, bool used, const char *more);

// Widgets with label to the left and tooltip; true when the value changed. A label of NULL takes the control's.
bool control_button(ControlId id, const char *label, float width);
bool control_check(ControlId id, bool *value);
bool control_check_as(ControlId id, const char *label, bool *value); // one of several with the same control
bool control_slider(ControlId id, const char *label, double *value, double least, double most, const char *format,
                    bool logarithmic, const char *more);
bool control_integer(ControlId id, const char *label, int *value, int least, int most, bool logarithmic, const char *more);
bool control_choice(ControlId id, const char *label, int *value, const char *const *names, int count, const char *more);
bool control_text(ControlId id, char *text, int size);
bool control_begin_choice(ControlId id, const char *label, const char *now,
                          const char *more);                                      // then entries, then igEndCombo
bool control_entry(ControlId id, const char *label, bool selected, bool enabled); // of an open list; true: it was picked
void control_row(const char *label); // puts a label and leaves the cursor where the widget goes, with its width set

// For tests: notes what became of the widget of each control, in an array of CONTROL_COUNT; NULL ends it. Of several with
// one name the first counts.
typedef struct ControlPlace {
    char wish[32]; // by who watches: the entry of the list to be shown; empty: the one after the selected
    bool drawn;
    int frame;               // in which it was drawn last
    double x, y;             // pixels, of its middle
    bool hovered;            // the mouse is on it, and it can be used
    bool held;               // by the mouse, or its entry is
    int used;                // times that it was pressed or changed
    char shown[48];          // of a list: the entry that is selected
    bool open;               // its list is, with the entry in sight
    double entry_x, entry_y; // pixels, a place on that entry
    bool on_entry;           // the mouse is
} ControlPlace;
void control_watch(ControlPlace *places);
