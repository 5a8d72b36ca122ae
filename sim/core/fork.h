// SPDX-License-Identifier: MIT
// Whether this process is a fork of the one in which something was made. A fork has the memory of its parent, and of its
// threads only the one that forked: what waits for the others waits forever.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// How often the line of this process was forked since the first call of this function. What keeps the number that it was
// made with knows that it is in another process when the number has changed.
unsigned sand_fork_count(void);

#ifdef __cplusplus
}
#endif
