// The one table of solvers, an X-macro. Everything that lists them is made from it: the dispatch of the kernels, the command
// line, the panel, the tests and docs/solvers.md. To add a method: write sim/solver/methods/NAME.inl, include it below, add
// a row (CONTRIBUTING.md walks through it).
//
// SAND_ROW(id, name, vectors, on_cuda, owns, needs, friction, paper, idea, weakness, parameters...)
//   id         the method's file defines id_State, id_start and id_step; one step is one product with N
//   vectors    solver vectors it uses; the first is the start, feasible, with its velocities in op.body
//   on_cuda    whether it is compiled for CUDA
//   owns       SAND_OWNS_: what it does by itself, so that the driver need not (method_traits.h)
//   needs      SAND_NEEDS_: what must be prepared for it
//   friction   bits of the friction models it can do
// SAND_COMPONENT_ROW is the same for methods that look at single components of an impulse: they are not part of the variants
// in which impulses are world vectors. SAND_FORCE_ROW is for methods that know no torques: they are not part of the variant
// with rolling friction. Neither can do it; all others say so (SAND_ROLLS).
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
// SAND_TAO_ROW is the same for the methods of PETSc. A build may lack them, so they come last.
#ifndef SAND_TAO_ROW
#define SAND_TAO_ROW(...)
#endif

// The method of a real-time step and of the presolve that bounds of friction come from; the first row.
#define SAND_DEFAULT_METHOD p_spg_fb

#ifdef SAND_INCLUDE_METHODS
#include "sim/solver/methods/accelerated_sweeps.inl"
#include "sim/solver/methods/admm.inl"
#include "sim/solver/methods/admm_spectral.inl"
#include "sim/solver/methods/apgd.inl"
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
    {"memory", SAND_PARAM_INTEGER, 10, 1, 10, "objectives looked back on; more lets the objective rise for longer", NULL}, \
    {"xi", SAND_PARAM_REAL, 1e-4, 0, 1, "decrease asked of a step; more shortens steps", NULL}, \
    {"alpha-min", SAND_PARAM_REAL, 1e-9, 1e-12, 1, "least spectral step length", NULL}, \
    {"alpha-max", SAND_PARAM_REAL, 1e9, 1, 1e12, "greatest spectral step length", NULL}
#define SAND_P_SPG_PARAMS \
    SAND_SPG_PARAMS, \
    {"ratio", SAND_PARAM_REAL, 3.5, 1, 10, \
     "of the preconditioner across a normal to that along it: 3.5 as of solid spheres, 1 averaged as in the paper", NULL}
#define SAND_ORDER_PARAM \
    {"order", SAND_PARAM_CHOICE, 2, 0, 3, \
     "sequential, symmetric (there and back), colored for all threads, or uncoordinated, which gives other bits every time " \
     "on a GPU and is sequential on the CPU", \
     sand_gauss_seidel_orders}
#define SAND_GAUSS_SEIDEL_PARAMS \
    {"omega", SAND_PARAM_REAL, 1, 0.01, 2, "relaxation; above 1 it may not converge", NULL}, \
    {"lambda", SAND_PARAM_REAL, 1, 0.01, 1, "damping; less mixes in more of the old impulse", NULL}, \
    SAND_ORDER_PARAM
#define SAND_ADMM_PARAMS(least) \
    {"rho", SAND_PARAM_REAL, 1, least, 1e4, "stiffness at first; more draws the copies together sooner", NULL}, \
    {"inner", SAND_PARAM_INTEGER, 3, 1, 1000, "most conjugate gradients a round; more solves the free copy better", NULL}, \
    {"accuracy", SAND_PARAM_REAL, 0.1, 1e-8, 0.9, "part of its residual at which a round ends; less solves it better", NULL}
#define SAND_PROPORTIONING_PARAMS \
    {"gamma", SAND_PARAM_REAL, 1, 0.01, 100, \
     "raising it solves for the free impulses longer before active ones are let go", NULL}, \
    {"step", SAND_PARAM_REAL, 1.5, 0.1, 1.9, \
     "length of the short projected step, over the norm of N; above 2 it may diverge", NULL}, \
    {"power", SAND_PARAM_INTEGER, 8, 1, 100, "products spent on the norm of N first; more makes it sharper", NULL}
#define SAND_GPMINRES_PARAMS \
    {"minres", SAND_PARAM_INTEGER, 10, 1, 10000, "most iterations of MINRES on one face", NULL}, \
    {"eta1", SAND_PARAM_REAL, 0.5, 0, 1, \
     "projected gradients end when one gains less than this part of the best; more ends them sooner", NULL}, \
    {"eta2", SAND_PARAM_REAL, 0.01, 0, 1, "the same for MINRES", NULL}, \
    {"mu", SAND_PARAM_REAL, 1e-4, 0, 0.5, "decrease asked of a step; more shortens steps", NULL}
// clang-format on

#define SAND_ALL (SAND_ADAPTS - 1) // every model
#define SAND_SPG_OWNS (SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH | SAND_OWNS_SCALE | SAND_OWNS_PAIRS)
#define SAND_BOUNDED (1u << SAND_FRICTIONLESS | 1u << SAND_FRICTION_BOX)
#define SAND_SEPARABLE (SAND_BOUNDED | 1u << SAND_FRICTION_CYLINDER)

SAND_ROW(p_spg_fb, "p-spg-fb", 6, true, SAND_SPG_OWNS, SAND_NEEDS_PRECONDITIONER, SAND_ALL | SAND_ROLLS,
         "Heyn et al. 2012, section 4, algorithm P-SPG-FB",
         "spectral projected gradients with a diagonal preconditioner; returns its best iterate",
         "fast early; apgd overtakes once the residual has dropped by 1e-4", SAND_P_SPG_PARAMS)

SAND_ROW(
    c_spg_fb, "c-spg-fb", 6, true, SAND_SPG_OWNS, SAND_NEEDS_PRECONDITIONER | SAND_NEEDS_CELLS | SAND_NEEDS_WHOLE,
    SAND_ALL | SAND_ROLLS, "Heyn et al. 2012, section 4, algorithm P-SPG-FB, with a coarse correction",
    "as p-spg-fb; now and then all impulses are scaled by a smooth field, which puts right what is wrong over long "
    "distances",
    "a correction costs four products of a million spheres, and more of a small pile; gains little where the pattern of "
    "the impulses itself is wrong, and nothing in fewer than 20 iterations of a flow",
    SAND_P_SPG_PARAMS,
    {"first", SAND_PARAM_INTEGER, 10, 0, 1000,
     "iteration of the first correction, earlier if the budget is small; each other comes at twice that of the last", NULL})

SAND_ROW(spg_fb, "spg-fb", 6, true, SAND_SPG_OWNS, 0, SAND_ALL | SAND_ROLLS,
         "Heyn et al. 2012, section 4, with P the identity", "as p-spg-fb without the preconditioner",
         "slower where masses differ", SAND_SPG_PARAMS)

SAND_ROW(gauss_seidel, "gauss-seidel", 3, true, 0, SAND_NEEDS_COLORS, SAND_ALL | SAND_ADAPTS | SAND_UNSYMMETRIC | SAND_ROLLS,
         "Negrut et al. 2008, algorithm 1; Preclik et al. 2009, section 3.1",
         "relaxes one contact after the other, projecting on its cone", "slow on tall piles and heavy bodies on light ones",
         SAND_GAUSS_SEIDEL_PARAMS)

SAND_ROW(
    a_gauss_seidel, "a-gauss-seidel", 8, false, SAND_OWNS_RESIDUAL, SAND_NEEDS_COLORS | SAND_NEEDS_CELLS | SAND_NEEDS_WHOLE,
    SAND_ALL | SAND_ROLLS, "Negrut et al. 2008, algorithm 1; Nesterov 1983",
    "sweeps of gauss-seidel with momentum around them and, now and then, the correction of c-spg-fb; the first choice "
    "for many digits on a large pile of spheres on a CPU",
    "an iteration takes longer than one of c-spg-fb, and no less is left in the few of a real-time step; its sweeps are not "
    "for a GPU",
    {"sweeps", SAND_PARAM_INTEGER, 1, 1, 100, "between two looks at what they came to, after which momentum acts", NULL},
    {"first", SAND_PARAM_INTEGER, 4, 0, 1000000,
     "iteration of the first correction; each other comes at twice that of the last", NULL},
    SAND_ORDER_PARAM)

SAND_FORCE_ROW(tgs_soft, "tgs-soft", 3, true, 0, SAND_NEEDS_COLORS | SAND_NEEDS_BODIES,
               (SAND_ALL & ~(1u << SAND_FRICTION_COULOMB)) | SAND_ADAPTS | SAND_INEXACT | SAND_CONTACTS_ONLY,
               "Macklin et al. 2019; Catto 2024",
               "a substep for each iteration: one sweep of gauss-seidel with soft contacts, then the gaps move",
               "solves another problem, in which contacts are springs, so that its residual ends at a floor",
               {"hertz", SAND_PARAM_REAL, 30, 1, 10000, "frequency of a penetrated contact; more is stiffer", NULL},
               {"damping", SAND_PARAM_REAL, 10, 0.1, 100, "its damping ratio; more undoes penetrations slower", NULL},
               {"push", SAND_PARAM_REAL, 3, 0, 1000, "m/s, the largest speed at which a penetration is undone", NULL},
               SAND_ORDER_PARAM)

SAND_ROW(jacobi, "jacobi", 1, true, SAND_OWNS_VELOCITIES, 0, SAND_ALL | SAND_ADAPTS | SAND_UNSYMMETRIC | SAND_ROLLS,
         "Heyn et al. 2012, eq. 12; Negrut et al. 2008, eq. 15",
         "all contacts take a damped step at once, each by its own diagonal",
         "the slowest to converge; where bodies have very many contacts it needs a lower omega, or it diverges",
         {"omega", SAND_PARAM_REAL, 0.3, 0.01, 1, "step; raising it is faster until it no longer converges", NULL},
         {"lambda", SAND_PARAM_REAL, 1, 0.01, 1, "damping; less mixes in more of the old impulse", NULL})

SAND_FORCE_ROW(mass_splitting, "mass-splitting", 2, true, SAND_OWNS_VELOCITIES, SAND_NEEDS_BODIES, SAND_ALL | SAND_ADAPTS,
               "Tonge et al. 2012",
               "splits each body among its contacts, solves all contacts at once, and gives the parts of a body their mean "
               "velocity: jacobi without damping, whose objective never rises",
               "as slow as jacobi: a contact yields as if all others of its bodies pushed the same way",
               {"local", SAND_PARAM_INTEGER, 4, 1, 100,
                "steps on a contact whose bodies are not both spheres; more solve it better", NULL})

SAND_ROW(apgd, "apgd", 7, true, SAND_OWNS_RESIDUAL, 0, SAND_ALL | SAND_ROLLS,
         "Nesterov 1983; Mazhar et al. 2015, algorithm APGD",
         "a projected gradient step from a point a little ahead, with restart; returns its best iterate",
         "behind p-spg-fb early, ahead once the residual has dropped by 1e-4; still a gradient method")

SAND_ROW(p_apgd, "p-apgd", 7, true, SAND_OWNS_RESIDUAL, SAND_NEEDS_PRECONDITIONER, SAND_ALL | SAND_ROLLS,
         "Mazhar et al. 2015, algorithm APGD; Heyn et al. 2012, section 4",
         "as apgd, with the preconditioner of p-spg-fb; the first choice for many digits on a large pile",
         "behind p-spg-fb for the first hundred products; still a gradient method",
         {"ratio", SAND_PARAM_REAL, 3.5, 1, 10,
          "of the preconditioner across a normal to that along it: 3.5 as of solid spheres, 1 averaged", NULL})

SAND_ROW(
    admm, "admm", 8, true, SAND_OWNS_RESIDUAL, 0, SAND_ALL | SAND_ROLLS, "Boyd et al. 2011, section 5; Tasora et al. 2021",
    "alternates between an unconstrained copy of the impulses and a feasible one, coupled by a penalty; returns its best",
    "sensitive to the penalty; few digits soon, many digits slowly", SAND_ADMM_PARAMS(1e-4))

SAND_ROW(admm_spectral, "admm-spectral", 16, true, SAND_OWNS_RESIDUAL, 0, SAND_ALL | SAND_ROLLS,
         "Xu et al. 2017; Goldstein et al. 2014",
         "admm whose penalty follows from the curvatures along its own steps, with momentum that restarts; returns its best",
         "ahead of admm on piles of spheres, behind it at first and on clumps; still far behind p-spg-fb",
         SAND_ADMM_PARAMS(0.1))

SAND_FORCE_ROW(
    avbd, "avbd", 3, true, 0, SAND_NEEDS_BODIES, SAND_ALL | SAND_CONTACTS_ONLY, "Giles et al. 2025",
    "moves each body to the minimum of its springs to its contacts, then the impulses to the forces of the springs, which "
    "stiffen",
    "no stiffness serves every budget: soft springs converge as gauss-seidel, stiff ones are far off at first",
    {"stiffness", SAND_PARAM_REAL, 3, 1e-3, 1e3,
     "of a spring at first, over the inverse diagonal of N; more is worse after few iterations and better after many", NULL},
    {"beta", SAND_PARAM_REAL, 1, 0, 1e6, "growth of the stiffness by a contact's error, for each m/s", NULL},
    {"most", SAND_PARAM_REAL, 10, 1e-3, 1e4, "that the stiffness grows to; see stiffness", NULL},
    {"gamma", SAND_PARAM_REAL, 0.99, 0, 1, "part of the last impulses that it starts from; more starts nearer", NULL})

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
                   "conjugate gradients on the free impulses, short projected steps where the set is left",
                   "restarts at every change of the active set; needs the norm of N", SAND_PROPORTIONING_PARAMS)

SAND_COMPONENT_ROW(mprgp, "mprgp", 4, true, SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH, SAND_NEEDS_NORM, SAND_SEPARABLE,
                   "Pospíšil et al. 2015, algorithm 2", "as kucera, and frees active impulses by a step to the minimum",
                   "as kucera", SAND_PROPORTIONING_PARAMS)

SAND_COMPONENT_ROW(cpg, "cpg", 6, true, SAND_OWNS_RESIDUAL | SAND_OWNS_GROWTH, 0, SAND_BOUNDED | SAND_ADAPTS,
                   "Preclik et al. 2009, algorithm 2",
                   "conjugate gradients, cut to what stays in the set and projected after each step",
                   "jitters where friction is strong; descent is not guaranteed")

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
                   "Mehrotra's interior point method on cones of facets; the reference for these",
                   "as ipm-soc; many facets make it slow",
                   {"system", SAND_PARAM_CHOICE, 0, 0, 1, "normal equations, or the larger and sparser augmented system",
                    sand_ipm_systems})

SAND_ASSEMBLED_ROW(
    newton, "newton", SAND_CIRCULAR | 1u << SAND_FRICTION_COULOMB | SAND_UNSYMMETRIC | SAND_CONTACTS_ONLY,
    "Preclik et al. 2009, section 3.3, eq. 20 and 21",
    "semismooth Newton: once it knows which contacts are open, stick and slide, the solution is one step away",
    "slow to find that out, may stall on the way, and an iteration is a factorization",
    {"least-step", SAND_PARAM_REAL, 0.3, 0, 1, "shortest step; more escapes from where it stalls, and gains less", NULL})

SAND_ASSEMBLED_ROW(
    ngs_newton, "ngs-newton", 1u << SAND_FRICTIONLESS | 1u << SAND_FRICTION_COULOMB | SAND_UNSYMMETRIC | SAND_CONTACTS_ONLY,
    "Alart and Curnier 1991; Acary et al. 2018; Carpentier et al. 2024",
    "exact Coulomb friction to many digits: sweeps as in ngs, finished by Newton steps on the law itself, with springs that "
    "hold back what does not converge",
    "one thread; a Newton step factorizes a matrix that is not symmetric, and jammed piles with strong friction need many")

SAND_ASSEMBLED_ROW(
    amg, "amg", SAND_FACETED | SAND_CONTACTS_ONLY, "Preclik et al. 2009, section 3.4, eq. 22-24",
    "algebraic multigrid: Gauss-Seidel as smoother; slow errors are removed on smaller problems",
    "gains less than its cycles cost: errors of impulses are not smooth, and N is assembled on every grid",
    {"sweeps", SAND_PARAM_INTEGER, 2, 1, 100, "relaxations before and after a correction; more smooth it better", NULL},
    {"visits", SAND_PARAM_INTEGER, 1, 1, 4, "of the next grid in a cycle, 1 is a V and 2 a W; more solve it better", NULL},
    {"strength", SAND_PARAM_REAL, 0.5, 0.01, 0.9,
     "part of the largest coupling that counts as strong; more keeps more unknowns on the next grid", NULL},
    {"renewal", SAND_PARAM_INTEGER, 10, 1, 1000,
     "cycles for which the grids are kept; fewer follow the contacts that open and close, and cost more", NULL},
    {"outside", SAND_PARAM_CHOICE, 0, 0, 1, "what becomes of a correction that leaves its bound", sand_amg_ways})

SAND_TAO_ROW(
    blmvm, "blmvm", SAND_FACETED | SAND_CONTACTS_ONLY, "Petra et al. 2009, section 3.3; Benson and Moré 2001",
    "quasi-Newton: a few past steps stand for the curvature, and a projected line search keeps to the bounds; by TAO",
    "learns N only from its own steps, so that many digits take many products",
    {"memory", SAND_PARAM_INTEGER, 5, 1, 100, "past steps that are kept; more know the curvature better", NULL})

SAND_TAO_ROW(
    tron, "tron", SAND_FACETED | SAND_CONTACTS_ONLY, "Petra et al. 2009, section 3.2; Lin and Moré 1999",
    "projected gradients find a face, and Newton's step on it comes from conjugate gradients in a trust region; by TAO",
    "N is assembled, and factorized in part on each face; may stall on jammed piles with many facets",
    {"accuracy", SAND_PARAM_REAL, 0.1, 1e-12, 0.9,
     "part of its residual at which a Newton step is taken; less solves it better", NULL},
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
