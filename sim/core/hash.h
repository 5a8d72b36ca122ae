// SPDX-License-Identifier: MIT
// FNV-1a hash, a byte or a 64-bit word at a time: for detecting change, not for hash tables that an adversary fills.
//     uint64_t hash = SAND_HASH_BEGIN;
//     for (...) hash = sand_hash(hash, next);
#pragma once
#include <stddef.h>
#include <stdint.h>

#define SAND_HASH_BEGIN 14695981039346656037u // FNV offset basis

// Returns the hash extended by one byte or word.
static inline uint64_t sand_hash(uint64_t hash, uint64_t next) { return (hash ^ next) * 1099511628211u; }

// The same by `size` bytes, with a shift that brings high bits down.
static inline uint64_t sand_hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = (const unsigned char *)data;
    for (size_t i = 0; i < size; i++) hash = sand_hash(hash, bytes[i]);
    return hash ^ hash >> 32;
}
