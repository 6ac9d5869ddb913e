# SPDX-License-Identifier: Apache-2.0
# colours.py PICTURE.png COLOUR EIGHTHS...: how many eighths of the row of the flame graph in which most is
# coloured have each colour, within half a one.  colours.py PICTURE.png dark|light: is that most of it?
import struct, sys, zlib

def rows(path):
    data = open(path, "rb").read()
    at, pixels, size = 8, b"", None
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", body[:10])
            size = {2: 3, 6: 4}[colours]
            assert depth == 8
        elif kind == b"IDAT":
            pixels += body
        at += 12 + n
    pixels, before = zlib.decompress(pixels), bytes(width * size)
    for y in range(height):
        how, line = pixels[y * (width * size + 1)], bytearray(pixels[y * (width * size + 1) + 1:][:width * size])
        for i in range(len(line)):
            a, b, c = line[i - size] if i >= size else 0, before[i], before[i - size] if i >= size else 0
            near = min((a, b, c), key=lambda x: abs(a + b - c - x))
            line[i] = line[i] + (0, a, b, (a + b) // 2, near)[how] & 255
        before = bytes(line)
        yield [tuple(line[i:i + 3]) for i in range(0, len(line), size)]

def colour(pixel):
    r, g, b = pixel
    return "red" if r > b + 20 else "blue" if b > r + 20 else "none"

if sys.argv[2] in ("dark", "light"):
    lights = [sum(pixel) / 3 for row in rows(sys.argv[1]) for pixel in row]
    share = sum(light < 90 if sys.argv[2] == "dark" else light > 165 for light in lights) / len(lights)
    sys.exit(None if share > 0.9 else f"{share:.2f} of it is {sys.argv[2]}")
best = {}
for row in rows(sys.argv[1]):
    counts = {}
    for pixel in row:
        name = colour(pixel)
        counts[name] = counts.get(name, 0) + 8 / len(row)
    if counts.get("red", 0) + counts.get("blue", 0) > best.get("red", 0) + best.get("blue", 0):
        best = counts
for name, eighths in zip(sys.argv[2::2], sys.argv[3::2]):
    if abs(best.get(name, 0) - float(eighths)) > 0.5:
        sys.exit(f"{name}: {best.get(name, 0):.2f} eighths, not {eighths}")
