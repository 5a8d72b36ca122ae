// A block at hand where an At fetches (SAND_FETCHES): its number, and what is known of it. After Four is defined.
typedef struct At {
    Index block;
    Four spoke; // the normal and half the gap
    real mu, inverse;
} At;
SAND_INLINE At at_bare(Index i) {
    At at = {i, four_zero(), 0, 0};
    return at;
}
SAND_INLINE Index at_block(At at) { return at.block; }
