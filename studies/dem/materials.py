# SPDX-License-Identifier: MIT
"""Materials of the benchmark of Dosta et al. (2024), and what each pair of them does in contact."""

NAMES = ("M1", "M2", "steel")
DENSITY = (2500.0, 2000.0, 7200.0)  # kg/m^3
YOUNG = (1.0e9, 0.5e9, 210e9)  # Pa; of the soft codes alone
POISSON = 0.2
M1, M2, STEEL = range(3)

# Restitution and friction. Steel on steel does not happen, but a soft code asks for every pair.
PAIRS = {
    (M1, M1): (0.5, 0.3),
    (M1, M2): (0.45, 0.2),
    (M2, M2): (0.4, 0.4),
    (M1, STEEL): (0.4, 0.2),
    (M2, STEEL): (0.4, 0.2),
    (STEEL, STEEL): (0.4, 0.2),
}


def matrix(which):
    """Restitution (0) or friction (1) as a symmetric matrix over the materials."""
    return [[PAIRS[min(a, b), max(a, b)][which] for b in range(3)] for a in range(3)]


def rayleigh_time(radius, material):
    """Time that a surface wave takes around a sphere, of which a soft code resolves a part."""
    shear = YOUNG[material] / (2 * (1 + POISSON))
    return 3.141592653589793 * radius * (DENSITY[material] / shear) ** 0.5 / (0.1631 * POISSON + 0.8766)
