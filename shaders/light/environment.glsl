// SPDX-License-Identifier: MIT
// The light from around the scene (app/render/environment.c): by direction and roughness, and as irradiance.
layout(binding = 11) uniform samplerCube environment;
layout(std140, binding = 2) uniform Harmonics {
    vec4 harmonics[9]; // of the irradiance over pi
} soft;

vec3 from_around(vec3 direction, float roughness) { return textureLod(environment, direction, 5.0 * roughness).rgb; }

vec3 irradiance(vec3 n) {
    return max(soft.harmonics[0].rgb + soft.harmonics[1].rgb * n.y + soft.harmonics[2].rgb * n.z + soft.harmonics[3].rgb * n.x +
               soft.harmonics[4].rgb * (n.x * n.y) + soft.harmonics[5].rgb * (n.y * n.z) + soft.harmonics[6].rgb * (3.0 * n.z * n.z - 1.0) +
               soft.harmonics[7].rgb * (n.x * n.z) + soft.harmonics[8].rgb * (n.x * n.x - n.y * n.y), vec3(0.0));
}
