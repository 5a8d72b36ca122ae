// SPDX-License-Identifier: MIT
// The light on everything opaque, and the sky behind it.
layout(binding = 2) uniform sampler2D ambient;
layout(binding = 5) uniform sampler2D color_map;
layout(binding = 6) uniform sampler2D glass_shadow; // path of the key light through glass

// Bilateral mean of a few ambient texels: those of other surfaces are left out.
float openness(vec2 pixel, float z) {
    int n = frame.quality.z, scale = frame.quality.w;
    ivec2 limit = textureSize(ambient, 0) - 1, full = ivec2(frame.size.xy) - 1;
    ivec2 first = ivec2(floor((pixel - 0.5 * float(scale)) / float(scale) + 0.5)) - n / 2;
    // Side 0: the mean of two by two texels without regard to edges, read at the corner between them, so that each of the
    // four directions that open_sky alternates between counts once.
    vec2 corner = floor(pixel / float(scale) + 0.5) / vec2(limit + 1);
    float sum = 1e-4 * textureLod(ambient, n > 0 ? pixel * frame.size.zw : corner, 0.0).r, weight = 1e-4;
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

// What is behind a pixel: of a set its surroundings, out of focus indoors; else the backdrop, with a wide spot of light on it
// behind the middle of the picture.
vec3 sky_of(vec2 pixel) {
    vec3 start, direction;
    view_ray(pixel, start, direction);
    direction = normalize(to_world(direction));
#if defined(SET) && !defined(DIRECT)
    vec3 level = normalize(vec3(direction.xy, max(direction.z, 0.004)));
    bool outdoors = frame.style.w == SKY_OPEN || frame.style.w == SKY_STARS;
    return outdoors ? around_scene(level) : from_around(level, 0.46);
#elif defined(SET)
    return backdrop(direction);
#else
    vec2 off = (pixel - 0.5 * frame.size.xy) * frame.size.w;
    return backdrop(direction) * (0.50 + 0.90 / (1.0 + 3.0 * dot(off, off)));
#endif
}

// How much of the key light comes through the glass onto the ground.
float through_vessels(vec3 position) {
    vec2 uv = 0.5 * (frame.light * vec4(position, 1.0)).xy + 0.5;
    return exp2(-1.1 * textureLod(glass_shadow, uv, 1.0).r);
}

// Whether what is behind a pixel is needed: where there is nothing else, or ground.
bool needs_sky(vec2 pixel, float depth) {
    return depth <= 0.0 || (uint(round(texelFetch(color_map, ivec2(pixel), 0).a * 63.0)) & ~SOLID) == LOOK_FLOOR;
}

// Radiance of the surface at this depth in a pixel, and whether it has a data color. `behind`: sky_of, where it is needed;
// it comes from outside, so that its code is in a program once.
vec3 light_of(vec2 pixel, float depth, vec3 behind, out bool data) {
    ivec2 at = ivec2(pixel);
    vec4 color = texelFetch(color_map, at, 0);
    uint kind = uint(round(color.a * 63.0)), look = kind & ~SOLID;
    vec3 normal = unfold_normal(texelFetch(normal_map, at, 0).rg);
    vec3 position = world_position(view_position(pixel, depth));
    vec3 c = lit(pixel, color.rgb * color.rgb, kind, position, normal, openness(pixel, view_z_of(depth)));
#ifdef SET
    // The ground of a set ends in the haze, which has the color of what is behind it.
    float far = max(-view_z_of(depth) - frame.air.z, 0.0);
#ifdef DIRECT
    float haze = min(0.5 * frame.ground_too.w * far, 1.0); // about the same
    haze *= 2.0 - haze;
    if (look == LOOK_FLOOR) c = mix(c * through_vessels(position), behind, haze);
#else
    float haze = 1.0 - exp2(-frame.ground_too.w * far);
    if (look == LOOK_FLOOR) c = mix(c * mix(1.0, through_vessels(position), min(c.r / max(4.0 * color.r * color.r, 1e-3), 1.0)), behind, haze);
    else if (look != LOOK_DATA) c = mix(c, from_around(normalize(vec3((position - frame.eye.xyz).xy, 0.02 * far + 1e-6)), 0.6), haze);
#endif
#else
    // The ground is the backdrop, darker where it gets less light: so it has no end.
    if (look == LOOK_FLOOR) {
        float off = dot(position.xy, position.xy) / (frame.moment.w * frame.moment.w);
        vec3 open_ground = frame.key.rgb * (DIFFUSE * frame.sun.z) + frame.fill.rgb;
        float share = clamp((c.r - frame.fill.r) / (open_ground.r - frame.fill.r), 0.0, 1.0); // of the key light that is left
        vec3 shade = c / open_ground * mix(1.0, through_vessels(position), share);
        shade = mix(vec3(1.0), shade, 0.82); // it glows a little in a shadow
        c = behind * shade * (1.0 + 0.9 / (1.0 + 1.6 * off) * vec3(1.0, 0.90, 0.76));
    }
#endif
    data = look == LOOK_DATA;
    return c;
}

float depth_in(vec2 pixel) { return texelFetch(depth_map, ivec2(pixel), 0).r; } // 0: nothing but sky

#ifdef DIRECT
// Both as a screen shows them.
vec4 shown(vec2 pixel, float depth) {
    bool data;
    vec3 behind = vec3(0.0);
    if (needs_sky(pixel, depth)) behind = sky_of(pixel);
    vec3 c = light_of(pixel, depth, behind, data);
    return vec4(encode(data ? clamp(c, 0.0, 1.0) : tone(c)), 1.0);
}

vec4 shown_sky(vec2 pixel) { return frame.mode.y != 0 ? vec4(0.0) : vec4(encode(tone(sky_of(pixel))), 1.0); }
#else
// The light from a pixel, and its kind: share of data color; opacity.
void look_at(vec2 pixel, out vec4 light, out vec4 kind) {
    float depth = depth_in(pixel);
    bool clear = frame.mode.y != 0, data;
    vec3 behind = vec3(0.0);
    if (needs_sky(pixel, depth)) behind = sky_of(pixel);
    if (depth > 0.0) {
        light = vec4(light_of(pixel, depth, behind, data), 1.0);
        kind = vec4(data ? 1.0 : 0.0, 1.0, 0.0, 1.0);
    } else {
        light = vec4(clear ? vec3(0.0) : behind, 1.0);
        kind = vec4(0.0, clear ? 0.0 : 1.0, 0.0, 1.0);
    }
}
#endif
