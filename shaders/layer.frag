#version 450 core
// The panel over the picture, as it was drawn last.
layout(binding = 0) uniform sampler2D layer; // colors are multiplied by their alpha
layout(location = 0) out vec4 out_color;

void main() { out_color = texelFetch(layer, ivec2(gl_FragCoord.xy), 0); }
