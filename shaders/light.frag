#version 450 core
// The light on everything opaque, and the sky behind it. DIRECT, for low quality: straight to the screen, without the sky,
// which has a pass of its own there.
#include "frame.glsl"
#include "look.glsl"
#include "unfold.glsl"
#include "sky.glsl"
#include "light.glsl"
#ifdef DIRECT
#include "tone.glsl"
#endif
layout(binding = 2) uniform sampler2D ambient;
layout(binding = 5) uniform sampler2D color_map;
layout(location = 0) out vec4 out_light;
#ifndef DIRECT
layout(location = 1) out vec4 out_kind; // share of data colour; opacity
#endif

// The mean of a few ambient texels, those of other surfaces left out.
float openness(float z) {
    int n = frame.quality.z, scale = frame.quality.w;
    ivec2 limit = textureSize(ambient, 0) - 1, full = ivec2(frame.size.xy) - 1;
    ivec2 first = ivec2(floor((gl_FragCoord.xy - 0.5 * float(scale)) / float(scale) + 0.5)) - n / 2;
    // Without a side: what the sampler makes of the four nearest.
    float sum = 1e-4 * texture(ambient, gl_FragCoord.xy * frame.size.zw).r, weight = 1e-4;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            ivec2 s = clamp(first + ivec2(x, y), ivec2(0), limit);
            float there = view_z_of(max(texelFetch(depth_map, min(s * scale + scale / 2, full), 0).r, 1e-9));
            float w = exp2(-abs(there - z) / (0.35 * frame.moment.y)) + 1e-4;
            sum += w * texelFetch(ambient, s, 0).r;
            weight += w;
        }
    return sum / weight;
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_map, at, 0).r;
    vec3 start, way;
    view_ray(gl_FragCoord.xy, start, way);
    vec3 to = normalize(to_world(way));
    vec3 sky = backdrop(to);
#ifndef DIRECT
    bool clear = frame.mode.y != 0;
    if (depth <= 0.0) {
        out_light = vec4(clear ? vec3(0.0) : sky, 1.0);
        out_kind = vec4(0.0, clear ? 0.0 : 1.0, 0.0, 1.0);
        return;
    }
#endif
    vec4 color = texelFetch(color_map, at, 0);
    uint look = uint(round(color.a * 8.0));
    vec3 normal = unfold_normal(texelFetch(normal_map, at, 0).rg);
    float z = view_z_of(depth);
    vec3 position = world_position(start + way * -z);
    vec3 c = lit(color.rgb * color.rgb, look, position, normal, openness(z));
    // The ground goes over into the backdrop.
    if (look == LOOK_FLOOR) {
        float off = length(position.xy) / frame.moment.w;
        c = mix(c * mix(1.0, 0.55, smoothstep(0.4, 2.0, off)), sky, smoothstep(0.9, 4.0, off));
    }
#ifdef DIRECT
    out_light = vec4(encode(look == LOOK_DATA ? clamp(c, 0.0, 1.0) : tone(c)), 1.0);
#else
    out_light = vec4(c, 1.0);
    out_kind = vec4(look == LOOK_DATA ? 1.0 : 0.0, 1.0, 0.0, 1.0);
#endif
}
