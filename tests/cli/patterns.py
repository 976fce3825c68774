# The scenarios of equations in scripts/stencils, computed by NumPy in double: patterns.py NAME FOLDER STEPS
# FOLDER has FIELD-000000.npy, where it begins, and those of step STEPS, which must be near.
import sys
import numpy as np

name, folder, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])


def past(u, x, y, wraps):  # the value x to the right and y down, past sides periodic or clamped; rows are y
    if wraps:
        return np.roll(u, (-y, -x), (0, 1))
    padded = np.pad(u, 2, mode="edge")
    return padded[2 + y : 2 + y + u.shape[0], 2 + x : 2 + x + u.shape[1]]


class Grid:
    def __init__(self, h, wraps):
        self.h, self.wraps = h, wraps

    def lap(self, u):
        return (sum(past(u, x, y, self.wraps) for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))) - 4 * u) / self.h**2

    def dx(self, u):
        return (past(u, 1, 0, self.wraps) - past(u, -1, 0, self.wraps)) / (2 * self.h)

    def dy(self, u):
        return (past(u, 0, 1, self.wraps) - past(u, 0, -1, self.wraps)) / (2 * self.h)


def normal(shape, step, stream, seed):  # pcg4d (Jarzynski and Olano, 2020) of cell, step, stream and seed; Box and Muller
    word = np.uint32
    with np.errstate(over="ignore"):
        spread = (word(seed) ^ word(0x5BD1E995)) * word(0x9E3779B9)
        spread = (spread ^ (spread >> word(15))) * word(0x85EBCA6B)
        y, x = np.indices(shape).astype(word)
        v = [x ^ spread, y - spread, np.full(shape, 0x4F6CDD1D, word), np.full(shape, step, word)]
        v[3] ^= word((stream + 1) * 0x9E3779B9 & 0xFFFFFFFF)
        for i in (0, 1, 3):
            v[i] = v[i] * word(1664525) + word(1013904223)
        for turn in range(2):
            for i, a, b in ((0, 1, 3), (1, 2, 0), (2, 0, 1), (3, 1, 2)):
                v[i] = v[i] + v[a] * v[b]
            if turn == 0:
                v = [w ^ (w >> word(16)) for w in v]

    def unit(high, low):
        return ((high >> word(5)).astype(float) * 2.0**26 + (low >> word(6)).astype(float)) * 2.0**-53

    return np.sqrt(-2 * np.log(1 - unit(v[0], v[1]))) * np.cos(2 * np.pi * unit(v[2], v[3]))


def advance(order, rate, u, dt):
    r1 = rate(u)
    if order == 1:
        return [a + dt * r for a, r in zip(u, r1)]
    if order == 2:
        r2 = rate([a + dt * r for a, r in zip(u, r1)])
        return [a + dt / 2 * (r + s) for a, r, s in zip(u, r1, r2)]
    r2 = rate([a + dt / 2 * r for a, r in zip(u, r1)])
    r3 = rate([a + dt / 2 * r for a, r in zip(u, r2)])
    r4 = rate([a + dt * r for a, r in zip(u, r3)])
    return [a + dt / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(u, r1, r2, r3, r4)]


def brusselator(g, u, v):
    return [5 * g.lap(u) + 3 - 10 * u + u * u * v, 12 * g.lap(v) + 9 * u - u * u * v]


def schnakenberg(g, u, v):
    return [g.lap(u) + 0.1 - u + u * u * v, 40 * g.lap(v) + 0.9 - u * u * v]


def swift(g, u):
    w = u + g.lap(u)
    return [0.3 * u - (w + g.lap(w)) - u**3]


def fitzhugh(g, u, v):
    return [g.lap(u) + u * (1 - u) * (u - (v + 0.06) / 0.75) / 0.02, u - v]


def kuramoto(g, h):
    return [-g.lap(h) - g.lap(g.lap(h)) - 0.5 * (g.dx(h) ** 2 + g.dy(h) ** 2)]


def burgers(g, u, v):
    return [0.004 * g.lap(w) - u * g.dx(w) - v * g.dy(w) for w in (u, v)]


def cahn(g, u):
    return [g.lap(u**3 - u - g.lap(u))]


def front(g, u):
    return [g.lap(u) + u * (1 - u) * (u - 0.25)]


def fluctuations(g, u):
    return [1.6 * g.lap(u) - 0.005 * u + normal(u.shape, g.step, 1, 5) / np.sqrt(0.1)]


equations = {  # fields, spacing (0: 1 over the columns), periodic, order, time step (0: the largest at every fourth step)
    "brusselator": ("uv", 0.8, True, 2, 0.008, brusselator),
    "schnakenberg": ("uv", 0.5, False, 1, 0.0015, schnakenberg),
    "swift": ("u", 0.8, True, 1, 0.01, swift),
    "fitzhugh": ("uv", 0.4, False, 1, 0.01, fitzhugh),
    "kuramoto": ("h", 0.8, True, 4, 0.01, kuramoto),
    "burgers": ("uv", 0, True, 2, 0, burgers),
    "cahn": ("u", 1.0, True, 1, 0.02, cahn),
    "front": ("u", 0.5, False, 4, 0.04, front),
    "fluctuations": ("u", 1.0, True, 1, 0.1, fluctuations),
}
def drum(u, old):  # a step: beyond the rim and in the hole the skin is held at 0, and values stay
    y, x = np.indices(u.shape)
    n, middle = u.shape[0], (u.shape[0] - 1) / 2
    def within(dx, dy, radius):
        return (x - middle - dx * n / 300) ** 2 + (y - middle - dy * n / 300) ** 2 <= (radius * n / 300) ** 2
    skin = within(0, 0, 145) & ~within(60, 20, 30)
    return [np.where(skin, 2 * u - old + 0.25 * Grid(1, False).lap(np.where(skin, u, 0)), u), np.where(skin, u, old)]


equations["drum"] = ("u old".split(), 1.0, False, 0, 0, drum)
fields, h, wraps, order, dt, rate = equations[name]
u = [np.load(f"{folder}/{field}-000000.npy").astype(float) for field in fields]
grid = Grid(h or 1 / u[0].shape[1], wraps)
start = u
for step in range(steps):
    grid.step = step
    if name == "burgers" and step % 4 == 0:
        dt = min(0.4 * grid.h / (abs(u[0]) + abs(u[1]) + 1e-9).max(), 0.2 * grid.h**2 / 0.004)
    u = rate(*u) if order == 0 else advance(order, lambda fields: rate(grid, *fields), u, dt)
for field, ours, first in zip(fields, u, start):
    theirs = np.load(f"{folder}/{field}-{steps:06d}.npy")
    wrong, moved = abs(ours - theirs).max(), abs(ours - first).max()
    if not (wrong < 1e-9 and moved > 1e-3):
        sys.exit(f"{name}: {field} differs by {wrong:g} after it changed by {moved:g}")
