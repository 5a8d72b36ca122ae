// What leaves the world on the device.
#include "cuda/device.h"

#include <cmath>

bool flow_upload(SandDevice *device, const SandWorld *w) {
    double mass = 0;
    for (int i = 0; i < w->body_count; i++) mass += w->mass[i];
    device->mass_unit = std::ldexp(mass > 0 ? mass : 1, -62);
    return upload(device, device->outlets, w->outlets, (size_t)w->outlet_count);
}

void flow_report(const SandDevice *device, const Counts *c, SandStepReport *r) {
    for (int k = 0; k < SAND_MAX_OUTLETS; k++) {
        r->left[k] = c->left[k];
        r->left_mass[k] = device->mass_unit * (double)c->left_mass[k];
    }
}
