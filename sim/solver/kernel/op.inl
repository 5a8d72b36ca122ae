// SPDX-License-Identifier: MIT
// The data of the operator that a solver sees: per-contact constants, per-body velocities, and the preconditioner. N = D'
// M^-1 D is never assembled; operator.inl and gather.inl apply it. docs/problem.md has the notation.
#pragma once
#include "sim/core/limits.h"
#include "sim/core/ranks.h"
#include "sim/solver/kernel/block_parts.h"
#include "sim/solver/kernel/spmd.h"
#include "sandglass/solver.h"

#define SAND_VEC_INLINE SAND_INLINE
#define SAND_VEC Vec
#define SAND_SCALAR real
#define SAND_VF(name) vec_##name
#define SAND_MA(a, b, c) real_ma(a, b, c)
#include "sandglass/vec.inl"

SAND_INLINE Vec vec_of(const real *p) { return vec_make(p[0], p[1], p[2]); }
SAND_INLINE Vec vec_of_vec4(Vec4 f) { return vec_make(VEC4_X(f), VEC4_Y(f), VEC4_Z(f)); }

// The velocity of a body, padded so that one vector load fetches three components.
typedef struct Body {
    real v[4]; // the fourth is unused
    real w[4]; // the fourth is the radius of a sphere
} Body;
enum { BODY_NUMBERS = sizeof(Body) / sizeof(real) };

// The constants of a block of a joint, beside those of a contact (joint.inl).
enum {
    JOINT_KIND,           // 0: a contact, 1: a block, 2: an angular one
    JOINT_LOW,            // bounds of the impulse along the axis
    JOINT_HIGH,           //
    JOINT_ACROSS,         // bound of each impulse across it
    JOINT_BIAS,           // 3 numbers, in the basis of the block; 0 for a row that does not exist
    JOINT_COMPLIANCE = 7, // along the axis
    JOINT_DIAGONAL,       // 3 numbers: the diagonal of N_ii
    JOINT_CONSTANTS = SAND_JOINTS ? JOINT_DIAGONAL + 3 : 0,
};

// The constants of rolling and spinning friction, beside those of a contact (rolling.inl).
enum {
    ROLLING_ARM,      // m: a torque counts as a force at this arm
    ROLLING_FRICTION, // coefficients over the arm, so that they are slopes as mu is
    SPINNING_FRICTION,
    ROLLING_CONSTANTS = SAND_ROLLING ? SPINNING_FRICTION + 1 : 0,
};

// Numbers of a stored world impulse. Four of the force, of which the last is zero; and four of a torque: that of rolling
// friction, or with SAND_STORED_TORQUES n x force in the order (z, x, y), where the fourth of the force is the length of the
// arm of body a, and the fourth of the torque that of body b.
enum { IMPULSE_SIZE = SAND_ROLLING || SAND_STORED_TORQUES ? 8 : 4 };

enum { SAND_INERTIA_SIZE = SAND_RADIAL ? 1 : 6 }; // numbers of an inverse inertia: a scalar, or xx, yy, zz, xy, xz, yz

// The preconditioner P, which measures and scales steps. P_DIAGONAL is p along a normal and ratio p across it, with p such
// that the mean over the rows is the mean diagonal of N_ii; a contact of one row has a normal alone. P_UNIFORM is the mean
// of these diagonals over all contacts, the same in all directions.
typedef struct Preconditioner {
    real diagonal, mean;                      // P_ii = diagonal N_ii + mean
    real inverse_mean;                        // its inverse: diagonal / N_ii + inverse_mean
    real across;                              // factor of P_ii across the normal
    real more;                                // added along the normal, contact with friction
    real more_bare;                           // the same, frictionless contact
    real per_across, per_more, per_more_bare; // the same three of P^-1
    real ratio, root;                         // across / along, and its square root
} Preconditioner;
enum { P_UNIFORM, P_DIAGONAL };

#if SAND_LOCAL
// What bounds the friction of a contact. CONE: its section has the size mu times the normal impulse, so K is a cone.
// BOUNDED: the size is a stored bound. INSIDE: it is mu times the current normal impulse, and the projection treats it as a
// bound.
enum { FRICTION_CONE, FRICTION_BOUNDED, FRICTION_INSIDE };
#endif

// Bodies that are exchanged with other ranks (ghosts.inl), neighbor by neighbor.
typedef struct Ghosts {
    const SandRanks *ranks;
    const int *degree; // of each held body: contacts in the whole problem
    // Own bodies are first_own .. end_own - 1; no other rank needs first_inner .. end_inner - 1 of them.
    int first_own, first_inner, end_inner, end_own;
    int send_count, receive_count;
    const int *send, *receive; // own bodies that other ranks have as ghosts; ghosts of this rank
    real *outgoing, *incoming; // GHOST_SIZE numbers of each
    int message_count;
    const SandMessage *messages; // one for each neighbor; of no use to a GPU, whose host sends them
} Ghosts;
enum { GHOST_SIZE = 6 }; // numbers that a ghost takes: velocity and spin

typedef struct Op {
    Index n;             // contacts, padded to SAND_LANES; the padding has no normal and refers to the last body
    Index contact_count; // without the padding
    int body_count;      // with boundaries, and one last body that never moves
    int dynamic_count;
    real two_per_step; // 2 / h: turns half a gap into the speed that closes it in one step
    real recovery;     // m/s, the largest speed at which penetration is undone
    real fraction;     // of a shallow penetration that is undone in a step
    real left;         // m, half of what is left of a deep one
    double tau;        // step of the residual, 1 / mean(trace N_ii / rows)
    double per_tau;    // 1 / tau
    real ratio;        // of P_DIAGONAL
    Preconditioner p[2];
    bool bare; // some contact has no friction, or nobody has looked: see op_has_bare

    // Contacts. The layouts differ in what `constant` holds: layout_soa.inl, layout_aos.inl.
    const int *a, *b;     // bodies; sorted by a
    const real *constant; // CONTACT_CONSTANTS per contact
    const real *bounce;   // m/s, added to the least normal velocity of each contact; NULL: nothing is
#if SAND_LAYOUT_AOS
    const real *record; // 4 numbers per contact, together: the normal and half the gap
#endif
#if !SAND_RADIAL
    const real *arm_a_record, *arm_b_record; // 4 numbers per contact, together: the lever arms
#endif
    real *impulse;         // IMPULSE_SIZE numbers per contact, together: the world impulses that gather_bodies reads
    real *vectors;         // the method's vectors, one after the other: op_vector
    int64_t vector_stride; // from one vector to the next

    // Bodies. Where there are joints, each array of Body goes on with one entry per contact behind body_count: how its
    // springs yield (joint.inl).
    const real *inverse_mass;
    const real *inverse_inertia;
    const Body *free;  // velocities before contact
    const Body *still; // one body at rest
    Body *body;        // current velocities: what gather_bodies writes
    Body *scratch;     // for the product alone, in which boundaries stand still
    Body *measured;    // for measurements, which disturb nothing
    const int *first;  // contacts first[k] .. first[k+1]-1 have body k as their a
#if SAND_RANKS
    const int *first_end; // in place of first[k+1], where padding may lie in between
#endif
    const int *second, *list; // contacts list[second[k] .. second[k+1]-1] have body k as their b
#if SAND_GATHER_ORDER
    const int *order; // the moving bodies as the gather visits them
#endif

    const Ghosts *ghosts; // NULL: all bodies are this process's own

    // High-degree bodies (more than SAND_HIGH_DEGREE contacts): their contacts are gathered in segments by many workers.
    int high_degree_count, segment_count;
    const int *high_degree;         // body of each
    const int *high_degree_segment; // segments high_degree_segment[j] .. high_degree_segment[j+1]-1 belong to body j of them
    const int *segment_body;        // high-degree body of each segment
    Body *segment_sum;              // impulse and angular impulse of each segment

    // Colors, for methods that relax contacts one by one: contacts color_list[color_first[c] ..] share no body. The last
    // color is a Jacobi batch of the contacts of high-degree bodies.
    int color_count;
    const int *color_first, *color_list;
    const real *batch_step; // 1 / diagonal where a high-degree body is split among its contacts

    // Blocks of contacts (sim/solver/blocks.h), for methods that sweep them: the blocks block_color_first[c] .. of one color
    // share no body; those of block q are in the tiles block_tile_first[q] .., SAND_BLOCK_LANES contacts each, -1: none.
    int block_color_count;
    const int *block_color_first, *block_tile_first, *block_tile;
    void *block_tiles; // room for a BlockTile of each tile (block_tiles.inl)
    double *block_sum; // two numbers of each block
    BlockParts parts;  // on a GPU in place of the tiles
    Body *last;        // velocities before the last extrapolation

    // Cells of the coarse correction (coarse.inl), for methods that use it; none: no cells.
    int cells[3];                      // along each axis
    int cell_slots;                    // parts that a cell is summed in
    real per_edge;                     // 1/m
    const real *place;                 // 4 numbers per moving body: where it is, in cells from the lower corner of the grid
    const int *cell_first, *cell_list; // bodies cell_list[cell_first[c] ..] are in cell c
    real *moments;                     // COARSE_MOMENTS numbers per moving body
    real *field;                       // 4 numbers per moving body: phi and its gradient
    real *cell_parts, *cell_matrix;    // COARSE_ELEMENT numbers for each part, for each cell
    real *coarse_rows;                 // COARSE_NEIGHBORS numbers per node: rows of the equations for phi
    real *coarse_vectors;              // COARSE_VECTORS vectors over the nodes

    // A stored matrix N in place of bodies (operator_matrix.inl): blocks matrix_first[i] .. of row i, 9 numbers each.
    bool is_matrix;
    const int *matrix_first, *matrix_column, *matrix_mirror;
    const real *matrix_block;
#if SAND_LOCAL
    // The friction model (friction.inl).
    SandSection section;
    int set;                         // FRICTION_CONE, FRICTION_BOUNDED or FRICTION_INSIDE
    bool law;                        // the result is to obey Coulomb's law, and is measured by it
    int facets;                      // of a polygonal section
    real apothem, edge;              // of a section of size 1: distance of a facet, half its length
    real facet[2 * SAND_MAX_FACETS]; // outward normals
    real *bound;                     // FRICTION_BOUNDED: size of the section of each contact
    real *de_saxce;                  // De Saxce's bias: added to the normal velocity of each contact
#endif
} Op;

SAND_INLINE real *op_vector(const Op *op, int k) { return op->vectors + k * op->vector_stride; }

// Entries of an array of Body.
SAND_INLINE Index op_body_entries(const Op *op) { return op->body_count + (SAND_JOINTS ? op->n : 0); }

SAND_INLINE int op_block_count(const Op *op) { return op->block_color_first[op->block_color_count]; }

// Whether a contact may have no friction. A GPU does not ask: it waits for memory, and not for what this spares.
SAND_INLINE bool op_has_bare(const Op *op) { return SAND_LAYOUT_AOS || op->bare; }

// Behind the last contact. Where chunks are padded, which those of a matrix are not, loops over all contacts meet padding.
SAND_INLINE Index op_contacts_end(const Op *op) { return SAND_RANKS && !op->is_matrix ? op->n : op->contact_count; }
SAND_INLINE bool op_is_padding(const Op *op, Index i) { return op->a[i] == op->body_count - 1; }

// Whether all bodies are this process's own.
SAND_INLINE bool op_is_whole(const Op *op) {
#if SAND_RANKS
    return !op->ghosts;
#else
    return (void)op, true;
#endif
}

// Behind the last contact that has body k as its a.
SAND_INLINE int body_first_end(const Op *op, Index k) {
#if SAND_RANKS
    return SAND_FIXED(&op->first_end[k]);
#else
    return SAND_FIXED(&op->first[k + 1]);
#endif
}

// One contact's part of a solver vector: a vector, a number in a frictionless problem, or a force and a torque.
#if SAND_ROLLING
typedef struct Row {
    Vec force;  // along the normal and the tangents
    Vec torque; // about them, over ROLLING_ARM
} Row;
SAND_INLINE Row row_make(Vec force, Vec torque) {
    Row r = {force, torque};
    return r;
}
SAND_INLINE Row row_of(Vec force) { return row_make(force, vec_make(0, 0, 0)); }
SAND_INLINE Vec row_force(Row r) { return r.force; }
SAND_INLINE Row row_add(Row a, Row b) { return row_make(vec_add(a.force, b.force), vec_add(a.torque, b.torque)); }
SAND_INLINE Row row_sub(Row a, Row b) { return row_make(vec_sub(a.force, b.force), vec_sub(a.torque, b.torque)); }
SAND_INLINE Row row_scale(real s, Row a) { return row_make(vec_scale(s, a.force), vec_scale(s, a.torque)); }
SAND_INLINE Row row_madd(Row a, real s, Row b) {
    return row_make(vec_madd(a.force, s, b.force), vec_madd(a.torque, s, b.torque));
}
SAND_INLINE real row_dot(Row a, Row b) { return vec_dot(a.force, b.force) + vec_dot(a.torque, b.torque); }
SAND_INLINE real vec_largest(Vec a) { return real_max(real_abs(a.x), real_max(real_abs(a.y), real_abs(a.z))); }
SAND_INLINE real row_largest(Row a) { return real_max(vec_largest(a.force), vec_largest(a.torque)); }
#elif SAND_ROWS == 3
typedef Vec Row;
// The force of a row, and a row without torque: in this variant they are the same.
SAND_INLINE Row row_of(Vec force) { return force; }
SAND_INLINE Vec row_force(Row r) { return r; }
SAND_INLINE Row row_add(Row a, Row b) { return vec_add(a, b); }
SAND_INLINE Row row_sub(Row a, Row b) { return vec_sub(a, b); }
SAND_INLINE Row row_scale(real s, Row a) { return vec_scale(s, a); }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return vec_madd(a, s, b); } // a + s b
SAND_INLINE real row_dot(Row a, Row b) { return vec_dot(a, b); }
SAND_INLINE real row_largest(Row a) { return real_max(real_abs(a.x), real_max(real_abs(a.y), real_abs(a.z))); }
#else
typedef real Row;
SAND_INLINE Row row_add(Row a, Row b) { return a + b; }
SAND_INLINE Row row_sub(Row a, Row b) { return a - b; }
SAND_INLINE Row row_scale(real s, Row a) { return s * a; }
SAND_INLINE Row row_madd(Row a, real s, Row b) { return a + s * b; }
SAND_INLINE real row_dot(Row a, Row b) { return a * b; }
SAND_INLINE real row_largest(Row a) { return real_abs(a); }
#endif

// A point before it is projected on a cone around n: its part across n, the square of that part's length, and its part along
// n.
typedef struct ConeHalf {
    Vec t;
    real square, xn;
} ConeHalf;

// What a contact reads of its two bodies.
typedef struct RelativeMotion {
    Vec u; // difference of the velocities, b minus a
#if SAND_RADIAL
    Vec s; // arms times spins, added up
#else
    Vec wa, wb;
#endif
#if SAND_JOINTS
    Vec yield; // of the springs of the block
#endif
} RelativeMotion;
