# Reads PNG files, also animated ones, by the rules of the PNG specification (third edition) alone.
#
#   read.py facts FILE             prints width, height, the number of frames, and seconds a frame
#   read.py killed FILE            the same of a file whose writer was killed: a frame may not be counted, and
#                                  bytes may follow IEND
#   read.py compare FILE PNG...    are the frames these pictures, pixel by pixel?
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
    return b"".join(palette[3 * p:3 * p + 3] if colour == 3 else bytes([p] * 3) for p in flat)


def read(path, killed=False):
    """width, height, frames as RGB, seconds a frame (None: not animated)"""
    declared = None
    sequence = 0
    palette = b""
    frames = []
    delays = set()
    current = None
    seen = []
    with open(path, "rb") as file:
        data = file.read()
    for kind, body in chunks(data, killed):
        seen.append(kind)
        if kind == b"IHDR":
            width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", body)
            assert rest == [0, 0, 0]
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
        delays.pop() if delays else None


command, path, *others = sys.argv[1:]
width, height, frames, delay = read(path, command == "killed")
if command == "compare":
    assert len(frames) == len(others), f"{len(frames)} frames, {len(others)} pictures"
    for k, other in enumerate(others):
        assert read(other)[:3] == (width, height, [frames[k]]), f"frame {k} is not {other}"
else:
    print(width, height, len(frames), delay)
