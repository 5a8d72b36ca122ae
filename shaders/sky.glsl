// The backdrop of a studio: bright at the horizon, darker above.
vec3 backdrop(vec3 way) {
    float up = way.z;
    vec3 horizon = vec3(0.60, 0.615, 0.63), zenith = vec3(0.13, 0.18, 0.25);
    vec3 c = mix(horizon, zenith, smoothstep(-0.05, 0.55, up));
    return c;
}
