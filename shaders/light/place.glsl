// SPDX-License-Identifier: MIT
// What surrounds a scene, as radiance by direction: sky, room or soft boxes. Needs noise.glsl. Numbers as in SandSky.
#define SKY_SWEEP 0
#define SKY_OPEN 1
#define SKY_INDOORS 2
#define SKY_BOXES 3
#define SKY_HALL 4
#define SKY_STARS 5

// How much of a rectangle is seen in a direction: `toward` its middle at distance 1, with these half sides.
float panel(vec3 direction, vec3 toward, vec2 half_sides, float soft) {
    vec3 u = normalize(vec3(-toward.y, toward.x, 1e-4)), v = cross(normalize(toward), u);
    float along = dot(direction, normalize(toward));
    vec2 q = abs(vec2(dot(direction, u), dot(direction, v)) / max(along, 1e-3)) - half_sides;
    return along <= 0.0 ? 0.0 : smoothstep(soft, -soft, q.x) * smoothstep(soft, -soft, q.y);
}

// Panes of a window with bars between them.
float window(vec3 direction, vec3 toward, vec2 half_sides, vec2 panes, float soft) {
    vec3 u = normalize(vec3(-toward.y, toward.x, 1e-4)), v = cross(normalize(toward), u);
    vec2 q = vec2(dot(direction, u), dot(direction, v)) / max(dot(direction, normalize(toward)), 1e-3) / half_sides;
    vec2 off = abs(fract((0.5 * q + 0.5) * panes) - 0.5) * 2.0;
    vec2 bars = smoothstep(vec2(1.0), vec2(1.0) - vec2(0.05 + soft), off + 0.06);
    return panel(direction, toward, half_sides, soft) * bars.x * bars.y;
}

float ridge(vec2 around, float rough, float seed) {
    vec3 p = vec3(around * 2.3, seed);
    return 0.55 * noise(p) + 0.28 * noise(p * 2.7) + 0.17 * rough * noise(p * 7.1);
}

vec3 ground_glow() { return frame.ground.rgb * (0.7 * frame.key.rgb * max(frame.sun.z, 0.0) + 0.6 * frame.fill.rgb); }

vec3 open_sky_of(vec3 d) {
    float up = max(d.z, 0.0), toward = max(dot(d, frame.sun.xyz), 0.0);
    vec3 c = mix(frame.horizon.rgb, frame.zenith.rgb, pow(up, 0.55));
    c += frame.key.rgb * (0.035 * pow(toward, 6.0) + 0.15 * pow(toward, 60.0));
    if (frame.air.x > 0.0) {
        vec2 p = d.xy / (up + 0.12) * vec2(0.9, 1.6);
        float cloud = 0.55 * noise(vec3(p, 1.7)) + 0.28 * noise(vec3(p * 2.6, 4.0)) + 0.17 * noise(vec3(p * 6.1, 9.0));
        cloud = smoothstep(0.72 - 0.40 * frame.air.x, 0.95 - 0.25 * frame.air.x, cloud) * smoothstep(0.0, 0.12, up);
        c = mix(c, frame.horizon.rgb * 1.05 + 0.05 * frame.key.rgb, 0.75 * cloud);
    }
    return c;
}

// Two ranges of hills before it; the farther one is nearer to the color of the air.
vec3 with_hills(vec3 d, vec3 c, vec3 air) {
    vec2 around = normalize(d.xy + vec2(1e-6));
    vec3 near = ground_glow();
    bool white = frame.style.z == 6;
    int ranges = 2 + min(frame.style.w, 0); // not unrolled: the compiler does not know the number
    for (int k = 0; k < ranges; k++) {
        float height = frame.air.y * (k == 0 ? 1.0 : 0.55) * (0.25 + 1.3 * ridge(around * (k == 0 ? 1.0 : 1.7), 1.0, 3.0 + 5.0 * float(k)));
        float shade = 0.7 + 0.6 * noise(vec3(around * 17.0, d.z * 30.0));
        vec3 rock = mix(near * shade, air, k == 0 ? 0.62 : 0.35);
        if (white) rock = mix(rock, vec3(0.30, 0.37, 0.48), smoothstep(0.50, 0.70, 0.6 * noise(vec3(around * 9.0, d.z * 22.0)) + 0.4 * noise(vec3(around * 31.0, d.z * 60.0))) * 0.7);
        rock = mix(air, rock, 0.35 + 0.65 * smoothstep(0.0, height, d.z));
        c = mix(c, rock, smoothstep(0.0015, -0.0015, d.z - height));
    }
    return c;
}

vec3 indoors(vec3 d) {
    float shade = smoothstep(-0.15, 0.75, d.z);
    vec3 c = mix(frame.horizon.rgb, frame.zenith.rgb, shade);
    // Furniture, far out of focus.
    vec2 around = normalize(d.xy + vec2(1e-6));
    float thing = noise(vec3(around * 4.1, d.z * 2.4)) * 0.6 + noise(vec3(around * 9.0, d.z * 7.0)) * 0.4;
    c *= mix(1.0, 0.45 + 1.1 * thing, frame.air.x);
    vec3 key = frame.key.rgb, fill = frame.fill.rgb;
    c += 2.6 * mix(key, fill * 3.0, 0.45) * window(d, normalize(vec3(-0.93, -0.05, 0.42)), vec2(0.55, 0.48), vec2(3.0, 2.0), 0.02);
    c += 1.1 * fill * panel(d, normalize(vec3(0.86, -0.50, 0.35)), vec2(0.16, 0.55), 0.06);
    c += 0.9 * key * panel(d, vec3(0.06, -0.22, 1.0), vec2(0.35, 0.20), 0.12);
    return c;
}

vec3 boxes(vec3 d) {
    vec3 c = mix(frame.horizon.rgb, frame.zenith.rgb, smoothstep(-0.05, 0.65, d.z));
    vec3 key = frame.key.rgb, fill = frame.fill.rgb;
    c += 1.9 * key * panel(d, normalize(vec3(-0.95, -0.20, 0.42)), vec2(0.26, 0.62), 0.03);
    c += 2.6 * fill * panel(d, normalize(vec3(0.90, 0.05, 0.35)), vec2(0.13, 0.70), 0.03);
    c += 1.3 * key * panel(d, normalize(vec3(0.05, -0.25, 1.0)), vec2(0.85, 0.16), 0.04);
    c += 0.9 * fill * panel(d, normalize(vec3(-0.30, -0.95, 0.40)), vec2(0.22, 0.35), 0.05);
    return c;
}

vec3 hall(vec3 d) {
    vec3 c = mix(frame.horizon.rgb, frame.zenith.rgb, smoothstep(0.0, 0.7, d.z));
    vec3 key = frame.key.rgb, fill = frame.fill.rgb;
    float far = 1.0 / max(abs(d.y), 0.22), side = d.x * far;
    // Windows in the far and near walls, lamps along the ceiling.
    float high = d.z * far, cell = abs(fract(side * 2.4) - 0.5);
    float panes = smoothstep(0.40, 0.34, cell) * smoothstep(0.22, 0.26, high) * smoothstep(0.62, 0.58, high) * step(abs(side), 2.2);
    panes *= 0.55 + 0.45 * smoothstep(0.03, 0.06, abs(fract(high * 9.0) - 0.5));
    c += (0.30 * key + 0.75 * fill) * panes;
    vec2 up = d.xy / max(d.z, 0.05);
    float lamps = smoothstep(0.12, 0.06, abs(abs(up.x) - 0.55)) * smoothstep(0.30, 0.24, abs(fract(up.y * 0.8) - 0.5)) * step(0.25, d.z);
    c += 2.4 * key * lamps;
    float post = smoothstep(0.47, 0.49, cell) * smoothstep(0.70, 0.66, high);
    return c * (1.0 - 0.55 * post);
}

vec3 stars(vec3 d) {
    vec3 cell = floor(d * 210.0);
    float h = hash(uint(int(cell.x) + 512) * 73856093u ^ uint(int(cell.y) + 512) * 19349663u ^ uint(int(cell.z) + 512) * 83492791u);
    float spot = smoothstep(0.45, 0.1, length(fract(d * 210.0) - 0.5));
    return frame.zenith.rgb + step(0.9955, h) * spot * (h - 0.9955) / 0.0045 * vec3(0.9, 0.95, 1.0);
}

// Above the horizon.
vec3 around_scene(vec3 d) {
    switch (frame.style.w) {
    case SKY_OPEN:
    case SKY_STARS: {
        bool open = frame.style.w == SKY_OPEN;
        vec3 sky = open ? open_sky_of(d) : stars(d);
        return with_hills(d, sky, open ? mix(frame.horizon.rgb, ground_glow(), 0.12) : ground_glow());
    }
    case SKY_INDOORS: return indoors(d);
    case SKY_BOXES: return boxes(d);
    case SKY_HALL: return hall(d);
    default: return backdrop(d) + 0.98 * frame.key.rgb * panel(d, normalize(vec3(-0.86, -0.38, 0.20)), vec2(0.14, 0.50), 0.07)
                  + 3.6 * frame.fill.rgb * panel(d, normalize(vec3(0.72, -0.55, 0.20)), vec2(0.05, 0.45), 0.04);
    }
}

// In all directions: the ground reflects the light.
vec3 place(vec3 d) {
    bool above = d.z >= 0.0 || frame.style.w == SKY_SWEEP;
    vec3 far = around_scene(above ? d : normalize(vec3(d.xy, 0.002))); // once in a program: it is long
    return above ? far : mix(far, ground_glow(), smoothstep(0.0, 0.25, -d.z));
}
