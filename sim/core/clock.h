// SPDX-License-Identifier: MIT
// The monotonic clock that every timing in the library and the program reads.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Returns seconds since an arbitrary origin; never goes back, unaffected by changes of the wall clock.
double sand_seconds(void);

#ifdef __cplusplus
}
#endif
