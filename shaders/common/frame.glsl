// SPDX-License-Identifier: MIT
// Uniforms of a frame, shared by all passes (FrameUniforms in app/render/renderer.c). Lengths in meters, relative to the origin
// of the render scene.
layout(std140, binding = 0) uniform Frame {
    mat4 view;
    mat4 projection;
    mat4 light;       // world to the shadow map: x, y in -1..1, depth 1 next to the sun
    vec4 light_scale; // shadow map units per meter along x, y and depth; meters per texel
    vec4 eye;         // position; w: 1 perspective, 0 orthographic
    vec4 lens;        // half width and height of the view at distance 1 (orthographic: of the view); near; far
    vec4 size;        // of the target in pixels; one over it
    vec4 sun;         // direction to the sun; w: shadow bias, in shadow-map depth
    vec4 moment;      // seconds to extrapolate back; radius of ambient occlusion; height of the floor; size of the scene
    vec4 key;         // radiance of the key light; w: exposure
    vec4 fill;        // of the soft light from above
    vec4 bounce;      // and from below
    vec4 horizon;     // of the backdrop at eye level and below
    vec4 zenith;      // and high up
    vec4 cut;         // a body is hidden where its center lies beyond this plane: xyz . x > w
    vec4 shift;       // x, y: of the picture plane against the eye, at distance 1 (orthographic: in meters)
                      // z: radius in pixels from which silhouettes are smoothed
    vec4 chain;       // least strength of a link that is drawn; factor of its width
    vec4 ground;      // color of the ground; roughness
    vec4 ground_too;  // its second color; w: haze per meter
    vec4 air;         // clouds; slope of the hills; distance at which haze begins; unused
    ivec4 quality;    // shadow taps; ambient occlusion samples; ambient texels a pixel is averaged from, along a side; its scale
    ivec4 mode;       // bodies are dimmed behind force chains; transparent ground and sky; softness of a shadow in texels, times 256; silhouettes are smoothed
    ivec4 style;      // the ground: 0 seamless, 1 with a grid, 2 none; colors show data; SandGround; SandSky
} frame;

// A ray through a point of the target, in the view's frame.
void view_ray(vec2 pixel, out vec3 start, out vec3 direction) {
    vec2 at = (2.0 * pixel * frame.size.zw - 1.0) * frame.lens.xy + frame.shift.xy;
    bool perspective = frame.eye.w > 0.5;
    start = perspective ? vec3(0.0) : vec3(at, 0.0);
    direction = perspective ? vec3(at, -1.0) : vec3(0.0, 0.0, -1.0);
}

float depth_of(float view_z) {
    return frame.eye.w > 0.5 ? frame.lens.z / -view_z : (view_z + frame.lens.w) / (frame.lens.w - frame.lens.z);
}

float view_z_of(float depth) {
    return frame.eye.w > 0.5 ? -frame.lens.z / depth : depth * (frame.lens.w - frame.lens.z) - frame.lens.w;
}

vec3 view_position(vec2 pixel, float depth) {
    vec3 start, direction;
    view_ray(pixel, start, direction);
    return start + direction * -view_z_of(depth);
}

vec3 to_world(vec3 direction) { return transpose(mat3(frame.view)) * direction; }
vec3 world_position(vec3 in_view) { return to_world(in_view - frame.view[3].xyz); }

bool is_cut(vec3 center) { return dot(frame.cut.xyz, center) > frame.cut.w; }

vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }

// A rotation at the instant of the frame, turned by exp(-s w).
vec4 turned_back(vec4 q, vec3 spin) {
    vec3 by = -frame.moment.x * spin;
    float angle = length(by);
    vec4 e = vec4(by * (angle > 1e-4 ? sin(0.5 * angle) / angle : 0.5), cos(0.5 * angle));
    return vec4(e.w * q.xyz + q.w * e.xyz + cross(e.xyz, q.xyz), e.w * q.w - dot(e.xyz, q.xyz));
}

float hash(uint n) {
    n = (n ^ 61u) ^ (n >> 16);
    n *= 9u;
    n ^= n >> 4;
    n *= 0x27d4eb2du;
    n ^= n >> 15;
    return float(n & 0xffffffu) / 16777216.0;
}
