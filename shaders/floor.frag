#version 450 core
// The ground: an infinite plane, met by the line of sight, with a soft grid.
#include "frame.glsl"
#include "look.glsl"
#include "gbuffer.glsl"
layout(depth_less) out float gl_FragDepth;

void main() {
    vec3 start, way;
    view_ray(gl_FragCoord.xy, start, way);
    vec3 from = world_position(start), to = to_world(way);
    float t = (frame.moment.z - from.z) / to.z;
    if (to.z >= 0.0 || t <= 0.0) discard;
    float depth = depth_of((start + way * t).z);
    if (depth <= 0.0 || depth > 1.0) discard;
    gl_FragDepth = depth;

    // Lines of the same width in pixels, fading where they would crowd.
    vec2 p = (from + to * t).xy / frame.moment.w * 5.0;
    float pixel = 2.0 * frame.lens.y * frame.size.w * (frame.eye.w > 0.5 ? t : 1.0) / frame.moment.w * 5.0;
    vec2 wide = vec2(pixel) / max(abs(normalize(to).z), 0.02);
    vec2 off = abs(fract(p + 0.5) - 0.5);
    vec2 line = (1.0 - smoothstep(0.5 * wide, 1.5 * wide, off)) * clamp(0.25 / wide - 0.5, 0.0, 1.0);
    vec3 color = vec3(0.22, 0.23, 0.245);
    color *= 1.0 - 0.07 * max(line.x, line.y);
    leave(color, LOOK_FLOOR, vec3(0.0, 0.0, 1.0));
}
