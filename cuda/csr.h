// Rows: the items of each key side by side, in their own order. First the keys are counted, by whoever makes them or by
// csr_count; then csr_build lays the rows out.
#pragma once
#include "cuda/device.h"

constexpr uint32_t CSR_NO_ROW = 0xffffffffu; // the key of an item that is in no row

#ifdef __CUDACC__
// Threads of a warp that have the same key go together.
struct Alike {
    unsigned mask;
    int leader, place; // who goes for them; how many come before this one
};
static __device__ Alike alike(uint32_t key) {
    unsigned mask = __match_any_sync(__activemask(), key);
    int lane = threadIdx.x & 31;
    return {mask, __ffs(mask) - 1, __popc(mask & ((1u << lane) - 1))};
}

// Counts one item.
static __device__ void count_key(int *counted, uint32_t key) {
    Alike a = alike(key);
    if (a.place == 0) atomicAdd(&counted[key], __popc(a.mask));
}
#endif

// The keys of a step: `count` of them, which is known on the device, and at most `room`. Keys that are not below `values`
// are in no row.
struct CsrKeys {
    const uint32_t *key;
    const int *count;
    int64_t capacity, values;
};
// Counts all keys, in `counted`, values + 1 numbers.
bool csr_count(SandDevice *m, const CsrKeys &keys, Array<int> &counted, cudaStream_t stream);
// The items of key k are rows[k] .. rows[k + 1] of `items`; rows have values + 1 places. Every item that finds its place
// is taken off `counted`, so that it is clear again for who counts next. Without items the rows alone.
bool csr_build(SandDevice *m, const CsrKeys &keys, Array<int> &counted, int *rows, int *items, cudaStream_t stream);
