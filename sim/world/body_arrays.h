// SPDX-License-Identifier: MIT
// Operations on all arrays of a world's bodies (SAND_BODY_ARRAYS of sandglass/world.h); its other members stay.
#pragma once
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a step changes of one body.
#define SAND_BODY_MEMBER(type, name) type name;
typedef struct SandBodyEntry {
    SAND_BODY_STATE(SAND_BODY_MEMBER)
} SandBodyEntry;
SandBodyEntry sand_body_entry(const SandWorld *world, int body);
void sand_body_set_entry(SandWorld *world, int body, const SandBodyEntry *entry);

void sand_bodies_free(SandWorld *world);
void sand_bodies_take(SandWorld *to, const SandWorld *from); // copies the pointers, not the bodies
// Drops all bodies but those in the list, which is ascending.
void sand_bodies_keep(SandWorld *world, const int *list, int count);
// The same world with `count` of its bodies, from `first` on; it borrows everything.
SandWorld sand_bodies_view(const SandWorld *world, int first, int count);

#ifdef __cplusplus
}
#endif
