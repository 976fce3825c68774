"""The package beside the tables of scenarios and the header: nothing is missing without a reason. Needs no library."""
import ast
import inspect
import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
ROOT = os.path.join(HERE, "..", "..")

import manual
import trapeze
from trapeze import _library, _manual, _runs

HEADER = os.path.join(ROOT, "core", "include", "trapeze", "trapeze.h")


def excused():
    with open(os.path.join(HERE, "coverage.txt"), encoding="utf-8") as file:
        rows = [line.split(None, 1) for line in file if line.strip() and not line.startswith("#")]
    assert all(len(row) == 2 for row in rows), "a line without a reason"
    return {row[0] for row in rows}


class Tables(unittest.TestCase):
    def test_generated_files_are_what_the_tables_say(self):
        self.assertEqual(manual.main(["--check"]), 0, "python3 python/manual.py")

    def test_every_function_of_scenarios_is_there_or_excused(self):
        functions, here = set(manual.read(manual.PAGE)), set(manual.NAMES.values())
        excuses = {name for name in excused() if not name.startswith("tz_")}
        self.assertEqual(functions - here - excuses, set(), "neither in Python nor in coverage.txt")
        self.assertEqual(excuses & here, set(), "in Python, and excused")
        self.assertEqual((excuses | here) - functions, set(), "no function of scenarios")

    def test_every_function_of_the_header_is_bound_or_excused(self):
        with open(HEADER, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        declared = {}
        for match in re.finditer(r"TZ_PUBLIC [^;]*?\b(tz_[a-z_]+)\(([^;]*)\);", text):
            declared[match[1]] = [] if match[2].strip() == "void" else re.sub(r"\([^()]*\)", "", match[2]).split(",")
        self.assertGreater(len(declared), 20)
        bound = dict(_library.FUNCTIONS, **_library.PLAIN)
        excuses = {name for name in excused() if name.startswith("tz_")}
        self.assertEqual(set(declared) - set(bound) - excuses, set(), "neither bound nor in coverage.txt")
        self.assertEqual(excuses & set(bound), set(), "bound, and excused")
        self.assertEqual((excuses | set(bound)) - set(declared), set(), "not in the header")
        for name, types in _library.FUNCTIONS.items():
            self.assertEqual(len(types) + 1, len(declared[name]), name)
            self.assertIn("tz_error *error", declared[name][-1], name)
        for name, types in _library.PLAIN.items():
            self.assertEqual(len(types) - 1, len(declared[name]), name)

    def test_structures_have_the_members_of_the_header(self):
        texts = []
        for name in ("trapeze.h", "status.h"):
            with open(os.path.join(os.path.dirname(HEADER), name), encoding="utf-8") as file:
                texts.append(re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S))
        structures = dict((m[2], m[1]) for m in re.finditer(r"typedef struct \w+ \{(.*?)\} (\w+);", "".join(texts), re.S))
        for name, structure in (("tz_error", _library.ErrorRecord), ("tz_memory", _library.Memory), ("tz_sim_cells", _library.Cells),
                                ("tz_turn", _library.Turn), ("tz_sim_facts", _library.Facts),
                                ("tz_session_options", _library.Options)):
            members = []
            for declaration in structures[name].split(";"):
                declaration = re.sub(r"\(\*(\w+)\)\(.*\)", r" \1", declaration, flags=re.S).strip()
                if declaration:
                    members += [re.search(r"(\w+)(\[\d+\])?$", part.strip())[1] for part in declaration.split(",")]
            self.assertEqual(members, [field[0] for field in structure._fields_], name)
        enum = re.search(r"typedef enum tz_status \{(.*?)\} tz_status;", "".join(texts), re.S)[1]
        self.assertEqual([word.strip()[3:].lower() for word in enum.split(",")],
                         ["ok"] + list(_library.STATUS[1:]))

    def test_stub_is_what_the_code_has(self):
        with open(os.path.join(HERE, "..", "trapeze", "__init__.pyi"), encoding="utf-8") as file:
            stub = {node.name: node for node in ast.parse(file.read()).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(set(stub) - {"Made"}, set(trapeze.__all__))
        for name, node in stub.items():
            if name == "Made":
                continue
            real = getattr(trapeze, name)
            if isinstance(node, ast.FunctionDef):
                self.compare(name, node, real)
                continue
            functions = {f.name: f for f in node.body if isinstance(f, ast.FunctionDef)}
            for method, function in functions.items():
                if method not in ("__getattr__", "__setattr__"):
                    key = name if method == "__init__" else name + "." + method
                    self.compare(key, function, getattr(real, method))
            public = {m for m in vars(real) if not m.startswith("_") and inspect.isfunction(vars(real)[m])}
            self.assertEqual(public - set(functions), set(), "public methods of %s without a stub" % name)

    def compare(self, name, stub, real):
        arguments = [a.arg for a in stub.args.posonlyargs + stub.args.args + stub.args.kwonlyargs]
        own = [p.name for p in inspect.signature(real).parameters.values() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        keys = [key for key in _manual.KEYS.get(name, ()) if key not in own] if any(
            p.kind == p.VAR_KEYWORD for p in inspect.signature(real).parameters.values()) else []
        if name == "run":
            keys = list(_runs.OPTIONS)
        if name == "read":
            own = ["path"] + own
        keys = [key for key in keys if (name, key) not in (("Simulation", "fields"), ("Simulation.picture", "data"))]
        self.assertEqual(arguments, own + keys, name)

    def test_everything_has_a_docstring(self):
        for name in trapeze.__all__:
            self.assertTrue(getattr(trapeze, name).__doc__, name)
        for method in [m for m in vars(trapeze.Simulation) if not m.startswith("_")]:
            self.assertTrue(getattr(trapeze.Simulation, method).__doc__, method)
        self.assertIn("until_residual: number", trapeze.Simulation.run.__doc__)

    def test_versions(self):
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            self.assertEqual(re.search(r"project\(trapeze VERSION (\S+)", file.read())[1], trapeze.__version__)


if __name__ == "__main__":
    unittest.main()
