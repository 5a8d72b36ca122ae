// The passes that go over every pixel of what was drawn: ambient occlusion, light, tone. They are compute shaders, for a GPU
// made for computing has few processors that draw; or triangles over the whole target, which are quicker where a processor
// draws. The same text makes both, and the picture is the same. The block Frame is bound by the caller.
#pragma once
#include "app/render/targets.h"

typedef struct Lighting Lighting;
Lighting *lighting_create(bool compute, SandError *error);
void lighting_free(Lighting *lighting);

// The caller has put the depth mask off and the viewport on the inner targets; these leave the depth test to whoever is
// next.
void lighting_ambient(const Lighting *lighting, const Targets *targets); // before any light
void lighting_light(const Lighting *lighting, const Targets *targets);   // to `light` and `kind`
void lighting_direct(const Lighting *lighting, const Targets *targets);  // encoded, to `out`; only with one sample
// From `light`, `kind` and `glass` to `out`. `twice`: encode a second time, a fault that a test must notice.
void lighting_tone(const Lighting *lighting, const Targets *targets, int samples, bool twice);
