# SPDX-License-Identifier: MIT
"""Problems given as arrays, against algebra by hand and by numpy."""

import numpy as np
import pytest
import sandglass
from sandglass import Problem, Simulation

RADIUS, MASS, MU = 0.1, 2.0, 0.5
INERTIA = 0.4 * MASS * RADIUS**2


def ball(velocity, **changes):
    """A ball on the ground, which is body 1; the normal points down, from the ball to the ground."""
    arguments = dict(masses=[MASS, np.inf], inertias=[INERTIA, 1], velocities=[velocity, (0, 0, 0)], pairs=[(0, 1)],
                     normals=[(0, 0, -1)], arms_a=[(0, 0, -RADIUS)], arms_b=[(0, 0, 0)], mu=MU)
    return Problem(**{**arguments, **changes})


def delassus(problem):
    """N and r, dense, from the bodies and arms: relative velocity of b against a, world frame."""
    bodies, contacts = problem.bodies, problem.contacts
    rows = np.zeros((3 * len(contacts), 6 * len(bodies)))
    for i, contact in enumerate(contacts):
        for body, arm, sign in ((contact["a"], contact["arm_a"], -1), (contact["b"], contact["arm_b"], 1)):
            x, y, z = arm
            cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
            rows[3 * i:3 * i + 3, 6 * body:6 * body + 6] = sign * np.hstack([np.eye(3), -cross])
    inverse = np.zeros((6 * len(bodies), 6 * len(bodies)))
    for k, body in enumerate(bodies):
        xx, yy, zz, xy, xz, yz = body["inverse_inertia"]
        inverse[6 * k:6 * k + 3, 6 * k:6 * k + 3] = body["inverse_mass"] * np.eye(3)
        inverse[6 * k + 3:6 * k + 6, 6 * k + 3:6 * k + 6] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    velocity = np.concatenate([np.concatenate([body["velocity"], body["spin"]]) for body in bodies])
    return rows @ inverse @ rows.T, rows @ velocity


def test_a_contact_that_sticks():
    fall, slip = -0.5, 0.2
    solution = ball((slip, 0, fall)).solve(iterations=2000, tolerance=1e-12)
    # The point of the ball stops: of a sphere N is 1/m along the normal and 1/m + r^2/I = 3.5/m across it.
    assert solution.solved
    assert solution.impulses[0] == pytest.approx([MASS * slip / 3.5, 0, MASS * fall], abs=1e-9)
    assert solution.velocities[0] == pytest.approx([slip - slip / 3.5, 0, 0], abs=1e-9)
    assert solution.spins[0] == pytest.approx([0, (slip - slip / 3.5) / RADIUS, 0], abs=1e-8)  # it rolls


def test_a_contact_that_slides():
    fall, slip = -0.1, 3.0
    solution = ball((slip, 0, fall)).solve("p-spg-fb", friction="coulomb", iterations=5000, tolerance=1e-12)
    normal = MASS * -fall
    assert solution.impulses[0] == pytest.approx([MU * normal, 0, -normal], abs=1e-8)  # on the ground
    assert solution.velocities[0] == pytest.approx([slip - MU * normal / MASS, 0, 0], abs=1e-8)


def test_a_contact_that_opens_and_a_gap_that_may_close():
    assert not ball((0, 0, 1.0)).solve().impulses.any()
    gap, step = 0.002, 0.01
    solution = ball((0, 0, -1.0), gaps=gap, step=step, mu=0).solve(tolerance=1e-12)
    assert solution.velocities[0, 2] == pytest.approx(-gap / step, abs=1e-9)  # it closes in the step, and no faster


def test_rolling_friction_has_torques():
    rolling = 0.01
    solution = ball((0, 0, -0.5), spins=[(0, 5.0, 0), (0, 0, 0)], rolling=rolling, mu=0).solve(
        "p-spg-fb", iterations=5000, tolerance=1e-12)
    assert solution.torques.shape == (1, 3)
    assert np.linalg.norm(solution.torques) <= rolling * -solution.impulses[0, 2] * (1 + 1e-9)
    assert 0 < solution.spins[0, 1] < 5  # it brakes


def stack(weights=(1.0, 2.0)):
    """Two balls upon each other, pushed sideways so little that everything sticks."""
    lower, upper = weights
    return Problem(masses=[lower, upper, np.inf], inertias=[0.4 * lower * RADIUS**2, 0.4 * upper * RADIUS**2, 1],
                   velocities=[(0.01, 0, -0.1), (0.02, 0.01, -0.1), (0, 0, 0)], pairs=[(0, 1), (0, 2)],
                   normals=[(0, 0, 1), (0, 0, -1)], arms_a=[(0, 0, RADIUS), (0, 0, -RADIUS)],
                   arms_b=[(0, 0, -RADIUS), (0, 0, 0)], mu=0.9)


# These solve another problem, or need more iterations than a test has.
ROUGH = ("jacobi", "mass-splitting", "tgs-soft", "avbd")
EXACT = [s.name for s in sandglass.solvers() if "cone" in s.friction and s.name not in ROUGH]


@pytest.mark.parametrize("solver", EXACT)
def test_every_method_agrees_with_dense_algebra(solver):
    problem = stack()
    matrix, r = delassus(problem)
    exact = np.linalg.solve(matrix, -r).reshape(-1, 3)
    normal = (exact * problem.contacts["normal"]).sum(axis=1)
    assert (np.linalg.norm(exact, axis=1) < np.sqrt(1 + 0.9**2) * normal).all()  # within the cones: it is the solution
    solution = problem.solve(solver, iterations=20000, tolerance=1e-10)
    assert solution.impulses == pytest.approx(exact, abs=1e-7), solver  # tolerance over the least eigenvalue of N, 0.3
    g = exact.ravel()
    assert solution.metrics.objective == pytest.approx(0.5 * g @ matrix @ g + r @ g, abs=1e-9)


def test_inertia_as_a_tensor():
    tensor = np.array([[3.0, 0.2, 0.1], [0.2, 2.0, 0.3], [0.1, 0.3, 1.5]]) * 1e-2
    velocity, (x, y, z) = np.array([0.1, 0.05, -0.3]), (0.02, -0.03, -RADIUS)
    problem = ball(velocity, inertias=np.array([tensor, np.eye(3)]), arms_a=[(x, y, z)], mu=5.0)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    matrix = np.eye(3) / MASS - cross @ np.linalg.inv(tensor) @ cross  # velocity of the point over impulse
    solution = problem.solve(iterations=5000, tolerance=1e-12)
    assert solution.impulses[0] == pytest.approx(np.linalg.solve(matrix, velocity), abs=1e-9)


def sparse_of(dense):
    """As much of a sparse matrix of scipy as is used."""
    class Columns:
        indptr = np.arange(0, dense.size + 1, len(dense))
        indices = np.tile(np.arange(len(dense)), len(dense))
        data = dense.T.ravel()
        sort_indices = staticmethod(lambda: None)
        tocsc = lambda self: self  # noqa: E731

    return Columns()


@pytest.mark.parametrize("form", [lambda w: w, sparse_of])
def test_a_problem_given_as_a_matrix(form):
    bodies = stack()
    w, r = delassus(bodies)  # in the world frame: to the frames of the contacts, normal first
    frames = np.zeros((6, 6))
    for i, normal in enumerate(bodies.contacts["normal"]):
        frames[3 * i:3 * i + 3, 3 * i:3 * i + 3] = [normal, (1, 0, 0), (0, 1, 0)]
    try:
        problem = Problem.from_matrix(form(frames @ w @ frames.T), frames @ r, 0.9)
    except sandglass.SandglassError as error:
        pytest.skip(str(error))
    impulses = problem.solve(iterations=20000, tolerance=1e-11).impulses
    expected = bodies.solve(iterations=20000, tolerance=1e-11).impulses
    assert impulses.ravel() == pytest.approx(frames @ expected.ravel(), abs=1e-7)
    with pytest.raises(sandglass.SandglassError, match="not symmetric|contradict"):
        Problem.from_matrix(form(np.triu(w) - np.tril(w, -1)), r, 0.9)
    with pytest.raises(ValueError, match="three for each contact"):
        Problem.from_matrix(form(w), r[:3], 0.9)


def test_a_matrix_that_is_not_quite_symmetric():
    w = np.array([[2.0, 0.1, 0.0], [0.11, 3.0, 0.2], [0.0, 0.19, 2.5]])
    q = np.array([-1.0, 0.1, -0.2])
    try:
        problem = Problem.from_matrix(w, q, 0.9)
    except sandglass.SandglassError as error:
        pytest.skip(str(error))
    solution = problem.solve("ngs", friction="coulomb", iterations=20000, tolerance=1e-12)
    assert solution.impulses[0] == pytest.approx(np.linalg.solve(w, -q), abs=1e-9)  # it sticks
    with pytest.raises(sandglass.SandglassError, match="needs a symmetric W"):
        problem.solve("p-spg-fb")


def test_the_curve_falls():
    curve = stack().solve("gauss-seidel", iterations=500, tolerance=1e-9, curve=True).curve
    assert len(curve) > 2 and curve["residual"][-1] < 1e-3 * curve["residual"][0]
    assert (np.diff(curve["iteration"]) > 0).all()


def test_a_saved_problem_loads_to_the_same_bits(tmp_path):
    problem = Simulation.load("hourglass", bodies=100).step(30).problem()
    problem.save(tmp_path / "a.sand")
    again = Problem.load(tmp_path / "a.sand")
    assert again.contact_count == problem.contact_count > 50
    for field in ("normal", "arm_a", "gap", "mu"):
        assert np.array_equal(again.contacts[field], problem.contacts[field])
    first, second = (p.solve(iterations=30) for p in (problem, again))
    assert np.array_equal(first.impulses, second.impulses) and np.array_equal(first.velocities, second.velocities)


def test_a_problem_is_saved_as_what_its_name_says(tmp_path):
    problem = Simulation.load("hourglass", bodies=10).step(5).problem()
    with pytest.raises(ValueError, match=r"a\.hdf5: expected a name that ends in \.sand"):
        problem.save(tmp_path / "a.hdf5")


def test_the_program_freezes_the_same_problem(program, tmp_path):
    path = tmp_path / "b.sand"
    program("freeze", "hourglass", "--bodies", 100, "--backend", "cpu", "--at", 0.3, "--out", path)
    ours, theirs = Simulation.load("hourglass", bodies=100).run(0.3).problem(), Problem.load(path)
    assert np.array_equal(ours.contacts, theirs.contacts) and np.array_equal(ours.start, theirs.start)


@pytest.mark.parametrize("changes, sentence", [
    (dict(pairs=[(1, 0)]), "contact 0 joins bodies 1 and 0"),
    (dict(pairs=[(0, 2)]), "contact 0 joins bodies 0 and 2"),
    (dict(normals=[(0, 0, -2)]), "contact 0 has .* a normal that is not of length 1"),
    (dict(mu=-1), "contact 0"),
    (dict(gaps=np.nan), "contact 0"),
    (dict(velocities=[(np.inf, 0, 0), (0, 0, 0)]), "body 0"),
    (dict(step=0), "step"),
])
def test_a_wrong_problem_is_refused_by_name(changes, sentence):
    with pytest.raises(sandglass.SandglassError, match=sentence):
        ball((0, 0, -1), **changes)


@pytest.mark.parametrize("changes", [dict(masses=[np.inf, 1]), dict(masses=[-1, np.inf]), dict(velocities=[(0, 0)]),
                                     dict(normals=[(0, 0, 1), (0, 0, 1)]), dict(inertias=np.ones((3, 3, 3)))])
def test_wrong_shapes_are_refused(changes):
    with pytest.raises(ValueError):
        ball((0, 0, -1), **changes)


def test_what_a_solver_cannot_do_is_refused():
    with pytest.raises(sandglass.SandglassError, match="no such solver"):
        stack().solve("nothing")
    with pytest.raises(sandglass.SandglassError):
        stack().solve("mprgp", friction="cone")
