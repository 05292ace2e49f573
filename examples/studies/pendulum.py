"""Beside simulator.toml: the swing of a pendulum by small steps."""

import math

SAMPLES, RATE, SUBSTEPS = 60, 20.0, 5


def swing(frequency, damping):
    angle, speed, step = 1.0, 0.0, 1.0 / (RATE * SUBSTEPS)
    angles = [angle]
    for _ in range(SAMPLES - 1):
        for _ in range(SUBSTEPS):
            speed -= step * ((2 * math.pi * frequency) ** 2 * math.sin(angle) + damping * speed)
            angle += step * speed
        angles.append(angle)
    return angles
