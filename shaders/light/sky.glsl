// SPDX-License-Identifier: MIT
// The studio around the scene: a backdrop that sweeps from the ground up without a seam, and two tall soft boxes.
vec3 backdrop(vec3 direction) { return mix(frame.horizon.rgb, frame.zenith.rgb, smoothstep(-0.12, 0.62, direction.z)); }

// What a mirror shows at low quality: soft boxes left and right of the camera, and the backdrop.
vec3 studio(vec3 direction) {
    vec3 right = to_world(vec3(1.0, 0.0, 0.0)), near = to_world(vec3(0.0, 0.0, 1.0));
    float side = dot(direction, right), front = dot(direction, near);
    float tall = smoothstep(-0.60, -0.25, direction.z) * smoothstep(0.80, 0.45, direction.z);
    float left_box = smoothstep(0.06, 0.20, -side - 0.52) * smoothstep(0.42, 0.30, -side - 0.52) * step(-0.2, front);
    float right_box = smoothstep(0.02, 0.09, side - 0.78) * smoothstep(0.18, 0.11, side - 0.78) * step(-0.2, front);
    return backdrop(direction) + tall * (0.98 * frame.key.rgb * left_box + 3.6 * frame.fill.rgb * right_box);
}
