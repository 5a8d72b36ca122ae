#version 450 core
// Boxes and cylinders into the G-buffer.
#include "frame.glsl"
#include "look.glsl"
#include "gbuffer.glsl"
in vec3 position;
in vec3 normal;
in vec3 local;
flat in float value;
flat in uint tag;

void main() {
    uint look = kept_look(tag >> 28);
    vec3 color = base_color(tag >> 28, tag & 0x0fffffffu, value);
    // A painted line from the middle outwards shows how it turns.
    if (look != LOOK_DATA) color *= abs(local.y) < 0.06 && local.x > 0.0 ? 2.2 : 1.0;
    leave(color, look, normalize(normal));
}
