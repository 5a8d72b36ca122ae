// A block at hand where an ContactRef fetches (SAND_LAYOUT_AOS): its number, and what is known of it. After Vec4 is defined.
typedef struct ContactRef {
    Index block;
    Vec4 record; // the normal and half the gap
    real mu, inverse;
} ContactRef;
SAND_INLINE ContactRef contact_ref_bare(Index i) {
    ContactRef ref = {i, vec4_zero(), 0, 0};
    return ref;
}
SAND_INLINE Index contact_index(ContactRef ref) { return ref.block; }
