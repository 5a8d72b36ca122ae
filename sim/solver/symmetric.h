// SPDX-License-Identifier: MIT
// Symmetric matrices of three rows, given as xx, yy, zz, xy, xz, yz, as inertias are.
#pragma once
#include <stdbool.h>

// The inverse; false where the matrix is not positive definite.
static inline bool sand_symmetric_invert(const double *a, double *inverse) {
    double xx = a[1] * a[2] - a[5] * a[5], yy = a[0] * a[2] - a[4] * a[4], zz = a[0] * a[1] - a[3] * a[3];
    double xy = a[4] * a[5] - a[3] * a[2], xz = a[3] * a[5] - a[1] * a[4], yz = a[3] * a[4] - a[0] * a[5];
    double determinant = a[0] * xx + a[3] * xy + a[4] * xz, parts[6] = {xx, yy, zz, xy, xz, yz};
    if (!(a[0] > 0 && zz > 0 && determinant > 0)) return false;
    for (int k = 0; k < 6; k++) inverse[k] = parts[k] / determinant;
    return true;
}
