#version 450 core
#include "frame.glsl"
#include "look.glsl"
#include "gbuffer.glsl"
in vec3 position;
in vec3 normal;
in vec3 local;
flat in float value;
flat in uint tag;

void main() {
    uint look;
    vec3 color = body_color(tag >> 28, tag & 0x0fffffffu, vec3(0.0, 0.0, 1.0), 1.0, 1.0, value, look);
    // A painted line from the middle outwards shows how it turns.
    if (look != LOOK_DATA) color *= abs(local.y) < 0.06 && local.x > 0.0 ? 2.2 : 1.0;
    leave(color, look, normalize(normal));
}
