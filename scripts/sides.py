#!/usr/bin/env python3
"""Draws docs/sides.png, what cells past the low side of an axis are and where the wall lies: python3 scripts/sides.py

Needs Pillow (apt-get install python3-pil) and the font DejaVu Sans (fonts-dejavu-core).
"""
import os

from PIL import Image, ImageDraw, ImageFont

CELL, LEFT, TOP, ROW = 90, 150, 60, 125
SCALE = 2  # drawn larger, so that lines are smooth
OUTSIDE, INSIDE = 3, 5
INK, PALE, WALL, ARROW = (30, 30, 30), (235, 235, 235), (200, 30, 30), (30, 90, 180)

# For each kind: what the cells -3, -2, -1 hold (the number of a cell within, or a text), and where the wall lies, in cells.
KINDS = [
    ("clamp", [0, 0, 0], 0.0, "insulated, at the outer face of cell 0"),
    ("mirror", [3, 2, 1], 0.5, "insulated, through the centre of cell 0"),
    ("fixed", ["value"] * 3, -0.5, "held at the value, at the centre of cell -1"),
    ("periodic", [-3, -2, -1], None, "there is none: cells of the other side"),
]


def font(size):
    return ImageFont.truetype("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", size * SCALE)


def main():
    width, height = LEFT + (OUTSIDE + INSIDE) * CELL + 20, TOP + ROW * len(KINDS)
    picture = Image.new("RGB", (width * SCALE, height * SCALE), "white")
    draw = ImageDraw.Draw(picture)

    def at(*numbers):
        return [round(number * SCALE) for number in numbers]

    def text(x, y, words, size, colour, anchor="mm"):
        draw.text(at(x, y), words, font=font(size), fill=colour, anchor=anchor)

    def x_of(cell):  # of its low face
        return LEFT + (OUTSIDE + cell) * CELL

    text(x_of(-OUTSIDE) + OUTSIDE * CELL / 2, 20, "outside: what is read there", 15, INK)
    text(x_of(0) + INSIDE * CELL / 2, 20, "cells of the grid", 15, INK)
    for row, (name, held, wall, words) in enumerate(KINDS):
        y = TOP + row * ROW
        text(20, y + 25, name, 19, INK, "lm")
        for cell in range(-OUTSIDE, INSIDE):
            box = at(x_of(cell), y, x_of(cell) + CELL, y + 50)
            draw.rectangle(box, fill=PALE if cell < 0 else "white", outline=INK, width=SCALE)
            if cell >= 0:
                label = f"u[{cell}]"
            else:
                what = held[cell + OUTSIDE]
                label = what if isinstance(what, str) else f"u[n{what}]" if what < 0 else f"u[{what}]"
            text(x_of(cell) + CELL / 2, y + 25, label, 15, ARROW if cell < 0 else INK)
        if wall is not None:
            x = LEFT + (OUTSIDE + wall) * CELL
            for low, high in ((-14, 12), (38, 64)): # it leaves room for the text of a cell
                draw.line(at(x, y + low, x, y + high), fill=WALL, width=4 * SCALE)
        text(x_of(-OUTSIDE), y + 80, "wall: " + words, 15, WALL, "lm")
    picture = picture.resize((width, height), Image.LANCZOS).quantize(64)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
    picture.save(os.path.join(folder, "sides.png"), optimize=True)


main()
