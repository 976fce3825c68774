"""Writes trapeze/_manual.py and trapeze/__init__.pyi: docstrings, keys of options and types, of the same tables as
docs/scenario.md, which is what `trapeze manual` prints.

    python3 manual.py [--check] [PAGE]      --check: writes nothing; 1 if a file would change
"""
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "docs", "scenario.md")

# What Python calls a function of scenarios. What is not here, and why, is in tests/coverage.txt.
NAMES = {
    "Stencil": "tz.stencil", "Stencil.text": "stencil:text", "Simulation": "tz.simulation", "predict": "tz.predict",
    "tune": "tz.tune", "Simulation.array": "sim:array", "Simulation.set": "sim:set", "Simulation.min": "sim:min",
    "Simulation.max": "sim:max", "Simulation.sum": "sim:sum", "Simulation.mean": "sim:mean",
    "Simulation.population": "sim:population", "Simulation.hash": "sim:hash", "Simulation.residual": "sim:residual",
    "Simulation.plan": "sim:plan", "Simulation.kernel": "sim:kernel", "Simulation.steady": "sim:steady",
    "Simulation.rewind": "sim:rewind", "Simulation.analyse": "sim:analyse", "Simulation.run": "sim:run",
    "Simulation.jump": "sim:jump", "Simulation.scalar": "sim:scalar", "Simulation.policy": "sim:policy",
    "Simulation.receivers": "sim:receivers", "Simulation.sources": "sim:sources", "Simulation.close": "sim:close",
    "Simulation.time": "sim:time", "Simulation.params": "sim:params", "random": "tz.random",
    "read": "tz.read", "floorplan": "tz.floorplan", "circle": "tz.circle", "box": "tz.box", "polygon": "tz.polygon",
    "union": "tz.union", "intersection": "tz.intersection", "difference": "tz.difference",
    "Simulation.profile": "sim:profile", "Simulation.units": "sim:units", "Simulation.slabs": "sim:slabs",
    "Simulation.histogram": "sim:histogram", "Simulation.picture": "tz.picture",
    "Receivers.array": "receivers:array",
}

# Types of the tables, as those of Python. Limits behind a comma are left out.
TYPES = {
    "text": "str", "number": "float", "integer": "int", "boolean": "bool", "formula": "str | float",
    "number or text": "float | str", "integer or text": "int | str", "text or table": "str | Table",
    "table": "Table | Sequence[Any] | str", "list": "Sequence[Any]", "list of texts": "Sequence[str]", "list of numbers": "Sequence[float]",
    "list of tables": "Sequence[Table]", "list or text": "Sequence[Any] | str", "file": "str",
    "formula or table": "str | float | Table", "number, text or table": "float | str | Table",
    "{nx[, ny[, nz]]}": "int | Sequence[int]", "{low, high}": "Sequence[float]", "shape": "FieldValue",
    "text or function(s)": "str", "array or table": "Any", "array, table or text": "Any",
    "{bx[, by[, bz]]}": "int | Sequence[int]", "{x[, y[, z]]}": "float | Sequence[float]",
}


def read(path):
    """The functions of the page: name -> {signature, doc, options, inner, result}; lists are of cells.
    Keys that several functions have are in sections of their own: a line with `…` names one, or a line "Options: "."""
    functions, function, rows = {}, None, None
    with open(path, encoding="utf-8") as page:
        for line in page.read().splitlines():
            heading = re.match(r"### `(([a-z]+)[.:]([a-z_0-9]+))\(", line)
            if heading:
                function = functions[heading[1]] = dict(signature=line[5:-1], doc="", options=[], inner={}, result=[])
                rows = function["options"]
            elif line.startswith("## "):
                function = functions["#" + line[3:].lower().replace(" ", "-")] = dict(doc="", options=[], inner={}, result=[])
                rows = function["options"]
            elif function is None or not line:
                continue
            elif line.startswith("- ") and rows is not None:
                row = re.match(r"- `(\w+)` \((.*?)(?:; (required)|; default (.*?))?\)(?:: (.*))?$", line)
                if not row:
                    rows.append(["…", "", "", line])
                elif rows is function["result"]:
                    rows.append([row[1], row[2], row[5] or ""])
                else:
                    rows.append([row[1], row[2], row[3] or row[4] or "", row[5] or ""])
            elif line.startswith("A table in `"):
                rows = function["inner"].setdefault(line.split("`")[1], [])
            elif line.startswith("Options: "):
                function["options"].append(["…", "", "", re.search(r"\((#[^)]*)\)|`([^`]*)`", line)[0].strip("()`")])
            elif line == "Returns a table:":
                rows = function["result"]
            else:
                function["doc"] += line + "\n"
    for function in functions.values():
        expand(functions, function)
    functions = {name: function for name, function in functions.items() if name[0] != "#"}
    if len(functions) < 50 or not functions["tz.simulation"]["options"]:
        sys.exit("manual.py: %s is not the page that `trapeze manual` prints" % path)
    return functions


def expand(functions, function):
    """Puts the rows of shared sections in place of the rows that name them."""
    rows, inner = [], {}
    for row in function["options"]:
        if row[0] != "…":
            rows.append(row)
            continue
        part = functions[re.search(r"[^(]*$", row[-1])[0].rstrip(")")]
        expand(functions, part)
        rows += part["options"]
        inner.update(part["inner"])
    function["options"] = rows
    function["inner"] = dict(inner, **function["inner"])


def plain(text):
    """Markdown as the text of a docstring: names as Python has them."""
    text = re.sub(r"\[([^\]]*)\]\(([^)]*)\)", r"\1 (docs/\2)", text)
    return re.sub(r"\bsim:([a-z]+)", r"sim.\1", text).replace("`", "").replace("\\*", "*")


def docstring(function):
    """The doc of a function with its options and result."""
    lines = textwrap.wrap(plain(function["doc"]), 100)

    def put(title, rows, options):
        lines.extend(["", title])
        for row in rows:
            kind = row[1] if not options or row[2] in ("", "required") else "%s, by default %s" % (row[1], row[2])
            head = "%s: %s%s" % (row[0], plain(kind), ", required" if options and row[2] == "required" else "")
            lines.extend(textwrap.wrap("%s. %s" % (head, plain(row[-1])) if row[-1] else head, 100,
                                       initial_indent="    ", subsequent_indent="        "))

    if function["options"]:
        put("Options:", function["options"], True)
    for key, rows in function["inner"].items():
        put("A dict in %s:" % key, rows, True)
    if function["result"]:
        put("Returns a dict:", function["result"], False)
    return "\n".join(lines)


def annotation(kind):
    kind = re.sub(r", (from|-?[0-9.e]+ to) .*", "", kind)
    return TYPES.get(kind, "Any")


def keywords(functions, name, skip=()):
    """The options of a function as keyword arguments of a stub."""
    return "".join("        %s: %s = ...,\n" % (row[0], annotation(row[1])) for row in functions[name]["options"]
                   if row[0] not in skip)


def manual_file(functions):
    out = ['"""Docstrings and keys of options. Written by python/manual.py from docs/scenario.md."""', "DOCS = {"]
    for python, lua in sorted(NAMES.items()):
        text = docstring(functions[lua]).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        out.append('    "%s": """%s""",' % (python, text + ("\\\n" if text.endswith('"') else "")))
    out.append("}\nKEYS = {")
    for python, lua in sorted(NAMES.items()):
        keys = [row[0] for row in functions[lua]["options"]]
        if keys:
            out.append(textwrap.fill('    "%s": (%s,),' % (python, ", ".join('"%s"' % key for key in keys)), 118,
                                     subsequent_indent="        "))
    out.append("}")
    return "\n".join(out) + "\n"


def stub_file(functions):
    """The template with each {{NAME -KEY…}} replaced by keyword arguments."""
    with open(os.path.join(HERE, "stub.txt"), encoding="utf-8") as template:
        return re.sub(r" *\{\{(\S+)((?: -\w+)*)\}\}\n",
                      lambda m: keywords(functions, NAMES[m[1]], m[2].replace("-", "").split()), template.read())


def main(arguments):
    check = "--check" in arguments
    pages = [a for a in arguments if a != "--check"]
    functions = read(pages[0] if pages else PAGE)
    changed = 0
    for name, text in (("_manual.py", manual_file(functions)), ("__init__.pyi", stub_file(functions))):
        path = os.path.join(HERE, "trapeze", name)
        old = None
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                old = file.read()
        if text != old and check:
            print("python/trapeze/%s is not what the tables say: python3 python/manual.py writes it anew" % name)
            changed = 1
        elif text != old:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
    return changed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
