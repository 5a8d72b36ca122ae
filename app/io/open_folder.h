// SPDX-License-Identifier: MIT
// Shows a folder in the file manager of the desktop.
#pragma once
#include "sandglass/error.h"

bool open_folder(const char *path, SandError *error); // false, with a sentence, where there is no folder or no desktop
