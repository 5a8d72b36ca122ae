// Arrays that grow when they are too small and never shrink. Growth is counted, so that a test can show
// that a steady step allocates nothing.
#pragma once
#include "sim/core/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// Makes room for `count` items of `size` bytes at *array, keeping what is there; new bytes are zero.
// *capacity is in items. False, with a sentence naming `what`, when memory is out; the old array stays valid.
// Memory is aligned to 64 bytes.
bool sand_grow(void *array, size_t *capacity, size_t count, size_t size, const char *what, SandError *error);

// SAND_GROW(pointer, capacity, count, "what", error) for a typed pointer.
#define SAND_GROW(array, capacity, count, what, error) \
    sand_grow((void *)&(array), &(capacity), (size_t)(count), sizeof *(array), what, error)

void sand_free(void *array); // frees what sand_grow made; NULL is fine

uint64_t sand_growth_count(void); // growths since the program began
uint64_t sand_bytes_held(void);   // bytes now held by all arrays

// Bytes of bodies and contacts that other machines copied to the host since the program began; they count it themselves.
void sand_count_downloaded(size_t bytes);
uint64_t sand_bytes_downloaded(void);

#ifdef __cplusplus
}
#endif
