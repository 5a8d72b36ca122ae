#version 450 core
// SPDX-License-Identifier: MIT
// Adds a picture to a sum, in linear light and with premultiplied alpha.
layout(binding = 0) uniform sampler2D picture;
layout(location = 0) out vec4 out_sum;

void main() {
    vec4 c = texelFetch(picture, ivec2(gl_FragCoord.xy), 0);
    vec3 linear = mix(c.rgb / 12.92, pow((c.rgb + 0.055) / 1.055, vec3(2.4)), greaterThan(c.rgb, vec3(0.04045)));
    out_sum = vec4(linear * c.a, c.a);
}
