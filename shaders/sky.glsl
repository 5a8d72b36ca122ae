// The backdrop of a studio: bright at the horizon, darker above.
vec3 backdrop(vec3 way) {
    float up = way.z;
    vec3 horizon = vec3(0.36, 0.39, 0.42), zenith = vec3(0.045, 0.075, 0.12);
    vec3 c = mix(horizon, zenith, smoothstep(-0.12, 0.40, up));
    return c;
}
