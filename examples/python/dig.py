# SPDX-License-Identifier: MIT
"""An arm with a bucket digs in stones by position targets, and feels what it digs.

The arm is a file: by default arm.urdf beside this script, with `--arm iiwa` the KUKA iiwa of pybullet_data (`pip install
pybullet`), which has the same lengths and seven joints. Neither has a bucket, so the bucket is a compound of plates, which a
joint welds to the last link. A path of the bucket is turned into angles, and every step the motors are told theirs; they are
as strong as the file says, and the bucket lags where stones resist. The forces on it are read in every step. With --check
the state is kept in a file while the bucket digs, and a second copy, built anew and restored from the file, must have the
same bits a second later.

python dig.py [--arm FILE] [--stones N] [--iterations N] [--backend cpu|cuda] [--film FOLDER] [--forces FILE.csv] [--check FILE.state]
"""

import argparse
import math
import os

import numpy as np
import sandglass

SHOULDER, UPPER, FORE, HAND = 0.36, 0.42, 0.40, 0.126  # m: height of the shoulder, lengths up to the flange
STAND = 0.12                                           # m, what the arm stands on
TILT = 0.85                                            # rad, by which the bucket is welded to the flange
DEEP, WIDE, HIGH, THICK = 0.17, 0.24, 0.15, 0.008      # m, of the bucket
BOX, TRAY = (0.68, 0, 0.33, 0.40), (-0.05, 0.72, 0.30, 0.24)  # center and half lengths, m, of where it digs and where it empties
KUKA = {"joints": ["lbr_iiwa_joint_1", "lbr_iiwa_joint_2", "lbr_iiwa_joint_4", "lbr_iiwa_joint_6"], "signs": (1, 1, -1, 1),
        "hand": "lbr_iiwa_link_7"}
OWN = {"joints": ["slew", "boom", "stick", "wrist"], "signs": (1, 1, 1, 1), "hand": "hand"}

START, HOLD, CHECK = 1.5, (5.7, 6.3), (3.0, 4.0)  # s: it enters; it holds still in the air; a copy begins, and is compared

# When (s) the lip of the bucket is where: slew (rad), distance from the axis (m), height over the floor (m), and the angle of
# the bucket (rad): below pi the lip leads downwards, at 3 pi / 2 the bucket holds what is in it, at pi / 2 it is empty.
PATH = [(0.0, 0.0, 0.55, 0.75, 3.4), (START, 0.0, 0.90, 0.38, 2.4), (2.4, 0.0, 0.88, 0.05, 2.5), (3.8, 0.0, 0.60, 0.04, 3.1),
        (4.8, 0.0, 0.44, 0.24, 4.4), (5.6, 0.0, 0.42, 0.55, 4.55), (6.4, 0.0, 0.42, 0.55, 4.55), (8.0, 1.64, 0.45, 0.55, 4.55),
        (9.2, 1.64, 0.76, 0.42, 2.0), (10.0, 1.64, 0.76, 0.42, 1.6)]


def arm_file(name):
    """The path of an arm."""
    if name == "iiwa":
        import pybullet_data
        return os.path.join(pybullet_data.getDataPath(), "kuka_iiwa", "model.urdf")
    return name


def bucket_shape(world):
    """Back, bottom, top and two sides: z leads away from the flange, and x is where it is open."""
    plates = [((THICK, WIDE, DEEP), (-0.5 * HIGH, 0, 0.5 * DEEP)), ((HIGH, WIDE, THICK), (0, 0, DEEP)),
              ((0.7 * HIGH, WIDE, THICK), (-0.15 * HIGH, 0, 0))]
    plates += [((0.9 * HIGH, THICK, DEEP), (-0.05 * HIGH, side * 0.5 * WIDE, 0.5 * DEEP)) for side in (-1, 1)]
    return world.compound_shape([(world.box_shape([0.5 * v for v in size]), center) for size, center in plates])


def stone_shapes(world, dice, kinds=8):
    """Stones: hulls of points about a sphere, flattened a little."""
    made = []
    for _ in range(kinds):
        points = dice.normal(size=(14, 3))
        points *= dice.uniform(0.85, 1.0, (14, 1)) * (1, 0.9, 0.75) / np.linalg.norm(points, axis=1, keepdims=True)
        made.append(world.hull_shape(points))
    return made


def tray(world, place, height, name):
    """A floor of the world, and four walls about a rectangle."""
    x, y, half_x, half_y = place
    for k, (dx, dy) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        half = (0.01 if dx else half_x + 0.02, 0.01 if dy else half_y + 0.02, 0.5 * height)
        at = (x + dx * (half_x + 0.01), y + dy * (half_y + 0.01), 0.5 * height)
        world.box_walls(half, inside=False, position=at, material="steel", name=f"{name} {k}")


def box_of(count):
    """Where this number of stones lies some 0.2 m deep, and how large they are: fewer are larger, in a narrower box."""
    x, y, half_x, half_y = BOX
    return (x, y, half_x, half_y * math.sqrt(count / 5000)), 0.021 * (5000 / count) ** (1 / 6)


def place_stones(world, count, dice):
    """Stones on a lattice, from which they fall."""
    (x, y, half_x, half_y), radius = box_of(count)
    shapes, spacing = stone_shapes(world, dice), 2.02 * radius
    across, along = int(2 * half_x / spacing), max(1, int(2 * half_y / spacing))
    for k in range(count):
        layer, cell = divmod(k, across * along)
        at = (x + spacing * (cell % across - 0.5 * (across - 1)), y + spacing * (cell // across - 0.5 * (along - 1)))
        turn = dice.normal(size=4)
        world.add(shapes[k % len(shapes)], (*at, radius + 0.8 * spacing * layer), scale=radius * dice.uniform(0.85, 1),
                  material="stone", rotation=turn / np.linalg.norm(turn))


class Digger:
    """A world with stones and an arm, and what moves the arm."""

    def __init__(self, arm, stones, step=0.01, iterations=40, **how):
        world, dice = sandglass.World(step=step), np.random.default_rng(7)
        world.material("stone", density=2600, mu=0.6)
        world.material("steel", density=2700, mu=0.4)
        world.plane(material="stone", name="floor")
        tray(world, box_of(stones)[0], 0.26, "box")
        tray(world, TRAY, 0.14, "tray")
        world.box_walls((0.12, 0.12, 0.5 * STAND - 0.005), inside=False, position=(0, 0, 0.5 * STAND - 0.005), material="steel",
                        name="stand")
        place_stones(world, stones, dice)
        self.model = world.load(arm, at=(0, 0, STAND), material="steel", fixed=True)
        kind = KUKA if KUKA["hand"] in self.model.bodies else OWN
        flange = STAND + SHOULDER + UPPER + FORE + HAND
        tilted = math.cos(0.5 * TILT), 0, math.sin(0.5 * TILT), 0
        self.bucket = world.add(bucket_shape(world), (0, 0, flange), rotation=tilted, material="steel", mass=2.5)
        world.join("fixed", self.model.bodies[kind["hand"]], self.bucket, (0, 0, flange), name="weld")
        for body in set(self.model.bodies.values()) - {-1}:
            world.keep_apart(body, self.bucket)
        self.stones, self.signs, self.names = stones, kind["signs"], kind["joints"]
        self.sim = world.simulate(iterations=iterations, **how)
        for name, joint in self.sim.joints.items():
            if self.model.joints.get(name) is not None and joint.kind == "hinge":
                joint.set_motor(position=0, rate=25)
        at, turn = self.place()
        self.origin, self.axes = turn.T @ ((0, 0, flange) - at), turn.T @ turn_of(tilted)  # of the bucket as it was described
        self.motors = [self.sim.joints[name] for name in self.names]

    def step(self):
        """Tells the motors their angles, and takes a step."""
        for motor, sign, angle in zip(self.motors, self.signs, angles(*path_at(self.sim.time + self.sim.step_length))):
            motor.set_motor(position=sign * angle)
        self.sim.step()

    def place(self):
        """Center of mass and rotation of the bucket; a body's own axes are the principal ones."""
        return self.sim.positions[self.bucket], turn_of(self.sim.rotations[self.bucket])

    def inside(self):
        """The numbers of the stones in the bucket."""
        at, turn = self.place()
        local = ((self.sim.positions[: self.stones] - at) @ turn - self.origin) @ self.axes
        return np.flatnonzero((np.abs(local - (0, 0, 0.5 * DEEP)) < (0.7 * HIGH, 0.5 * WIDE, 0.5 * DEEP)).all(axis=1))

    def lip(self):
        """Where the middle of the lip is."""
        at, turn = self.place()
        return at + turn @ (self.origin + self.axes @ (0.5 * HIGH, 0, DEEP))

    def emptied(self):
        """How many stones lie where it empties."""
        away = np.abs(self.sim.positions[: self.stones, :2] - TRAY[:2])
        return int((away < TRAY[2:]).all(axis=1).sum())


def turn_of(rotation):
    """The matrix of a quaternion."""
    w, x, y, z = rotation
    return np.array([(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
                     (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
                     (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))])


def path_at(time):
    """Where the bucket is to be: smooth between the points of the path, where it stands still."""
    k = max(i for i, point in enumerate(PATH) if point[0] <= max(time, 0))
    if k + 1 == len(PATH):
        return PATH[-1][1:]
    (begin, *a), (end, *b) = PATH[k], PATH[k + 1]
    s = (time - begin) / (end - begin)
    s = s * s * (3 - 2 * s)
    return tuple((1 - s) * x + s * y for x, y in zip(a, b))


def angles(slew, distance, height, bucket):
    """The angles of the joints for which the lip of the bucket is there: two links in a plane."""
    hand = bucket - TILT  # of the flange, from upright
    r = distance - DEEP * math.sin(bucket) - 0.5 * HIGH * math.cos(bucket) - HAND * math.sin(hand)
    z = height - DEEP * math.cos(bucket) + 0.5 * HIGH * math.sin(bucket) - HAND * math.cos(hand) - STAND - SHOULDER
    reach = min(math.hypot(r, z), 0.999 * (UPPER + FORE))
    bend = math.acos((reach**2 - UPPER**2 - FORE**2) / (2 * UPPER * FORE))
    boom = math.atan2(r, z) - math.atan2(FORE * math.sin(bend), UPPER + FORE * math.cos(bend))
    return slew, boom, bend, hand - boom - bend


def bits(sim):
    """All that moves, as bytes."""
    return b"".join(getattr(sim, name).tobytes() for name in ("positions", "rotations", "velocities", "spins"))


def run(digger, seconds, film, size, rate, check):
    """Digs, and returns rows of time, force on the bucket and motor torques, what the bucket felt and held in the air, and
    the bits to be compared."""
    sim, rows, held, shots, found = digger.sim, [], [], 0, b""
    while sim.time < seconds - 1e-9:
        if film and sim.time >= shots / rate - 1e-9:
            sim.draw(*size, camera=(1.55, -1.45, 1.3, 0.35, 0.22, 0.3), quality="high").save(
                os.path.join(film, f"dig_{shots:04d}.png"))
            shots += 1
        if check and sim.step_index == round(CHECK[0] / sim.step_length):
            sim.save(check)
        digger.step()
        if sim.step_index == round(CHECK[1] / sim.step_length):
            found = bits(sim)
        force = sim.contact_forces[digger.bucket]
        rows.append((sim.time, *force, *(motor.motor_torque for motor in digger.motors)))
        if HOLD[0] < sim.time < HOLD[1]:
            held.append((-force[2], 9.81 * sim.masses[digger.inside()].sum()))
    return np.array(rows), np.array(held), found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arm", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "arm.urdf"))
    parser.add_argument("--stones", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=PATH[-1][0])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--solver")
    parser.add_argument("--iterations", type=int, default=40, help="fewer let a chain of light links give way")
    parser.add_argument("--film", metavar="FOLDER", help="pictures of the run")
    parser.add_argument("--rate", type=float, default=10, help="pictures a second")
    parser.add_argument("--size", type=int, nargs=2, default=(480, 320))
    parser.add_argument("--forces", metavar="FILE", help="the force on the bucket and the torques in every step, CSV")
    parser.add_argument("--check", metavar="FILE", help="keep a state there; a second copy restored from it comes to the same bits")
    args = parser.parse_args()
    args.arm = arm_file(args.arm)

    how = dict(backend=args.backend, threads=args.threads, solver=args.solver, iterations=args.iterations)
    digger = Digger(args.arm, args.stones, **how)
    if args.film:
        os.makedirs(args.film, exist_ok=True)
    rows, held, found = run(digger, args.seconds, args.film, args.size, args.rate, args.check)
    if args.forces:
        np.savetxt(args.forces, rows, delimiter=",", header="time,fx,fy,fz," + ",".join(digger.names), comments="", fmt="%.6g")
    if len(held):
        print("in the air the bucket feels {:.1f} N, and the stones in it weigh {:.1f} N".format(*held.mean(axis=0)))
    print(f"{os.path.basename(args.arm)} pushed with up to {np.abs(rows[:, 1:4]).max():.0f} N, its motors gave up to "
          f"{np.abs(rows[:, 4:]).max():.0f} N m; {digger.emptied()} of {args.stones} stones were moved to the tray")
    if args.check and found:
        copy = Digger(args.arm, args.stones, **how)
        copy.sim.restore(sandglass.State.read(args.check))
        _, _, again = run(copy, CHECK[1], None, args.size, args.rate, None)
        print("the second copy has", "the same bits" if again == found else "OTHER BITS")
        if again != found:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
