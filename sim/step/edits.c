// SPDX-License-Identifier: MIT
// Applying edits before a step: numbers are checked, rotations scaled to length 1, bodies moved back into a periodic box,
// and those outside of the world's box taken out.
#include "sim/step/edits.h"

#include "sim/step/integrate.inl"
#include "sim/world/world_check.h"

// A rotation that is of length 1 but for rounding keeps its bits.
static bool normalize(SandQuat *q) {
    double turn = q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z;
    if (fabs(turn - 1) < 1e-9) return false;
    *q = q_unit(*q);
    return true;
}

// Moves a point back into a box that repeats.
static bool wrap(const SandWorld *w, SandVec3 *p) {
    SandVec3 before = *p;
    if (!sand_world_repeats(w)) return false;
    *p = period_into_box(w, before);
    return p->x != before.x || p->y != before.y || p->z != before.z;
}

static void list_lost(SandEditReport *report, int body, SandLoss loss) {
    if (report->lost_count < SAND_MAX_LOST)
        report->lost[report->lost_count++] = (SandLost){body, loss};
    else
        report->lost_more++;
}

// Takes a body out that lies outside of the world's box; one in an outlet counts there. What is within the box and in an
// outlet leaves after the step, as ever.
static bool take_out(SandWorld *w, int body, SandEditReport *report) {
    int outlet = -1;
    SandVec3 p = w->position[body], low = w->lower, high = w->upper;
    if (p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z) return false;
    SandLoss loss = body_loss(w, body, &outlet);
    remove_body(w, body, loss, outlet);
    if (loss == SAND_BY_OUTLET) {
        w->outlets[outlet].bodies++;
        w->outlets[outlet].mass += w->mass[body];
    } else {
        list_lost(report, body, loss);
    }
    return true;
}

bool sand_edits_apply(SandWorld *w, unsigned edits, bool whole, SandEditReport *report, SandError *error) {
    bool bodies = edits & (SAND_EDIT_BODIES | SAND_EDIT_START);
    *report = (SandEditReport){0};
    if (!sand_world_check_changes(w, bodies, whole, error)) return false;
    for (int i = 0; i < w->body_count && bodies; i++) {
        bool waits = w->enter[i] == INFINITY, elsewhere = !whole && !sand_world_has(w, i);
        if (w->gone[i] || elsewhere) continue;
        report->changed |= normalize(&w->rotation[i]);
        report->changed |= wrap(w, &w->position[i]);
        if (!waits) report->changed |= take_out(w, i, report); // an inlet places those that wait for it
    }
    return true;
}
