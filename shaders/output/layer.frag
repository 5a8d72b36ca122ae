#version 450 core
// SPDX-License-Identifier: MIT
// Composites the cached layer of the panel.
layout(binding = 0) uniform sampler2D layer; // premultiplied alpha
layout(location = 0) out vec4 out_color;

void main() { out_color = texelFetch(layer, ivec2(gl_FragCoord.xy), 0); }
