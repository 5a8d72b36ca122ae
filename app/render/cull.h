// Balls that nothing can see are not drawn: in a pile that is nearly all of them. First those are drawn that were seen the
// last time; what they hide is told from their depths; then those that have newly come into sight. What is drawn is the same
// as if all had been drawn, but for balls that share a depth to the last bit.
#pragma once
#include "sandglass/error.h"

// Fewer balls are drawn faster than told apart.
enum { CULL_LEAST = 8000 };

typedef enum CullView { CULL_CAMERA, CULL_LIGHT, CULL_VIEWS } CullView;

typedef struct Cull Cull;
Cull *cull_create(SandError *error);
void cull_free(Cull *cull);

// Instances of balls at the beginning of this buffer. Those are kept that this view saw the last time and did not leave to
// others.
void cull_begin(Cull *cull, CullView view, unsigned instances, int count);
// Keeps those that could be seen and were not kept before, by what was drawn into this texture of depths since. Those that
// are fewer pixels across than the limit are left to others (splat.h); 0 leaves none.
void cull_go_on(Cull *cull, CullView view, unsigned depth, int width, int height, int limit);
void cull_keep_seen(Cull *cull, CullView view); // all that could be seen, of any size
// Draws a quad for each that is kept; the array reads instances at binding 0.
void cull_draw(const Cull *cull, unsigned array);
