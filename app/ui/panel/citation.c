// SPDX-License-Identifier: MIT
// The BibTeX entries.
#include "app/ui/panel/citation.h"

#include <stdio.h>
#include <string.h>

const Citation citation_table[] = {
    {"heyn2012krylov", "Heyn et al. 2012",
     "@techreport{heyn2012krylov,\n"
     "  author      = {Heyn, Toby and Anitescu, Mihai and Tasora, Alessandro and Negrut, Dan},\n"
     "  title       = {Using {Krylov} Subspace and Spectral Methods for Solving Complementarity Problems in\n"
     "                 Many-Body Contact Dynamics Simulation},\n"
     "  institution = {Mathematics and Computer Science Division, Argonne National Laboratory},\n"
     "  number      = {ANL/MCS-P2099-0612},\n"
     "  type        = {Preprint},\n"
     "  year        = {2012}\n"
     "}\n"},
    {"negrut2008gpu", "Negrut et al. 2008",
     "@misc{negrut2008gpu,\n"
     "  author = {Negrut, Dan and Tasora, Alessandro and Anitescu, Mihai},\n"
     "  title  = {Large-Scale Parallel Multibody Dynamics with Frictional Contact on the {GPU}},\n"
     "  year   = {2008}\n"
     "}\n"},
    {"preclik2009iterative", "Preclik et al. 2009",
     "@inproceedings{preclik2009iterative,\n"
     "  author    = {Preclik, Tobias M. and Iglberger, Klaus and R{\\\"u}de, Ulrich},\n"
     "  title     = {Iterative Rigid Multibody Dynamics},\n"
     "  booktitle = {Multibody Dynamics 2009, {ECCOMAS} Thematic Conference},\n"
     "  year      = {2009}\n"
     "}\n"},
    {"petra2009pebble", "Petra et al. 2009",
     "@article{petra2009pebble,\n"
     "  author  = {Petra, Cosmin and Gavrea, Bogdan and Anitescu, Mihai and Potra, Florian},\n"
     "  title   = {A Computational Study of the Use of an Optimization-Based Method for Simulating Large Multibody "
     "Systems},\n"
     "  journal = {Optimization Methods and Software},\n"
     "  year    = {2009},\n"
     "  doi     = {10.1080/10556780902806094}\n"
     "}\n"},
    {"tonge2012mass", "Tonge et al. 2012",
     "@article{tonge2012mass,\n"
     "  author  = {Tonge, Richard and Benevolenski, Feodor and Voroshilov, Andrey},\n"
     "  title   = {Mass Splitting for Jitter-Free Parallel Rigid Body Simulation},\n"
     "  journal = {ACM Transactions on Graphics},\n"
     "  volume  = {31},\n"
     "  number  = {4},\n"
     "  year    = {2012},\n"
     "  doi     = {10.1145/2185520.2185601}\n"
     "}\n"},
    {"nesterov1983method", "Nesterov 1983",
     "@article{nesterov1983method,\n"
     "  author  = {Nesterov, Yurii},\n"
     "  title   = {A Method of Solving a Convex Programming Problem with Convergence Rate {$O(1/k^2)$}},\n"
     "  journal = {Soviet Mathematics Doklady},\n"
     "  volume  = {27},\n"
     "  pages   = {372--376},\n"
     "  year    = {1983}\n"
     "}\n"},
    {"nesterov1997todd", "Nesterov and Todd 1997",
     "@article{nesterov1997todd,\n"
     "  author  = {Nesterov, Yurii and Todd, Michael J.},\n"
     "  title   = {Self-Scaled Barriers and Interior-Point Methods for Convex Programming},\n"
     "  journal = {Mathematics of Operations Research},\n"
     "  volume  = {22},\n"
     "  number  = {1},\n"
     "  pages   = {1--42},\n"
     "  year    = {1997},\n"
     "  doi     = {10.1287/moor.22.1.1}\n"
     "}\n"},
    {"boyd2011admm", "Boyd et al. 2011",
     "@article{boyd2011admm,\n"
     "  author  = {Boyd, Stephen and Parikh, Neal and Chu, Eric and Peleato, Borja and Eckstein, Jonathan},\n"
     "  title   = {Distributed Optimization and Statistical Learning via the Alternating Direction Method of\n"
     "             Multipliers},\n"
     "  journal = {Foundations and Trends in Machine Learning},\n"
     "  volume  = {3},\n"
     "  number  = {1},\n"
     "  pages   = {1--122},\n"
     "  year    = {2011},\n"
     "  doi     = {10.1561/2200000016}\n"
     "}\n"},
    {"pospisil2015mprgp", "Pospíšil et al. 2015",
     "@misc{pospisil2015mprgp,\n"
     "  author = {Posp{\\'i}{\\v s}il, Luk{\\'a}{\\v s} and Dost{\\'a}l, Zden{\\v e}k and Hor{\\'a}k, David},\n"
     "  title  = {Active-Set Based Quadratic Programming Algorithm for Solving Inner Optimization Problems with\n"
     "            Inequalities in Granular Dynamics Simulations},\n"
     "  year   = {2015}\n"
     "}\n"},
    {"mazhar2015nesterov", "Mazhar et al. 2015",
     "@article{mazhar2015nesterov,\n"
     "  author  = {Mazhar, Hammad and Heyn, Toby and Negrut, Dan and Tasora, Alessandro},\n"
     "  title   = {Using {Nesterov}'s Method to Accelerate Multibody Dynamics with Friction and Contact},\n"
     "  journal = {ACM Transactions on Graphics},\n"
     "  volume  = {34},\n"
     "  number  = {3},\n"
     "  year    = {2015},\n"
     "  doi     = {10.1145/2735627}\n"
     "}\n"},
    {"tasora2021admm", "Tasora et al. 2021",
     "@article{tasora2021admm,\n"
     "  author  = {Tasora, Alessandro and Mangoni, Dario and Benatti, Simone and Garziera, Rinaldo},\n"
     "  title   = {Solving Variational Inequalities and Cone Complementarity Problems in Nonsmooth Dynamics Using the\n"
     "             Alternating Direction Method of Multipliers},\n"
     "  journal = {International Journal for Numerical Methods in Engineering},\n"
     "  year    = {2021},\n"
     "  doi     = {10.1002/nme.6693}\n"
     "}\n"},
    {"xu2017adaptive", "Xu et al. 2017",
     "@inproceedings{xu2017adaptive,\n"
     "  author    = {Xu, Zheng and Figueiredo, M{\\'a}rio A. T. and Goldstein, Tom},\n"
     "  title     = {Adaptive {ADMM} with Spectral Penalty Parameter Selection},\n"
     "  booktitle = {Artificial Intelligence and Statistics},\n"
     "  year      = {2017},\n"
     "  eprint    = {1605.07246}\n"
     "}\n"},
    {"goldstein2014fast", "Goldstein et al. 2014",
     "@article{goldstein2014fast,\n"
     "  author  = {Goldstein, Tom and O'Donoghue, Brendan and Setzer, Simon and Baraniuk, Richard},\n"
     "  title   = {Fast Alternating Direction Optimization Methods},\n"
     "  journal = {SIAM Journal on Imaging Sciences},\n"
     "  volume  = {7},\n"
     "  number  = {3},\n"
     "  pages   = {1588--1623},\n"
     "  year    = {2014},\n"
     "  doi     = {10.1137/120896219}\n"
     "}\n"},
    {"macklin2019small", "Macklin et al. 2019",
     "@inproceedings{macklin2019small,\n"
     "  author    = {Macklin, Miles and Storey, Kier and Lu, Michelle and Terdiman, Pierre and Chentanez, Nuttapong and\n"
     "               Jeschke, Stefan and M{\\\"u}ller, Matthias},\n"
     "  title     = {Small Steps in Physics Simulation},\n"
     "  booktitle = {Symposium on Computer Animation},\n"
     "  year      = {2019},\n"
     "  doi       = {10.1145/3309486.3340247}\n"
     "}\n"},
    {"catto2024solver2d", "Catto 2024",
     "@misc{catto2024solver2d,\n"
     "  author = {Catto, Erin},\n"
     "  title  = {Solver2D},\n"
     "  year   = {2024},\n"
     "  url    = {https://box2d.org/posts/2024/02/solver2d/}\n"
     "}\n"},
    {"giles2025avbd", "Giles et al. 2025",
     "@article{giles2025avbd,\n"
     "  author  = {Giles, Chris and Diaz, Elie and Yuksel, Cem},\n"
     "  title   = {Augmented Vertex Block Descent},\n"
     "  journal = {ACM Transactions on Graphics},\n"
     "  volume  = {44},\n"
     "  number  = {4},\n"
     "  year    = {2025},\n"
     "  doi     = {10.1145/3731195}\n"
     "}\n"},
    {"benson2001blmvm", "Benson and Moré 2001",
     "@techreport{benson2001blmvm,\n"
     "  author      = {Benson, Steven J. and Mor{\\'e}, Jorge J.},\n"
     "  title       = {A Limited-Memory Variable-Metric Algorithm for Bound-Constrained Minimization},\n"
     "  institution = {Mathematics and Computer Science Division, Argonne National Laboratory},\n"
     "  number      = {ANL/MCS-P909-0901},\n"
     "  type        = {Preprint},\n"
     "  year        = {2001}\n"
     "}\n"},
    {"lin1999newton", "Lin and Moré 1999",
     "@article{lin1999newton,\n"
     "  author  = {Lin, Chih-Jen and Mor{\\'e}, Jorge J.},\n"
     "  title   = {Newton's Method for Large Bound-Constrained Optimization Problems},\n"
     "  journal = {SIAM Journal on Optimization},\n"
     "  volume  = {9},\n"
     "  number  = {4},\n"
     "  pages   = {1100--1127},\n"
     "  year    = {1999},\n"
     "  doi     = {10.1137/S1052623498345075}\n"
     "}\n"},
    {"alart1991mixed", "Alart and Curnier 1991",
     "@article{alart1991mixed,\n"
     "  author  = {Alart, Pierre and Curnier, Alain},\n"
     "  title   = {A Mixed Formulation for Frictional Contact Problems Prone to {Newton} Like Solution Methods},\n"
     "  journal = {Computer Methods in Applied Mechanics and Engineering},\n"
     "  volume  = {92},\n"
     "  number  = {3},\n"
     "  pages   = {353--375},\n"
     "  year    = {1991},\n"
     "  doi     = {10.1016/0045-7825(91)90022-X}\n"
     "}\n"},
    {"acary2018solving", "Acary et al. 2018",
     "@incollection{acary2018solving,\n"
     "  author    = {Acary, Vincent and Br{\\'e}mond, Maurice and Huber, Olivier},\n"
     "  title     = {On Solving Contact Problems with {Coulomb} Friction: Formulations and Numerical Comparisons},\n"
     "  booktitle = {Advanced Topics in Nonsmooth Dynamics},\n"
     "  publisher = {Springer},\n"
     "  pages     = {375--457},\n"
     "  year      = {2018},\n"
     "  doi       = {10.1007/978-3-319-75972-2_10}\n"
     "}\n"},
    {"carpentier2024unified", "Carpentier et al. 2024",
     "@inproceedings{carpentier2024unified,\n"
     "  author    = {Carpentier, Justin and Le Lidec, Quentin and Montaut, Louis},\n"
     "  title     = {From Compliant to Rigid Contact Simulation: a Unified and Efficient Approach},\n"
     "  booktitle = {Robotics: Science and Systems},\n"
     "  year      = {2024},\n"
     "  eprint    = {2405.17020}\n"
     "}\n"},
    {NULL, NULL, NULL},
};

int citation_collect(const char *paper, char *text, size_t size) {
    int found = 0;
    size_t used = 0;
    text[0] = '\0';
    for (const Citation *c = citation_table; c->key; c++) {
        if (!strstr(paper, c->paper)) continue;
        if (used < size) used += (size_t)snprintf(text + used, size - used, "%s%s", found ? "\n" : "", c->bibtex);
        found++;
    }
    return found;
}
