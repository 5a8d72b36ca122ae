# SPDX-License-Identifier: MIT
"""A film with a moving camera: the camera flies around a scene while it runs. Needs ffmpeg for a film; else it writes pictures.

python film.py [--scene NAME] [--seconds S] [--out FILE.mp4 | FOLDER]
"""

import argparse
import os
import shutil
import subprocess

import numpy as np
import sandglass


def frames(sim, path, seconds, fps, width, height):
    """One picture for each 1/fps seconds of simulated time."""
    for number in range(round(seconds * fps)):
        while sim.time < number / fps:
            sim.step()
        yield sim.draw(width, height, camera=path.at(number / fps), color="speed", samples=2, quality="medium")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scene", default="hourglass")
    parser.add_argument("--bodies", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--size", type=int, nargs=2, default=(640, 360))
    parser.add_argument("--out", default="film.mp4")
    args = parser.parse_args()

    sim = sandglass.Simulation.load(args.scene, bodies=args.bodies)
    lower, upper = sim.box
    middle, size = 0.5 * (lower + upper), max(upper - lower)
    path = sandglass.Views()
    for share, away in ((0, (0, -2.9, 0.3)), (0.4, (2.5, -1.4, 0.8)), (0.7, (1.9, 1.9, 1.4)), (1, (-0.4, 2.9, 0.1))):
        path.add(share * args.seconds, middle + size * np.array(away), middle)

    pictures = frames(sim, path, args.seconds, args.fps, *args.size)
    if args.out.endswith(".mp4") and shutil.which("ffmpeg"):
        command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "{}x{}".format(*args.size),
                   "-r", str(args.fps), "-i", "-", "-pix_fmt", "yuv420p", args.out]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
            for picture in pictures:
                encoder.stdin.write(picture.tobytes())
            encoder.stdin.close()
            if encoder.wait():
                raise SystemExit("ffmpeg failed")
    else:
        args.out = args.out.removesuffix(".mp4")
        os.makedirs(args.out, exist_ok=True)
        for number, picture in enumerate(pictures):
            picture.save(os.path.join(args.out, f"frame_{number:05d}.png"))
    print(f"{args.seconds:g} s of {sim.name} filmed to {args.out}")


if __name__ == "__main__":
    main()
