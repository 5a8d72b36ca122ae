// SPDX-License-Identifier: MIT
// Reading, writing, moving and viewing bodies by the lists of their arrays.
#include "sim/world/body_arrays.h"

#include "sim/core/array.h"

#include <string.h>

SandBodyEntry sand_body_entry(const SandWorld *w, int body) {
    SandBodyEntry entry;
    memset(&entry, 0, sizeof entry); // it is sent to other ranks, padding and all
#define READ(type, name) entry.name = w->name[body];
    SAND_BODY_STATE(READ)
#undef READ
    return entry;
}

void sand_body_set_entry(SandWorld *w, int body, const SandBodyEntry *entry) {
#define WRITE(type, name) w->name[body] = entry->name;
    SAND_BODY_STATE(WRITE)
#undef WRITE
}

void sand_bodies_free(SandWorld *w) {
#define FREE(type, name) sand_free(w->name);
    SAND_BODY_ARRAYS(FREE)
#undef FREE
}

void sand_bodies_take(SandWorld *to, const SandWorld *from) {
#define TAKE(type, name) to->name = from->name;
    SAND_BODY_ARRAYS(TAKE)
#undef TAKE
    to->body_count = from->body_count;
    to->body_capacity = from->body_capacity;
}

void sand_bodies_keep(SandWorld *w, const int *list, int count) {
#define KEEP(type, name) \
    for (int i = 0; i < count; i++) w->name[i] = w->name[list[i]];
    SAND_BODY_ARRAYS(KEEP)
#undef KEEP
    w->body_count = count;
}

SandWorld sand_bodies_view(const SandWorld *w, int first, int count) {
    SandWorld view = *w;
    view.body_count = count;
#define MOVE(type, name) view.name += first;
    SAND_BODY_ARRAYS(MOVE)
#undef MOVE
    if (view.force) view.force += first, view.torque += first;
    return view;
}
