// SPDX-License-Identifier: MIT
// The one table of solvers, an X-macro. Everything that lists solvers is made from it: the dispatch of the kernels, the
// command line, the panel, the tests and docs/solvers.md. To add a method: write sim/solver/methods/NAME.inl, include it
// below, add a row (CONTRIBUTING.md walks through it).
//
// SAND_ROW(id, name, vectors, on_cuda, owns, needs, friction, paper, idea, weakness, parameters...)
//   id         the method's file defines id_State, id_start and id_step; one step is one product with N
//   vectors    solver vectors it uses; the first is the start, feasible, with its velocities in op.body
//   on_cuda    whether it is compiled for CUDA
//   owns       SAND_OWNS_ bits: what the method does itself, so that the driver does not (method_traits.h)
//   needs      SAND_NEEDS_ bits: what must be prepared before it starts
//   friction   bits of the friction models it supports
// SAND_COMPONENT_ROW is the same for methods that look at single components of an impulse: they are not part of the variants
// in which impulses are world vectors. SAND_FORCE_ROW is for methods without torques: they are not part of the variant with
// rolling friction. Neither kind supports rolling friction; all other rows have SAND_ROLLS.
#ifndef SAND_ROW // opened alone
#define SAND_ROW(...)
#endif
#ifndef SAND_COMPONENT_ROW
#define SAND_COMPONENT_ROW SAND_ROW
#endif
#ifndef SAND_FORCE_ROW
#define SAND_FORCE_ROW SAND_ROW
#endif

// SAND_ASSEMBLED_ROW(id, name, friction, paper, idea, weakness, parameters...): methods that need N as a matrix
// (sim/solver/assembled.h). They are in a library of their own, which registers them; its files define sand_assembled_id.
#ifndef SAND_ASSEMBLED_ROW
#define SAND_ASSEMBLED_ROW(...)
#endif
// SAND_TAO_ROW is the same for the methods of PETSc. They come last, since a build may lack them.
#ifndef SAND_TAO_ROW
#define SAND_TAO_ROW(...)
#endif

// The default method of a step, and the method of the presolve that friction bounds are taken from. It must be the first
// row.
#define SAND_DEFAULT_METHOD p_spg_fb

#ifdef SAND_INCLUDE_METHODS
#include "sim/solver/methods/accelerated_sweeps.inl"
#include "sim/solver/methods/admm.inl"
#include "sim/solver/methods/admm_spectral.inl"
#include "sim/solver/methods/apgd.inl"
#include "sim/solver/methods/block_sweeps.inl"
#include "sim/solver/methods/coarse_spg.inl"
#include "sim/solver/methods/gauss_seidel.inl"
#include "sim/solver/methods/jacobi.inl"
#include "sim/solver/methods/spg.inl"
#if !SAND_ROLLING
#include "sim/solver/methods/avbd.inl"
#include "sim/solver/methods/mass_splitting.inl"
#include "sim/solver/methods/tgs_soft.inl"
#endif
#if SAND_COMPONENTS
#include "sim/solver/methods/cpg.inl"
#include "sim/solver/methods/gpminres.inl"
#include "sim/solver/methods/ngs.inl"
#include "sim/solver/methods/proportioning.inl"
#endif
#endif

// clang-format off
#define SAND_SPG_PARAMS \
    {"memory", SAND_PARAM_INTEGER, 10, 1, 10, \
     "past objectives, the highest of which limits that of a step; more let the objective rise for longer", NULL}, \
    {"xi", SAND_PARAM_REAL, 1e-4, 0, 1, "sufficient decrease that a step must reach; more shortens steps", NULL}, \
    {"alpha-min", SAND_PARAM_REAL, 1e-9, 1e-12, 1, "least spectral step length", NULL}, \
    {"alpha-max", SAND_PARAM_REAL, 1e9, 1, 1e12, "greatest spectral step length", NULL}
#define SAND_P_SPG_PARAMS \
    SAND_SPG_PARAMS, \
    {"ratio", SAND_PARAM_REAL, 3.5, 1, 10, \
     "preconditioner across the contact normal over that along it: 3.5 as for solid spheres, 1 averages them as in the " \
     "paper", NULL}
#define SAND_ORDER_PARAM \
    {"order", SAND_PARAM_CHOICE, 2, 0, 3, \
     "order of contacts in a sweep: sequential, symmetric (forward, then backward), colored (in parallel), or " \
     "uncoordinated, which is sequential on the CPU and gives other bits in every run on a GPU", \
     sand_gauss_seidel_orders}
#define SAND_GAUSS_SEIDEL_PARAMS \
    {"omega", SAND_PARAM_REAL, 1, 0.01, 2, "relaxation; above 1 it may not converge", NULL}, \
    {"lambda", SAND_PARAM_REAL, 1, 0.01, 1, "damping; less keeps more of the old impulse", NULL}, \
    SAND_ORDER_PARAM
#define SAND_ADMM_PARAMS(least) \
    {"rho", SAND_PARAM_REAL, 1, least, 1e4, "initial penalty; more draws the two copies together sooner", NULL}, \
    {"inner", SAND_PARAM_INTEGER, 3, 1, 1000, \
     "most conjugate gradient iterations in a round; more solve for the unconstrained copy better", NULL}, \
    {"accuracy", SAND_PARAM_REAL, 0.1, 1e-8, 0.9, \
     "fraction of its first residual at which a round ends; less solves for the unconstrained copy better", NULL}
#define SAND_PROPORTIONING_PARAMS \
    {"gamma", SAND_PARAM_REAL, 1, 0.01, 100, \
     "proportioning constant; more solves longer for the free impulses before active ones are released", NULL}, \
    {"step", SAND_PARAM_REAL, 1.5, 0.1, 1.9, \
     "length of the projected step, in units of one over the norm of N; above 2 it may diverge", NULL}, \
    {"power", SAND_PARAM_INTEGER, 8, 1, 100, \
     "products with N that estimate its norm at the start; more estimate it better", NULL}
#define SAND_GPMINRES_PARAMS \
    {"minres", SAND_PARAM_INTEGER, 10, 1, 10000, "most iterations of MINRES on one face", NULL}, \
    {"eta1", SAND_PARAM_REAL, 0.5, 0, 1, \
     "projected gradient steps end when one gains less than this fraction of the largest gain; more ends them sooner", NULL}, \
    {"eta2", SAND_PARAM_REAL, 0.01, 0, 1, "the same for MINRES", NULL}, \
    {"mu", SAND_PARAM_REAL, 1e-4, 0, 0.5, "sufficient decrease that a step must reach; more shortens steps", NULL}
// clang-format on

#define SAND_ALL (SAND_ADAPTS - 1) // every model
#define SAND_SPG_OWNS (SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH | SAND_OWNS_SCALE | SAND_OWNS_PAIRS)
#define SAND_BOUNDED (1u << SAND_FRICTIONLESS | 1u << SAND_FRICTION_BOX)
#define SAND_SEPARABLE (SAND_BOUNDED | 1u << SAND_FRICTION_CYLINDER)

SAND_ROW(p_spg_fb, "p-spg-fb", 6, true, SAND_SPG_OWNS, SAND_NEEDS_PRECONDITIONER, SAND_ALL | SAND_ROLLS,
         "Heyn et al. 2012, section 4, algorithm P-SPG-FB",
         "spectral projected gradients with a diagonal preconditioner; returns its best iterate",
         "fast early; apgd overtakes once the residual has dropped to 1e-4 of the first", SAND_P_SPG_PARAMS)

SAND_ROW(c_spg_fb, "c-spg-fb", 6, true, SAND_SPG_OWNS, SAND_NEEDS_PRECONDITIONER | SAND_NEEDS_CELLS | SAND_NEEDS_WHOLE,
         SAND_ALL | SAND_ROLLS, "Heyn et al. 2012, section 4, algorithm P-SPG-FB, with a coarse correction",
         "p-spg-fb with coarse corrections: at a few iterations a smooth field scales all impulses, which reduces errors "
         "over long distances",
         "a correction takes the time of four products with N for a million spheres, and of more for a small pile; it gains "
         "little where the pattern of the impulses itself is wrong, and in a flow nothing within 20 iterations",
         SAND_P_SPG_PARAMS,
         {"first", SAND_PARAM_INTEGER, 10, 0, 1000,
          "iteration of the first correction, earlier if the budget is small; each later one comes at twice the iteration "
          "of the one before",
          NULL})

SAND_ROW(spg_fb, "spg-fb", 6, true, SAND_SPG_OWNS, 0, SAND_ALL | SAND_ROLLS,
         "Heyn et al. 2012, section 4, with P the identity", "as p-spg-fb without the preconditioner",
         "slower where masses differ", SAND_SPG_PARAMS)

SAND_ROW(gauss_seidel, "gauss-seidel", 3, true, 0, SAND_NEEDS_COLORS, SAND_ALL | SAND_ADAPTS | SAND_UNSYMMETRIC | SAND_ROLLS,
         "Negrut et al. 2008, algorithm 1; Preclik et al. 2009, section 3.1",
         "relaxes one contact after the other, projecting on its cone",
         "slow on tall piles and where heavy bodies lie on light ones", SAND_GAUSS_SEIDEL_PARAMS)

SAND_ROW(a_gauss_seidel, "a-gauss-seidel", 8, false, SAND_OWNS_RESIDUAL,
         SAND_NEEDS_COLORS | SAND_NEEDS_CELLS | SAND_NEEDS_WHOLE, SAND_ALL | SAND_ROLLS,
         "Negrut et al. 2008, algorithm 1; Nesterov 1983",
         "gauss-seidel sweeps with Nesterov momentum, and the coarse corrections of c-spg-fb: the smallest gap in few "
         "iterations",
         "every other product is spent on a look, and the residual stays rough: block-sweeps leaves less of both after some "
         "hundred iterations; its sweeps do not suit a GPU",
         {"sweeps", SAND_PARAM_INTEGER, 1, 1, 100,
          "sweeps between two evaluations of gradient and objective; momentum acts after each evaluation", NULL},
         {"first", SAND_PARAM_INTEGER, 4, 0, 1000000,
          "iteration of the first correction; each later one comes at twice the iteration of the one before", NULL},
         SAND_ORDER_PARAM)

SAND_ROW(
    block_sweeps, "block-sweeps", 5, true, 0, SAND_NEEDS_CELLS | SAND_NEEDS_BLOCKS | SAND_NEEDS_BODIES | SAND_NEEDS_WHOLE,
    SAND_ALL | SAND_ROLLS, "Negrut et al. 2008, algorithm 1; Nesterov 1983",
    "sweeps by blocks of contacts, with momentum that costs no product and coarse corrections; for large piles of spheres",
    "the last passes of a budget smooth the residual: a solve that ends before has a rougher one",
    {"sweeps", SAND_PARAM_INTEGER, 1, 1, 100,
     "sweeps of a block before the next one, in each pass; momentum acts between passes", NULL},
    {"omega", SAND_PARAM_REAL, 1.2, 0.01, 1.9, "relaxation; more comes further in a sweep and leaves it rougher", NULL},
    {"edge", SAND_PARAM_REAL, 0, 0, 1000,
     "edge of a block's cell, in diameters; more makes fewer and larger blocks; 0: 5 on a CPU, 3 on CUDA", NULL},
    {"finish", SAND_PARAM_INTEGER, 1, 0, 100, "passes at the end of the budget that smooth the residual", NULL},
    {"first", SAND_PARAM_INTEGER, 4, 0, 1000000,
     "iteration of the first coarse correction, from 100,000 bodies on; each later one comes at twice the iteration of the "
     "one before; 0: none",
     NULL})

SAND_FORCE_ROW(tgs_soft, "tgs-soft", 3, true, 0, SAND_NEEDS_COLORS | SAND_NEEDS_BODIES,
               (SAND_ALL & ~(1u << SAND_FRICTION_COULOMB)) | SAND_ADAPTS | SAND_INEXACT | SAND_CONTACTS_ONLY,
               "Macklin et al. 2019; Catto 2024",
               "a substep for each iteration: one sweep of gauss-seidel with soft contacts, then the gaps move",
               "solves another problem, in which contacts are springs: its residual levels off above zero",
               {"hertz", SAND_PARAM_REAL, 30, 1, 10000,
                "Hz, natural frequency of the spring of a penetrated contact; more is stiffer", NULL},
               {"damping", SAND_PARAM_REAL, 10, 0.1, 100,
                "damping ratio of that spring; more undoes penetrations more slowly", NULL},
               {"push", SAND_PARAM_REAL, 3, 0, 1000, "m/s, the largest speed at which a penetration is undone", NULL},
               SAND_ORDER_PARAM)

SAND_ROW(jacobi, "jacobi", 1, true, SAND_OWNS_VELOCITIES, 0, SAND_ALL | SAND_ADAPTS | SAND_UNSYMMETRIC | SAND_ROLLS,
         "Heyn et al. 2012, eq. 12; Negrut et al. 2008, eq. 15",
         "all contacts take a damped step at once, each by its own diagonal",
         "the slowest to converge; where bodies have very many contacts it needs a lower omega, or it diverges",
         {"omega", SAND_PARAM_REAL, 0.3, 0.01, 1, "relaxation; more is faster until it no longer converges", NULL},
         {"lambda", SAND_PARAM_REAL, 1, 0.01, 1, "damping; less keeps more of the old impulse", NULL})

SAND_FORCE_ROW(mass_splitting, "mass-splitting", 2, true, SAND_OWNS_VELOCITIES, SAND_NEEDS_BODIES, SAND_ALL | SAND_ADAPTS,
               "Tonge et al. 2012",
               "splits each body among its contacts, solves all contacts at once, and gives the parts of a body their mean "
               "velocity: jacobi without damping, whose objective never rises",
               "as slow as jacobi: a contact yields as if all others of its bodies pushed the same way",
               {"local", SAND_PARAM_INTEGER, 4, 1, 100,
                "projected steps on a contact whose bodies are not both spheres; more solve it better", NULL})

SAND_ROW(
    apgd, "apgd", 7, true, SAND_OWNS_RESIDUAL, 0, SAND_ALL | SAND_ROLLS, "Nesterov 1983; Mazhar et al. 2015, algorithm APGD",
    "accelerated projected gradients: each step starts from an extrapolated point, with restarts; returns its best iterate",
    "behind p-spg-fb until the residual has dropped to 1e-4 of the first; many digits take many products, as with any "
    "gradient method")

SAND_ROW(p_apgd, "p-apgd", 7, true, SAND_OWNS_RESIDUAL, SAND_NEEDS_PRECONDITIONER, SAND_ALL | SAND_ROLLS,
         "Mazhar et al. 2015, algorithm APGD; Heyn et al. 2012, section 4",
         "as apgd, with the preconditioner of p-spg-fb; the first choice for many digits on a large pile",
         "behind p-spg-fb for the first hundred products; many digits take many products, as with any gradient method",
         {"ratio", SAND_PARAM_REAL, 3.5, 1, 10,
          "preconditioner across the contact normal over that along it: 3.5 as for solid spheres, 1 averages them", NULL})

SAND_ROW(admm, "admm", 8, true, SAND_OWNS_RESIDUAL, 0, SAND_ALL | SAND_ROLLS,
         "Boyd et al. 2011, section 5; Tasora et al. 2021",
         "alternates between an unconstrained copy of the impulses and a feasible one, coupled by a penalty; returns its "
         "best iterate",
         "sensitive to the penalty; the first digits come soon, further ones slowly", SAND_ADMM_PARAMS(1e-4))

SAND_ROW(admm_spectral, "admm-spectral", 16, true, SAND_OWNS_RESIDUAL, 0, SAND_ALL | SAND_ROLLS,
         "Xu et al. 2017; Goldstein et al. 2014",
         "admm whose penalty follows from the curvatures along its own steps, with momentum that restarts; returns its best "
         "iterate",
         "ahead of admm on piles of spheres, behind it at first and on clumps; still far behind p-spg-fb",
         SAND_ADMM_PARAMS(0.1))

SAND_FORCE_ROW(
    avbd, "avbd", 3, true, 0, SAND_NEEDS_BODIES, SAND_ALL | SAND_CONTACTS_ONLY, "Giles et al. 2025",
    "moves each body to the minimum of its springs to its contacts, then the impulses to the forces of the springs, which "
    "stiffen",
    "no stiffness serves every budget: soft springs converge as gauss-seidel, stiff ones are far off at first",
    {"stiffness", SAND_PARAM_REAL, 3, 1e-3, 1e3,
     "initial stiffness of a contact's spring, over the inverse diagonal of N; more is worse after few iterations and "
     "better after many",
     NULL},
    {"beta", SAND_PARAM_REAL, 1, 0, 1e6, "growth of the stiffness for each m/s of a contact's error", NULL},
    {"most", SAND_PARAM_REAL, 10, 1e-3, 1e4,
     "largest stiffness that a spring grows to, in the units of the parameter stiffness", NULL},
    {"gamma", SAND_PARAM_REAL, 0.99, 0, 1,
     "share of the last step's impulses that a solve starts from; more starts nearer to the solution", NULL})

SAND_COMPONENT_ROW(gpminres, "gpminres", 8, true, SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH, 0, SAND_BOUNDED,
                   "Heyn et al. 2012, section 4, algorithm GPMINRES",
                   "projected gradients find a face of the set, minimum residuals solve on it",
                   "starts slowly; leads when many digits are wanted", SAND_GPMINRES_PARAMS)

SAND_COMPONENT_ROW(gpminres_p, "gpminres-p", 8, true, SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH, SAND_NEEDS_PRECONDITIONER,
                   SAND_BOUNDED, "Heyn et al. 2012, section 4, GPMINRES-P",
                   "as gpminres with the diagonal as a preconditioner", "gains only where masses differ",
                   SAND_GPMINRES_PARAMS)

SAND_COMPONENT_ROW(kucera, "kucera", 4, true, SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH, SAND_NEEDS_NORM, SAND_SEPARABLE,
                   "Heyn et al. 2012, section 4, algorithm KUCERA",
                   "conjugate gradients on the free impulses, and short projected steps where they leave the admissible set",
                   "restarts at every change of the active set; needs the norm of N", SAND_PROPORTIONING_PARAMS)

SAND_COMPONENT_ROW(mprgp, "mprgp", 4, true, SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH, SAND_NEEDS_NORM, SAND_SEPARABLE,
                   "Pospíšil et al. 2015, algorithm 2",
                   "as kucera; active impulses are released by a step to the minimum along a line", "as kucera",
                   SAND_PROPORTIONING_PARAMS)

SAND_COMPONENT_ROW(
    cpg, "cpg", 6, true, SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH, 0, SAND_BOUNDED | SAND_ADAPTS,
    "Preclik et al. 2009, algorithm 2",
    "conjugate gradients whose directions are projected on the tangent cone of the set, and whose iterates on the set",
    "the objective may rise, and jitters where friction is strong")

SAND_COMPONENT_ROW(ngs, "ngs", 3, false, 0, SAND_NEEDS_COLORS,
                   1u << SAND_FRICTIONLESS | 1u << SAND_FRICTION_CYLINDER | 1u << SAND_FRICTION_COULOMB | SAND_ADAPTS |
                       SAND_UNSYMMETRIC,
                   "Preclik et al. 2009, eq. 14-16",
                   "gauss-seidel in which a contact's friction is solved exactly, by maximum dissipation",
                   "as gauss-seidel; strong friction may keep it from converging", SAND_GAUSS_SEIDEL_PARAMS)

#define SAND_CIRCULAR (1u << SAND_FRICTIONLESS | 1u << SAND_FRICTION_CONE)
#define SAND_FACETED (1u << SAND_FRICTIONLESS | 1u << SAND_FRICTION_PYRAMID | 1u << SAND_FRICTION_POLYHEDRAL)

SAND_ASSEMBLED_ROW(ipm_soc, "ipm-soc", SAND_CIRCULAR | 1u << SAND_FRICTION_COULOMB,
                   "Petra et al. 2009, section 5, the conic way; Nesterov and Todd 1997",
                   "interior point method on the circular cones themselves; the reference for the others",
                   "an iteration is a factorization, and a warm start is of no use")

SAND_ASSEMBLED_ROW(ipm, "ipm", SAND_FACETED, "Petra et al. 2009, eq. 10 and section 3.1, OOQP",
                   "Mehrotra's interior point method on faceted cones; the reference for faceted friction",
                   "as ipm-soc; many facets make it slow",
                   {"system", SAND_PARAM_CHOICE, 0, 0, 1, "normal equations, or the larger and sparser augmented system",
                    sand_ipm_systems})

SAND_ASSEMBLED_ROW(
    newton, "newton", SAND_CIRCULAR | 1u << SAND_FRICTION_COULOMB | SAND_UNSYMMETRIC | SAND_CONTACTS_ONLY,
    "Preclik et al. 2009, section 3.3, eq. 20 and 21",
    "semismooth Newton: once it knows which contacts are open, stick and slide, the solution is one step away",
    "finding that out is slow and may stall, and each iteration is a factorization",
    {"least-step", SAND_PARAM_REAL, 0.3, 0, 1,
     "shortest step of the line search; more leaves points where it stalls, and gains less in each step", NULL})

SAND_ASSEMBLED_ROW(
    ngs_newton, "ngs-newton", 1u << SAND_FRICTIONLESS | 1u << SAND_FRICTION_COULOMB | SAND_UNSYMMETRIC | SAND_CONTACTS_ONLY,
    "Alart and Curnier 1991; Acary et al. 2018; Carpentier et al. 2024",
    "exact Coulomb friction to many digits: sweeps as in ngs, then Newton steps on the law itself; where these do not "
    "converge, springs hold each contact to its last impulse",
    "one thread; a Newton step factorizes a matrix that is not symmetric, and jammed piles with strong friction need many")

SAND_ASSEMBLED_ROW(
    amg, "amg", SAND_FACETED | SAND_CONTACTS_ONLY, "Preclik et al. 2009, section 3.4, eq. 22-24",
    "algebraic multigrid: Gauss-Seidel as smoother; slow errors are removed on smaller problems",
    "gains less than its cycles cost: errors of impulses are not smooth, and N is assembled on every grid",
    {"sweeps", SAND_PARAM_INTEGER, 2, 1, 100,
     "smoothing sweeps before and after each coarse correction; more smooth the error better", NULL},
    {"visits", SAND_PARAM_INTEGER, 1, 1, 4,
     "visits to the next coarser grid in a cycle: 1 is a V-cycle, 2 a W-cycle; more solve it better", NULL},
    {"strength", SAND_PARAM_REAL, 0.5, 0.01, 0.9,
     "fraction of the largest coupling from which a coupling counts as strong; more keeps more unknowns on the next grid",
     NULL},
    {"renewal", SAND_PARAM_INTEGER, 10, 1, 1000,
     "cycles for which the grids are kept; fewer follow the contacts that open and close, and cost more", NULL},
    {"outside", SAND_PARAM_CHOICE, 0, 0, 1, "what becomes of a correction that leaves its bound", sand_amg_ways})

SAND_TAO_ROW(
    blmvm, "blmvm", SAND_FACETED | SAND_CONTACTS_ONLY, "Petra et al. 2009, section 3.3; Benson and Moré 2001",
    "quasi-Newton: curvature is estimated from a few past steps, and a projected line search keeps to the bounds; by TAO",
    "learns N only from its own steps, so that many digits take many products",
    {"memory", SAND_PARAM_INTEGER, 5, 1, 100, "past steps that are kept; more estimate the curvature better", NULL})

SAND_TAO_ROW(
    tron, "tron", SAND_FACETED | SAND_CONTACTS_ONLY, "Petra et al. 2009, section 3.2; Lin and Moré 1999",
    "projected gradients find a face, and Newton's step on it comes from conjugate gradients in a trust region; by TAO",
    "N is assembled, and factorized incompletely on each face; may stall on jammed piles with many facets",
    {"accuracy", SAND_PARAM_REAL, 0.1, 1e-12, 0.9,
     "fraction of its first residual at which the solve for a Newton step ends; less solves it better", NULL},
    {"preconditioner", SAND_PARAM_CHOICE, 0, 0, 1, "incomplete factors of N on the face, or none",
     sand_tron_preconditioners})

#undef SAND_GPMINRES_PARAMS
#undef SAND_PROPORTIONING_PARAMS
#undef SAND_BOUNDED
#undef SAND_ORDER_PARAM
#undef SAND_ADMM_PARAMS
#undef SAND_SPG_PARAMS
#undef SAND_SPG_OWNS
#undef SAND_ALL
#undef SAND_SEPARABLE
#undef SAND_GAUSS_SEIDEL_PARAMS
#undef SAND_ROW
#undef SAND_COMPONENT_ROW
#undef SAND_FORCE_ROW
#undef SAND_ASSEMBLED_ROW
#undef SAND_TAO_ROW
#undef SAND_P_SPG_PARAMS
#undef SAND_FACETED
#undef SAND_CIRCULAR
