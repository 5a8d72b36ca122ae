// SPDX-License-Identifier: MIT
// The status of a solve is a claim about the impulses that it returns. It is made here, from figures measured on those
// impulses, for every method on every device. A method only says that it cannot go on (SandEnd), and why.
#pragma once
#include "sandglass/error.h"
#include <math.h>

// The rules are the same on a GPU.
#ifdef __CUDACC__
#define SAND_STATUS_INLINE static inline __host__ __device__
#else
#define SAND_STATUS_INLINE static inline
#endif

// Why the iterations of a solve ended.
typedef enum SandEnd {
    SAND_END_NONE,      // they go on
    SAND_END_TOLERANCE, // the driver measured a residual within the tolerance
    SAND_END_BUDGET,    // iterations or time are used up
    SAND_END_CANCELED,  // somebody asked for it
    SAND_END_EXHAUSTED, // the method cannot improve its impulses any further, or broke down
    SAND_END_RECEDES,   // from a method: its impulses seem to grow along a direction that nothing resists. From a driver:
                        // such a direction was found and checked (SandRecession)
} SandEnd;

// What a solve is judged by.
typedef struct SandEvidence {
    double residual;  // m/s
    double relative;  // no dimension; NAN where it was not measured
    double objective; // J
    double r_norm;    // m/s, the norm of r; NAN where it was not measured
    double tolerance; // of the residual, or of the relative one; 0: none was asked for
    bool is_relative;
    double blur, relative_blur; // what rounding may hide of the residual, and of the relative one
    double rounding;            // m/s, what rounding may have added to the residual
} SandEvidence;

SAND_STATUS_INLINE bool sand_is_within(SandEvidence e) {
    return (e.is_relative ? e.relative + e.relative_blur : e.residual + e.blur) <= e.tolerance;
}

// Whether the impulses are worse than none, whose objective is 0 and whose residual is at most the norm of r: by this
// factor. Bodies that move along with each other leave nothing of r but rounding.
SAND_STATUS_INLINE bool sand_is_astray(SandEvidence e, double factor) {
    return !isfinite(e.residual) || (e.residual - e.rounding > factor * e.r_norm && e.objective > 0);
}
#define SAND_ASTRAY 10.0     // a result that is worse by more has diverged
#define SAND_HOPELESS 1.0e6  // a solve that is worse by more need not go on
#define SAND_ROUNDING 1.0e-9 // of the norm of r: what rounding may leave of the residual of an exact solution

// Whether only rounding is left of the residual: where no tolerance was asked for, a method that then ends by itself has
// solved the problem.
SAND_STATUS_INLINE bool sand_is_rounded(SandEvidence e) {
    return e.tolerance == 0 && e.residual + e.blur <= SAND_ROUNDING * e.r_norm;
}

// Impulses that solve the problem are a solution, whatever else was found on the way to them.
SAND_STATUS_INLINE SandStatus sand_status_of(SandEnd end, SandEvidence e) {
    if (sand_is_astray(e, SAND_ASTRAY)) return SAND_DIVERGED;
    if (sand_is_within(e)) return SAND_SOLVED;
    bool by_itself = end == SAND_END_RECEDES || end == SAND_END_EXHAUSTED;
    if (by_itself && sand_is_rounded(e)) return SAND_SOLVED;
    if (end == SAND_END_RECEDES) return SAND_INFEASIBLE;
    if (end == SAND_END_CANCELED) return SAND_CANCELED;
    bool claimed = end == SAND_END_TOLERANCE; // what the driver measured on the way did not hold
    return claimed || end == SAND_END_EXHAUSTED ? SAND_STALLED : SAND_BUDGET;
}

// A direction d of impulses proves a problem infeasible when it recedes (it may be added to any admissible impulses), has no
// effect (N d = 0), and is asked for all the same (r'd < 0): the velocities u = N g + r of a solution would have d'u >= 0,
// but d'u = r'd. Where N d is only small, any solution g still has sqrt(g'Ng) >= -r'd / sqrt(d'Nd), the root of twice the
// energy that its impulses alone would give the bodies. The claim is made when that is a million times what the contacts of
// d ask for, sum |r_i| |d_i| / sqrt(d'Pd), with the mean diagonals P of N: then N d is zero but for the rounding of float,
// and a thousand times that of double. A wedge that opens by less than a millionth counts as parallel.
typedef struct SandRecession {
    double dNd;   // d'Nd, and what rounding may hide of it
    double dPd;   // d'Pd
    double rd;    // r'd
    double asked; // sum |r_i| |d_i|
} SandRecession;

#define SAND_RECEDES 1.0e6    // times what is asked for: a certificate
#define SAND_MAY_RECEDE 3.0e1 // a direction from which it is worth looking for one: piles stay far below it

SAND_STATUS_INLINE bool sand_recedes_by(SandRecession d, double times) {
    return d.rd < 0 && d.dPd > 0 && d.rd * d.rd * d.dPd >= times * times * d.asked * d.asked * d.dNd;
}
SAND_STATUS_INLINE bool sand_recedes(SandRecession d) { return sand_recedes_by(d, SAND_RECEDES); }

// The least energy of any solution that the direction proves, J.
SAND_STATUS_INLINE double sand_recession_energy(SandRecession d) { return 0.5 * d.rd * d.rd / d.dNd; }
