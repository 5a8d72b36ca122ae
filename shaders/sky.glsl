// The backdrop of a studio: bright at the horizon, darker above.
vec3 backdrop(vec3 way) {
    float up = way.z;
    vec3 horizon = vec3(0.255, 0.30, 0.355), zenith = vec3(0.018, 0.036, 0.066);
    vec3 c = mix(horizon, zenith, smoothstep(-0.16, 0.30, up));
    return c;
}
