// SPDX-License-Identifier: MIT
// CSR lists on the device: the items 0, 1, 2, ... grouped by key, those of one key in ascending order, so that the result
// does not depend on the order of the threads. First the keys are counted, by the kernel that makes them (count_key) or by
// csr_count; then csr_build makes rows and items. Used for spheres by cell, contacts by owner, by second body and by color.
#pragma once
#include "cuda/device.h"

constexpr uint32_t CSR_NO_ROW = 0xffffffffu; // the key of an item that is in no row

#ifdef __CUDACC__
// The threads of a warp that have the same key; one of them does the atomic for all.
struct KeyGroup {
    unsigned mask;
    int leader, position; // lane of the first of them; how many of them come before this thread
};
static __device__ KeyGroup key_group(uint32_t key) {
    unsigned mask = __match_any_sync(__activemask(), key);
    int lane = threadIdx.x & 31;
    return {mask, __ffs(mask) - 1, __popc(mask & ((1u << lane) - 1))};
}

// Counts one item of a key.
static __device__ void count_key(int *key_counts, uint32_t key) {
    KeyGroup a = key_group(key);
    if (a.position == 0) atomicAdd(&key_counts[key], __popc(a.mask));
}
#endif

// The keys of a step: `count` of them, which is known on the device alone, and at most `capacity`. Keys that are not below
// `values` are in no row.
struct CsrKeys {
    const uint32_t *key;
    const int *count;
    int64_t capacity, values;
};
// Counts all keys, into `key_counts`, values + 1 numbers.
bool csr_count(SandDevice *device, const CsrKeys &keys, int *key_counts, cudaStream_t stream);
// Makes the lists: the items of key k are items[rows[k]] up to items[rows[k + 1] - 1]; rows has values + 1 entries. Filling
// the items counts `key_counts` down to zero, so that it is ready for the next count. With `items` NULL, makes the rows
// alone.
bool csr_build(SandDevice *device, const CsrKeys &keys, int *key_counts, int *rows, int *items, cudaStream_t stream);
