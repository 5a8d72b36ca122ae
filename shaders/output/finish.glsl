// SPDX-License-Identifier: MIT
// The last pass: tone-maps, averages the samples of a pixel and encodes sRGB. Data colors keep their value.
layout(binding = 0) uniform sampler2D light_map;
layout(binding = 1) uniform sampler2D kind_map;
layout(binding = 2) uniform sampler2D glass_map;
layout(location = 0) uniform int samples; // along a side
layout(location = 1) uniform int twice;   // for a test: encode twice, a fault that it must notice

vec4 finished(ivec2 pixel) {
    ivec2 first = pixel * samples;
    vec3 sum = vec3(0.0);
    float cover = 0.0, data = 0.0;
    for (int y = 0; y < samples; y++)
        for (int x = 0; x < samples; x++) {
            vec3 c = texelFetch(light_map, first + ivec2(x, y), 0).rgb;
            vec2 kind = texelFetch(kind_map, first + ivec2(x, y), 0).rg;
            vec4 glass = texelFetch(glass_map, first + ivec2(x, y), 0);
            c = c * through_glass(glass.a) + glass.rgb;
            sum += mix(tone(c), clamp(c, 0.0, 1.0), kind.r);
            data += kind.r;
            cover += min(1.0, kind.g + max(glass.r, max(glass.g, glass.b)));
        }
    float scale = 1.0 / float(samples * samples);
    vec3 c = sum * scale;
    cover *= scale;
    // Vignette, but not on data colors.
    vec2 at = 2.0 * (vec2(pixel) + 0.5) * float(samples) * frame.size.zw - 1.0;
    if (frame.mode.y == 0) c *= 1.0 - 0.16 * (1.0 - data * scale) * smoothstep(0.5, 2.0, dot(at, at));
    if (frame.mode.y != 0 && cover > 0.0) c = clamp(c / cover, 0.0, 1.0);
    c = encode(c);
    if (twice != 0) c = encode(c);
    // Dither by half a step against banding.
    uvec2 p = uvec2(pixel);
    c += (1.0 - data * scale) * (hash(p.x * 1973u + p.y * 9277u) - 0.5) / 255.0;
    return vec4(c, frame.mode.y != 0 ? cover : 1.0);
}
