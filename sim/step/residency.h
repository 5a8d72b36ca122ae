// SPDX-License-Identifier: MIT
// Which copy of the state is newer, the host's or the device's: the one place that knows, and that copies. Bodies and warm
// start live where the steps are taken; settings, time and boundaries are always on the host. With the CPU backend there is
// one copy, and nothing here ever copies.
#pragma once
#include "sim/step/backend.h"

// Parts of the state that a device may have a newer copy of.
enum {
    SAND_STATE_BODIES = 1,     // positions, rotations, velocities, spins
    SAND_STATE_WARM_START = 2, // impulses for the next step
    SAND_STATE_CONTACTS = 4,   // contact candidates, problem and solution of the last step
};

typedef struct SandResidency {
    const SandBackend *backend; // that takes the steps
    SandDevice *device;
    SandHostState *host;
    unsigned newer_on_device; // bits of SAND_STATE_
    bool newer_on_host;       // the host has changed bodies or warm start since the last upload
    uint64_t host_step;       // step index of the bodies that the host has
} SandResidency;

// Gives the state to another device, which takes the steps from now on. Everything newer must have been read before. On
// failure nothing has changed; the caller destroys the device that is no longer used.
bool sand_residency_move(SandResidency *r, const SandBackend *backend, SandDevice *device, SandError *error);

// Reads these parts back to the host, where the device has a newer copy. Contacts are read by sand_residency_read_contacts.
bool sand_residency_read(SandResidency *r, unsigned parts, SandError *error);
// Reads bodies and warm start back to the host, or with ranks to every host, because they are about to be changed there.
bool sand_residency_share(SandResidency *r, SandError *error);
// Reads the contacts of the last step back to the host, with the bodies. On failure the problem is empty.
bool sand_residency_read_contacts(SandResidency *r, struct SandThreadPool *pool, SandError *error);
// Reads one body. The host's copy stays that of one step, from which the CPU continues where the device fails.
bool sand_residency_read_body(SandResidency *r, int body, SandBodyState *to, SandError *error);

// Uploads what the host has changed. *uploaded: whether there was anything.
bool sand_residency_write(SandResidency *r, bool *uploaded, SandError *error);

void sand_residency_stepped(SandResidency *r); // the device has taken a step
void sand_residency_changed(SandResidency *r); // the host has changed its state: it is the newer copy
