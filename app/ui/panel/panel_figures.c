// SPDX-License-Identifier: MIT
// The right column: how the step went, in words and numbers, and the plots.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/ui/card.h"
#include "app/ui/cimgui.h"
#include "app/ui/panel/panel_parts.h"
#include "sim/core/array.h"

static const ImU32 FAINT = 0xffbaada4u, AMBER = 0xff34b1f2u, GREEN = 0xff94d06au, RED = 0xff6a6affu;

// --- words --------------------------------------------------------------------------------------------------

static void colored(ImU32 color, const char *text) {
    igPushStyleColor_U32(ImGuiCol_Text, color);
    igPushTextWrapPos(0);
    igTextUnformatted(text, NULL);
    igPopTextWrapPos();
    igPopStyleColor(1);
}

static void warn(const char *text) {
    char line[256];
    snprintf(line, sizeof line, "Warning: %s", text);
    colored(AMBER, line);
}

// Warnings that hold for the whole run. What changes from step to step is shown in lines that are always there, so that the
// plots do not move.
static void draw_warnings(const Panel *panel, const EngineFrame *frame) {
    const SandCounters *c = &frame->counters;
    char text[200];
    if (c->lost_total > 0) {
        snprintf(text, sizeof text, "%d %s left the world or went astray, and %s taken out.", c->lost_total,
                 c->lost_total == 1 ? "body" : "bodies", c->lost_total == 1 ? "was" : "were");
        warn(text);
    }
    if (c->infeasible_total > 0) {
        snprintf(text, sizeof text, "%d %s no solution: bodies are pressed from opposite sides.", c->infeasible_total,
                 c->infeasible_total == 1 ? "step had" : "steps had");
        warn(text);
    }
    if (panel->by_time) warn("with a budget in milliseconds no two runs are alike.");
}

// A number with its unit and an SI prefix.
static void with_unit(char *text, size_t size, const char *unit, double value) {
    PlotAxis axis = {.name = "", .unit = unit};
    if (value == 0)
        snprintf(text, size, "0 %s", unit);
    else
        plot_number(&axis, value, text, size);
}

// --- the headline -------------------------------------------------------------------------------------------

// What is wrong with the physics of a step, in a few words; false: nothing is. A residual is a velocity: as large as what
// gravity adds in a step, it means that the contacts carry nothing. Bodies that overlap by a tenth of their radius are no
// longer hard.
static bool find_alarm(const PanelView *view, char *text, size_t size) {
    const EngineFrame *frame = view->frame;
    const SandCounters *c = &frame->counters;
    double fall = v3_length(view->scene->gravity) * frame->step_seconds, grain = frame->render_scene.grain;
    if (c->contacts == 0 || frame->step == 0) return false;
    char number[48];
    if (c->status == SAND_INFEASIBLE) {
        snprintf(text, size, "there is no solution");
    } else if (c->status == SAND_DIVERGED || !isfinite(c->metrics.residual)) {
        snprintf(text, size, "the solver diverged; its impulses are not kept");
    } else if (c->penetration_max > 0.1 * grain) {
        with_unit(number, sizeof number, "m", c->penetration_max);
        snprintf(text, size, "bodies overlap by %s, %.0f %% of a radius", number, 100 * c->penetration_max / grain);
    } else if (c->metrics.residual_rms > fall && fall > 0) {
        with_unit(number, sizeof number, "m/s", c->metrics.residual_rms);
        snprintf(text, size, "contacts err by %s, more than gravity adds", number);
    } else {
        return false;
    }
    return true;
}

// Always two lines, so that nothing below moves.
static void draw_headline(Panel *panel, const PanelView *view) {
    const EngineFrame *frame = view->frame;
    SandStatus status = frame->counters.status;
    char *text = panel->headline, alarm[96], below[96];
    size_t size = sizeof panel->headline;
    if (find_alarm(view, alarm, sizeof alarm)) {
        snprintf(text, size, "Step %llu: %s", (unsigned long long)frame->step, alarm);
        colored(RED, text);
        panel->advice = status == SAND_INFEASIBLE ? "Bodies are pressed from opposite sides: no solver can help."
                                                  : "Try more iterations, a smaller step, or another solver.";
        colored(AMBER, panel->advice);
        return;
    }
    panel->advice = "";
    if (frame->step == 0)
        snprintf(text, size, "Step 0: nothing was solved yet");
    else
        snprintf(text, size, "Step %llu: %s", (unsigned long long)frame->step, sand_status_text(status));
    colored(status > 0 && frame->step > 0 ? GREEN : status >= 0 ? 0xfff1ece9u : AMBER, text);
    snprintf(below, sizeof below, frame->step == 0 ? "Space lets time run." : "by %s, %d iterations",
             sand_solver_table[view->scene->solve.solver].name, frame->counters.iterations);
    colored(FAINT, below);
}

// --- the gauge ----------------------------------------------------------------------------------------------

// At 99 % contacts err by a hundredth of what a body falls in a step: 10 um of the 1 mm in 10 ms.
static ImU32 gauge_color(double percent) { return percent >= 99 ? GREEN : percent >= 90 ? AMBER : RED; }

// In percent; never rounded up to 100.
static void percent_text(char *text, size_t size, double percent) {
    double shown = percent < 99 ? floor(percent) : floor(10 * percent) / 10;
    snprintf(text, size, shown < 99 || shown == 100 ? "%.0f %%" : "%.1f %%", shown);
}

static void draw_bar(double percent, const char *text) {
    ImDrawList *list = igGetWindowDrawList();
    float em = igGetFontSize(), high = 1.2f * em, thick = 0.8f * em;
    ImVec2 at, free;
    igGetCursorScreenPos(&at);
    igGetContentRegionAvail(&free);
    float top = at.y + 0.5f * (high - thick), wide = free.x - 7.2f * em, full = (float)(0.01 * percent) * wide;
    ImU32 color = gauge_color(percent);
    ImDrawList_AddRectFilled(list, (ImVec2){at.x, top}, (ImVec2){at.x + wide, top + thick}, 0x40f1ece9u, 0.2f * em, 0);
    if (full > 0)
        ImDrawList_AddRectFilled(list, (ImVec2){at.x, top}, (ImVec2){at.x + full, top + thick}, color, 0.2f * em, 0);
    ImDrawList_AddText_Vec2(list, (ImVec2){at.x + wide + 0.6f * em, at.y + 0.5f * (high - em)}, color, text, NULL);
    igDummy((ImVec2){free.x, high});
}

// What the gauge means, in a line that is always there, so that nothing below moves. It never says that a step is without
// visible error: errors over long distances are small at each contact (docs/stability.md). Real time is blamed where the
// scene keeps up with the clock, or its budget is in milliseconds: there a longer solve would cost it.
static ImU32 judge_step(Panel *panel, const EngineFrame *frame) {
    const double VISIBLE = 95; // percent, below which errors begin to show
    char *text = panel->verdict;
    size_t size = sizeof panel->verdict;
    bool real_time = frame->playing && (frame->real_time_factor >= 0.9 || panel->by_time);
    if (frame->step == 0)
        snprintf(text, size, "No step was taken yet.");
    else if (frame->counters.status == SAND_INFEASIBLE)
        snprintf(text, size, "There is nothing to solve it to.");
    else if (panel->gauge < VISIBLE)
        snprintf(text, size,
                 real_time ? "Real time leaves %.0f %% of this step unsolved." : "%.0f %% of this step is unsolved.",
                 100 - floor(panel->gauge));
    else
        snprintf(text, size,
                 panel->gauge < 99 ? "Contacts err little; a large pile may still sag."
                                   : "Contacts are solved; a large pile may still sag.");
    return frame->step > 0 && panel->gauge < VISIBLE ? AMBER : FAINT;
}

static void draw_gauge(Panel *panel, const EngineFrame *frame) {
    char number[16], text[32] = "no step yet";
    percent_text(number, sizeof number, panel->gauge);
    if (frame->step > 0) snprintf(text, sizeof text, "%s solved", number);
    draw_bar(frame->step > 0 ? panel->gauge : 0, text);
    panel_tip(
        "How much of this step is solved. At 100 % every contact obeys its law; at 0 % contacts err by as much speed as "
        "gravity adds in a step, and hold nothing up. It looks at each contact by itself: where a large pile as "
        "a whole carries too little, it shows less of that. The lower it is, the more piles sag, boil and sink into each "
        "other. What helps: more iterations, another solver, a smaller scene, or a "
        "smaller step.");
    ImU32 color = judge_step(panel, frame);
    colored(color, panel->verdict);
}

// --- figures
// --------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------

static void figure(const char *name, const char *tip, const char *value) {
    igTableNextColumn();
    igPushStyleColor_U32(ImGuiCol_Text, FAINT);
    igTextUnformatted(name, NULL);
    igPopStyleColor(1);
    if (igIsItemHovered(0)) {
        igBeginTooltip();
        igPushTextWrapPos(24 * igGetFontSize());
        igTextUnformatted(tip, NULL);
        igPopTextWrapPos();
        igEndTooltip();
    }
    igTableNextColumn();
    igTextUnformatted(value, NULL);
}

// Two columns of names and values.
static bool begin_figures(const char *name) {
    if (!igBeginTable(name, 4, ImGuiTableFlags_RowBg, (ImVec2){0, 0}, 0)) return false;
    float em = igGetFontSize();
    const float widths[4] = {6.4f * em, 1, 4.8f * em, 1};
    for (int i = 0; i < 4; i++)
        igTableSetupColumn("", i % 2 ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed, widths[i], 0);
    return true;
}

// Bodies on a device: how they reach the screen, and how much of them is downloaded.
static void draw_transfer(const EngineFrame *frame) {
    char text[64], tip[SAND_SENTENCE + 160];
    snprintf(text, sizeof text, "%.*s", (int)strcspn(frame->transfer, ":"), frame->transfer);
    snprintf(
        tip, sizeof tip,
        "How bodies get from the GPU to the picture: by interop they never leave it; staged and host mean by way of the "
        "computer's memory. Now: %s.",
        frame->transfer);
    figure("picture", tip, text);
    with_unit(text, sizeof text, "B", (double)frame->profile.downloaded);
    figure("to the host", "Bytes of bodies and contacts that came from the GPU with this step and the picture before it.",
           text);
}

static void draw_speed(const Panel *panel, const EngineFrame *frame) {
    char text[64], tip[200];
    bool slow = frame->playing && frame->real_time_factor > 0 && frame->real_time_factor < 0.9 * panel->speed;
    snprintf(tip, sizeof tip, "Simulated seconds for each second of the clock, lately. 1 is real time; %.3g is asked for.",
             panel->speed);
    snprintf(text, sizeof text, slow ? "%.2f \xc3\x97 slow" : "%.3g \xc3\x97", frame->real_time_factor);
    if (slow) igPushStyleColor_U32(ImGuiCol_Text, AMBER);
    figure("real time", tip, text);
    if (slow) igPopStyleColor(1);
}

// How many of the islands are solved, and to what.
static void draw_islands(const SandIslandReport *islands) {
    char text[64], rms[32];
    snprintf(text, sizeof text, "%d of %d", islands->solved, islands->count);
    figure("islands", "Parts whose bodies touch nothing else that moves: how many of them were solved directly.", text);
    with_unit(rms, sizeof rms, "m/s", islands->rms);
    figure("solved to", "m/s; root mean square of the residual of the islands that were solved directly, of the worst one.",
           islands->solved ? rms : "-");
}

static void draw_numbers(const Panel *panel, const EngineFrame *frame, const EngineScene *scene) {
    const SandCounters *c = &frame->counters;
    char text[64];
    if (!begin_figures("figures")) return;
    snprintf(text, sizeof text, "%d", c->bodies);
    figure("bodies", "Bodies that take part.", text);
    with_unit(text, sizeof text, "m/s", c->metrics.residual);
    figure("residual", "m/s; how far the solution is from the optimum, the same for every solver.", text);
    snprintf(text, sizeof text, "%d", c->contacts);
    figure("contacts", "Pairs within the envelope in this step, without the rows of joints.", text);
    with_unit(text, sizeof text, "m/s", c->metrics.residual_rms);
    figure("rms", "m/s; root mean square of the residual over the contacts.", text);
    snprintf(text, sizeof text, "%d", c->warm_started);
    figure("warm started", "Contacts that found the impulse of the last step to start from.", text);
    with_unit(text, sizeof text, "J", c->metrics.objective);
    figure("objective", "J; what the solver makes small.", text);
    snprintf(text, sizeof text, "%d", c->iterations);
    figure("iterations", "Products with the contact operator in this step.", text);
    with_unit(text, sizeof text, "m", c->penetration_max);
    figure("overlap", "m; the largest penetration that the step began with.", text);
    if (c->islands.count) draw_islands(&c->islands);
    draw_speed(panel, frame);
    snprintf(text, sizeof text, "%.0f fps", panel->frame_rate);
    figure("drawn", "Pictures drawn each second, lately.", text);
    snprintf(text, sizeof text, "%.1f MB", (double)sand_bytes_held() / 1048576);
    figure("memory", "MB held by the arrays of the simulation.", text);
    if (scene->backend == BACKEND_CUDA) draw_transfer(frame);
    igEndTable();
}

static void draw_picked(const PickedBody *b) {
    char text[64];
    if (!begin_figures("picked")) return;
    snprintf(text, sizeof text, "%d", b->body);
    figure("body", "Number of the body that was clicked last.", text);
    with_unit(text, sizeof text, "m/s", b->speed);
    figure("speed", "m/s, of its center.", text);
    with_unit(text, sizeof text, "m", b->radius);
    figure("radius", "m, of the sphere around it.", text);
    snprintf(text, sizeof text,
             b->mass >= 1000 ? "%.3f t"
             : b->mass >= 1  ? "%.3f kg"
                             : "%.3f g",
             b->mass >= 1000 ? 1e-3 * b->mass
             : b->mass >= 1  ? b->mass
                             : 1e3 * b->mass);
    figure("mass", "kg.", text);
    snprintf(text, sizeof text, "%d", b->contacts);
    figure("contacts", "Contacts that press on it in this step.", text);
    with_unit(text, sizeof text, "N", b->force_sum);
    figure("forces", "N, the sum of the forces of its contacts.", text);
    igTableNextColumn();
    igTableNextColumn();
    with_unit(text, sizeof text, "N", b->force_most);
    figure("largest", "N, the largest force of a contact.", text);
    igEndTable();
}

// A torque in front of a bar that is full when the motor gives all it can.
static void draw_torque(const WheelFigures *wheel) {
    ImDrawList *list = igGetWindowDrawList();
    char text[32] = "-";
    float em = igGetFontSize(), high = 1.2f * em;
    ImVec2 at, free;
    igGetCursorScreenPos(&at);
    igGetContentRegionAvail(&free);
    if (isfinite(wheel->torque)) with_unit(text, sizeof text, "N m", wheel->torque);
    double share = wheel->strength > 0 ? fmin(1, fabs(wheel->torque) / wheel->strength) : 0;
    ImU32 color = share > 0.99 ? AMBER : GREEN;
    float top = at.y + 0.2f * em, left = at.x + card_text_width("-999.9 kN m") + 0.3f * em,
          wide = free.x - (left - at.x) - 0.8f * em;
    ImDrawList_AddRectFilled(list, (ImVec2){left, top}, (ImVec2){left + wide, top + 0.8f * em}, 0x40f1ece9u, 0.2f * em, 0);
    if (share > 0)
        ImDrawList_AddRectFilled(list, (ImVec2){left, top}, (ImVec2){left + (float)share * wide, top + 0.8f * em}, color,
                                 0.2f * em, 0);
    igTextUnformatted(text, NULL);
    igSameLine(0, 0);
    igDummy((ImVec2){1, high});
}

static void draw_wheel(const WheelFigures *wheel) {
    char slip[32] = "-";
    if (isfinite(wheel->slip)) snprintf(slip, sizeof slip, "%.2f", fmax(-9.99, fmin(9.99, wheel->slip)));
    igTableNextRow(0, 0);
    igTableNextColumn();
    igTextUnformatted(wheel->name, NULL);
    igTableNextColumn();
    draw_torque(wheel);
    igTableNextColumn();
    colored(fabs(wheel->slip) > 0.2 ? AMBER : FAINT, slip);
}

static void draw_wheels(const Wheels *wheels) {
    const char *const heads[] = {"wheel", "torque", "slip"};
    float em = igGetFontSize();
    if (!igBeginTable("wheels", 3, ImGuiTableFlags_RowBg, (ImVec2){0, 0}, 0)) return;
    igTableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, 7.5f * em, 0);
    igTableSetupColumn("", ImGuiTableColumnFlags_WidthStretch, 1, 0);
    igTableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, 3 * em, 0);
    igTableNextRow(0, 0);
    for (int k = 0; k < 3; k++) {
        igTableNextColumn();
        colored(FAINT, heads[k]);
    }
    for (int i = 0; i < wheels->count; i++) draw_wheel(&wheels->wheels[i]);
    igEndTable();
    panel_tip("The torque of each motor, with a bar that is full when it gives all it can and the wheel stalls; and the "
              "slip of each wheel, 1 - v / (omega r): 0 where it rolls, 1 where it spins on the spot.");
}

// --- plots --------------------------------------------------------------------------------------------------

static PlotCurve series(const Panel *panel, const char *name, PanelSeries s) {
    return (PlotCurve){.name = name, .x = panel->series[SERIES_TIME], .y = panel->series[s], .count = panel->point_count};
}

static int copy_curve_points(const SandCurvePoint *curve, int count, double *x, double *y) {
    if (count > PANEL_CURVE) count = PANEL_CURVE;
    for (int i = 0; i < count; i++) {
        x[i] = curve[i].iteration;
        y[i] = curve[i].residual;
    }
    return count;
}

static void draw_step_plot(Panel *panel, const EngineFrame *frame) {
    Plot plot = plot_of_residual;
    char names[2][96];
    int counts[2] = {copy_curve_points(frame->curve.data, frame->curve_count, panel->curve_x[0], panel->curve_y[0]),
                     copy_curve_points(frame->shadow.data, frame->shadow_count, panel->curve_x[1], panel->curve_y[1])};
    const int solvers[2] = {panel->solve.solver, panel->shadow.solver};
    for (int i = 0; i < (panel->shadowing || counts[1] > 0 ? 2 : 1); i++) {
        snprintf(names[i], sizeof names[i], "%s%s", sand_solver_table[solvers[i]].name, i ? " (shadow)" : "");
        plot.curves[plot.curve_count++] = (PlotCurve){
            .name = names[i], .x = panel->curve_x[i], .y = panel->curve_y[i], .count = counts[i], .style = solvers[i] + 1};
    }
    if (frame->counters.contacts > 0) plot.nothing = "kept from the next step on";
    panel_draw_plot(panel, &plot, frame->step);
}

static const PlotAxis time_axis = {.name = "time", .unit = "s", .plain = true, .tight = true, .least_range = 0.1};

static void draw_time_plots(Panel *panel, uint64_t step) {
    Plot residual = {.name = "residual",
                     .title = "Residual against time",
                     .x = time_axis,
                     .y = {.name = "residual", .unit = "m/s", .logarithmic = true},
                     .curves = {series(panel, "residual", SERIES_RESIDUAL)},
                     .curve_count = 1,
                     .nothing = "nothing yet"};
    Plot energy = {.name = "energy",
                   .title = "Energy against time",
                   .x = time_axis,
                   .y = {.name = "energy", .unit = "J", .from_zero = true},
                   .curves = {series(panel, "potential", SERIES_POTENTIAL), series(panel, "kinetic", SERIES_KINETIC)},
                   .curve_count = 2,
                   .nothing = "nothing yet"};
    Plot stages = {.name = "stages",
                   .title = "Time that each stage of a step takes",
                   .x = time_axis,
                   .y = {.name = "duration", .unit = "s", .from_zero = true},
                   .curves = {series(panel, "whole step", SERIES_STEP), series(panel, "solve", SERIES_SOLVE),
                              series(panel, "collide", SERIES_COLLIDE), series(panel, "warm start", SERIES_WARM_START),
                              series(panel, "build", SERIES_BUILD), series(panel, "integrate", SERIES_INTEGRATE)},
                   .curve_count = 6,
                   .nothing = "nothing yet"};
    Plot contacts = {.name = "contacts",
                     .title = "Contacts against time",
                     .x = time_axis,
                     .y = {.name = "contacts", .unit = "", .from_zero = true},
                     .curves = {series(panel, "contacts", SERIES_CONTACTS)},
                     .curve_count = 1,
                     .nothing = "nothing yet"};
    Plot overlap = {.name = "penetration",
                    .title = "Largest penetration against time",
                    .x = time_axis,
                    .y = {.name = "largest penetration", .unit = "m", .from_zero = true},
                    .curves = {series(panel, "penetration", SERIES_PENETRATION)},
                    .curve_count = 1,
                    .nothing = "nothing yet"};
    const struct {
        const char *name;
        const Plot *plot;
        bool open;
    } all[] = {{"Energy", &energy, true},
               {"Time of each stage", &stages, true},
               {"Residual over time", &residual, false},
               {"Contacts", &contacts, false},
               {"Penetration", &overlap, false}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (panel_section(panel, all[i].name, all[i].open)) panel_draw_plot(panel, all[i].plot, step);
    }
}

void panel_draw_figures(Panel *panel, const PanelView *view) {
    const EngineFrame *frame = view->frame;
    panel->curve_wanted = false;
    if (!frame) {
        colored(FAINT, "The first step is being taken.");
        return;
    }
    draw_headline(panel, view);
    draw_gauge(panel, frame);
    draw_warnings(panel, frame);
    draw_numbers(panel, frame, view->scene);
    if (panel->picked.body >= 0 && panel_section(panel, "Picked body", true)) draw_picked(&panel->picked);
    if (frame->wheels.count && panel_section(panel, "Wheels", true)) draw_wheels(&frame->wheels);
    panel_draw_probes(panel, frame);
    if (panel_section(panel, "Residual of this step", true)) {
        panel->curve_wanted = true;
        draw_step_plot(panel, frame);
    }
    panel_draw_result(panel);
    draw_time_plots(panel, frame->step);
}
