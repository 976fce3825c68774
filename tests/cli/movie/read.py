# Reads PNG files, also animated ones, by the rules of the PNG specification (third edition) alone, and GIF files by those of
# GIF89a.
#
#   read.py facts FILE             prints width, height, the number of frames, and seconds a frame
#   read.py killed FILE            the same of a file whose writer was killed: a frame may not be counted, and
#                                  bytes may follow IEND
#   read.py compare FILE PNG...    are the frames these pictures, pixel by pixel?
#   read.py like GIF PNG GIF       are the frames of two movies the same, and what is left out? Has a third as many?
import struct
import sys
import zlib


def chunks(data, may_go_on):
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no signature"
    at = 8
    while True:
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        (crc,) = struct.unpack_from(">I", data, at + 8 + length)
        assert crc == zlib.crc32(kind + body), f"wrong checksum at byte {at}"
        yield kind, body
        at += 12 + length
        if kind == b"IEND":
            assert may_go_on or at == len(data), f"{len(data) - at} bytes after IEND"
            return


def coloured(indices, palette):
    colours = [palette[3 * k:3 * k + 3] for k in range(256)]
    return b"".join(map(colours.__getitem__, indices))


def pixels(data, width, height, depth, colour, palette):
    assert depth == 8 and colour in (0, 2, 3)
    step = 3 if colour == 2 else 1
    stride = step * width
    raw = zlib.decompress(data)
    assert len(raw) == height * (stride + 1), "wrong number of pixels"
    rows = []
    for y in range(height):
        row = raw[y * (stride + 1):(y + 1) * (stride + 1)]
        assert row[0] == 0, "these files use no filters"
        rows.append(row[1:])
    flat = b"".join(rows)
    if colour == 2:
        return flat
    return coloured(flat, palette if colour == 3 else bytes(k // 3 for k in range(768)))


def expand(codes, count):
    """The pixels of a GIF's frame."""
    table, width, at, bits, have, pixels, before = [], 9, 0, 0, 0, [], None
    while True:
        while have < width:
            bits |= codes[at] << have
            have += 8
            at += 1
        code = bits & (1 << width) - 1
        bits >>= width
        have -= width
        if code == 256:
            table, width, before = [bytes([k]) for k in range(256)] + [b"", b""], 9, None
        elif code == 257:
            break
        else:
            assert code <= len(table) and (code < len(table) or before)
            here = table[code] if code < len(table) else before + before[:1]
            pixels.append(here)
            if before is not None and len(table) < 4096:
                table.append(before + here[:1])
            before = here
            width = min(12, max(9, len(table).bit_length()))
    pixels = b"".join(pixels)
    assert len(pixels) == count and at == len(codes)
    return pixels


def read_gif(data):
    assert data[:6] == b"GIF89a" and data[10] == 0x70 and data[12] == 0
    width, height = struct.unpack_from("<HH", data, 6)
    at, frames, delays, clears = 13, [], set(), []

    def blocks():
        nonlocal at
        text = b""
        while data[at]:
            text += data[at + 1:at + 1 + data[at]]
            at += 1 + data[at]
        at += 1
        return text

    while data[at] != 0x3b:
        if data[at] == 0x21:
            label = data[at + 1]
            at += 2
            text = blocks()
            if label == 0xf9:
                flags, delay, clear = struct.unpack("<BHB", text)
                delays.add(delay / 100)
                clears.append(clear if flags & 1 else None)
        else:
            assert data[at] == 0x2c and struct.unpack_from("<HHHHB", data, at + 1) == (0, 0, width, height, 0x87)
            palette = data[at + 10:at + 778]
            assert data[at + 778] == 8
            at += 779
            pixels = expand(blocks(), width * height)
            clear = clears[-1]
            assert clear is None or palette[3 * clear:3 * clear + 3] == CLEAR
            frames.append(coloured(pixels, palette))
    assert at == len(data) - 1 and len(delays) == 1
    return width, height, frames, delays.pop(), clears.count(None) < len(clears)


CLEAR = bytes([254, 252, 254])


def read(path, killed=False):
    """width, height, frames as RGB, seconds a frame (None: not animated), is a colour left out"""
    declared = None
    sequence = 0
    palette = b""
    frames = []
    delays = set()
    current = None
    seen = []
    with open(path, "rb") as file:
        data = file.read()
    if data[:3] == b"GIF":
        return read_gif(data)
    for kind, body in chunks(data, killed):
        seen.append(kind)
        if kind == b"IHDR":
            width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", body)
            assert rest == [0, 0, 0]
        elif kind == b"tRNS":
            assert body[1::2] == CLEAR
        elif kind == b"PLTE":
            palette = body
        elif kind == b"acTL":
            assert b"IDAT" not in seen
            declared, plays = struct.unpack(">II", body)
            assert plays == 0
        elif kind == b"fcTL":
            number, w, h, x, y, up, down, dispose, blend = struct.unpack(">IIIIIHHBB", body)
            assert number == sequence and (w, h, x, y, dispose, blend) == (width, height, 0, 0, 0, 0)
            sequence += 1
            delays.add(up / down)
            current = b""
            frames.append(current)
        elif kind == b"IDAT":
            if declared is None and not frames:
                frames.append(b"")
            assert len(frames) == 1
            frames[0] += body
        elif kind == b"fdAT":
            assert len(frames) > 1 and struct.unpack_from(">I", body)[0] == sequence
            sequence += 1
            frames[-1] += body[4:]
    if declared is not None:
        assert len(frames) == declared or (killed and len(frames) == declared + 1), \
            f"acTL tells {declared} frames, and there are {len(frames)}"
        assert len(delays) == 1
    return width, height, [pixels(f, width, height, depth, colour, palette) for f in frames], \
        delays.pop() if delays else None, b"tRNS" in seen


command, path, *others = sys.argv[1:]
width, height, frames, delay, clear = read(path, command == "killed")
if command == "compare":
    assert len(frames) == len(others), f"{len(frames)} frames, {len(others)} pictures"
    for k, other in enumerate(others):
        assert read(other)[:3] == (width, height, [frames[k]]), f"frame {k} is not {other}"
elif command == "like":
    assert clear and read(others[0]) == (width, height, frames, delay, clear)
    assert len(read(others[1])[2]) == len(frames)
else:
    print(width, height, len(frames), delay)
