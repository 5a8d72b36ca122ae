// What the words of the SPMD core share on both machines: the functions of the precision at hand, and where a block
// lies in memory. The including file defines `real`, Index, SAND_INLINE and REAL_FUSED (1: the machine fuses a b + c).

#define REAL_TINY ((real)1e-30)
#define REAL_EPSILON ((real)(sizeof(real) == 4 ? 1.2e-7 : 2.2e-16)) // spacing of the numbers at 1

SAND_INLINE real real_sqrt(real a) { return sizeof(real) == 4 ? (real)sqrtf((float)a) : (real)sqrt((double)a); }
SAND_INLINE real real_max(real a, real b) { return a > b ? a : b; }
SAND_INLINE real real_abs(real a) { return a < 0 ? -a : a; }

// a b + c in one rounding where the machine has it, which is on every GPU and nearly every CPU: said so here, and not
// left to the compiler, so that the bits are the same whoever compiles.
SAND_INLINE real real_ma(real a, real b, real c) {
#if REAL_FUSED
    return sizeof(real) == 4 ? (real)fmaf((float)a, (float)b, (float)c) : (real)fma((double)a, (double)b, (double)c);
#else
    return a * b + c;
#endif
}

// Where a block lies. The numbers of the blocks of a tile are side by side: all first components, then all second.
typedef struct At {
    Index tile, lane; // first block of its tile, place in the tile
} At;
SAND_INLINE At at_make(Index i, Index tile) {
    At at = {tile, i - tile};
    return at;
}
SAND_INLINE At at_of(Index i) { return at_make(i, i & ~(Index)(SAND_LANES - 1)); }
SAND_INLINE Index at_block(At at) { return at.tile + at.lane; }
// Component k of `count` in an array of blocks.
SAND_INLINE Index at_number(At at, int count, int k) { return count * at.tile + k * SAND_LANES + at.lane; }
