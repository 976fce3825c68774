"""Values on their way to the engine, arrays and capsules, without the library."""
import os
import pathlib
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import trapeze
from trapeze import _values


class Values(unittest.TestCase):
    def test_json(self):
        text = _values.to_json(dict(a=np.float32(0.5), b=(1, np.int8(2)), c=None, d={"x": np.arange(3)}, e=True,
                                    f=trapeze.random(seed=1), g=np.longdouble(2), h=pathlib.Path("a/b")))
        self.assertEqual(text, b'{"a": 0.5, "b": [1, 2], "d": {"x": [0, 1, 2]}, "e": true, "f": {"tz.random": {"seed": 1}}, '
                         b'"g": 2.0, "h": "a/b"}')
        for value in (float("nan"), np.inf, [1, float("inf")]):
            with self.assertRaisesRegex(ValueError, "'a' is .*finite"):
                _values.to_json(dict(a=value))
        with self.assertRaisesRegex(TypeError, "'a.b' must be a number.*not function"):
            _values.to_json(dict(a=dict(b=lambda: 0)))
        with self.assertRaisesRegex(TypeError, "random.. has no option 'sead'; did you mean 'seed'"):
            trapeze.random(sead=1)

    def test_functions_of_coordinates(self):
        box = [(0, 3), (10, 12)]
        self.assertEqual(_values.evaluate(lambda x, y: 100 * y + x, box, "t").tolist(),
                         [[1000, 1001, 1002], [1100, 1101, 1102]])
        self.assertEqual(_values.evaluate(lambda x, y: 7, box, "t").tolist(), [[7] * 3] * 2)
        self.assertEqual(_values.evaluate(lambda x, y: np.zeros_like(x), box, "t").shape, (2, 3))
        self.assertEqual(_values.evaluate(lambda x, y, z: z, [(0, 2), (0, 3), (4, 8)], "t").shape, (4, 3, 2))
        with self.assertRaisesRegex(ValueError, "numpy.where"):
            _values.evaluate(lambda x, y: 1 if x > 1 else 0, box, "t")
        with self.assertRaisesRegex(ValueError, r"shape \(5,\); the cells need \(2, 3\)"):
            _values.evaluate(lambda x, y: np.zeros(5), box, "t")

    def test_arrays(self):
        array = np.arange(6.0).reshape(2, 3)
        self.assertIs(_values.numbers(array, "t", (2, 3)), array)
        with self.assertRaisesRegex(ValueError, r"'t' has shape \(3, 2\); the cells need \(2, 3\); its transpose.*\[y, x\]"):
            _values.numbers(array.T, "t", (2, 3))
        with self.assertRaisesRegex(TypeError, "complex"):
            _values.numbers(array + 1j, "t", (2, 3))
        with self.assertRaisesRegex(TypeError, "<U1"):
            _values.numbers([["a", "b", "c"]] * 2, "t", (2, 3))
        swapped = array.astype(array.dtype.newbyteorder())
        self.assertEqual(_values.numbers(swapped, "t", (2, 3)).tolist(), array.tolist())

    def test_read_only_arrays(self):
        array = _values.read_only(np.arange(6.0).reshape(2, 3))
        with self.assertRaisesRegex(ValueError, r"sim\[name\] = array"):
            array[0, 0] = 1
        with self.assertRaisesRegex(ValueError, r"sim\[name\] = array"):
            array[1][:] = 1
        self.assertIs(type(array + 1), np.ndarray)
        self.assertIsInstance(array.sum(), float)
        mine = array.copy()
        mine[0, 0] = 5
        self.assertEqual(array[0, 0], 0)
        before = array
        array += 1
        self.assertEqual((array[0, 0], before[0, 0]), (1, 0))


if __name__ == "__main__":
    unittest.main()
