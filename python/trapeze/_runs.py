"""Scenarios: runs of Lua scripts, and what they write."""
import json
import os
import re
from collections.abc import Mapping

import numpy as np

from . import _library
from ._errors import ArgumentError, FileFailed, NameUnknown
from ._stencil import check_callable, nearest
from ._values import to_json


class Run(Mapping):
    """The folder of a run.

    run["temperature"] is the last array of that name, run.arrays["temperature"] a dict of all, by their steps;
    run.tables["table"] a table as a structured array, run.tables["table"]["step"] its column; `json` what run.json says,
    `folder` the path, `printed` what the script printed, `files` all names. Files are read when they are asked for.
    """

    def __init__(self, folder, printed=""):
        self.folder, self.printed = os.fspath(folder), printed
        try:
            with open(os.path.join(self.folder, "run.json"), encoding="utf-8") as file:
                self.json = json.load(file)
        except OSError as error:
            raise FileFailed("%s is not the folder of a run: %s" % (folder, error), "io") from None
        self.files = sorted(os.listdir(self.folder))
        steps = {}
        for name in self.files:
            match = re.fullmatch(r"(.+)-(\d{6,})\.npy", name)
            if match:
                steps.setdefault(match[1], {})[int(match[2])] = name
            elif name.endswith(".npy"):
                steps.setdefault(name[:-4], {})[None] = name
        self.arrays = {name: _Files(self.folder, files, np.load) for name, files in steps.items()}
        self.tables = _Files(self.folder, {name[:-4]: name for name in self.files if name.endswith(".csv")}, _table)

    @property
    def status(self):
        return self.json["status"]

    def __getitem__(self, name):
        if name not in self.arrays:
            raise NameUnknown("the run has no array '%s'%s" % (name, nearest(name, self.arrays)), "unknown")
        files = self.arrays[name]
        return files[max(files, key=lambda step: -1 if step is None else step)]

    def __iter__(self):
        return iter(self.arrays)

    def __len__(self):
        return len(self.arrays)

    def __repr__(self):
        return "<trapeze.Run %s: %s, arrays %s, tables %s>" % (
            self.folder, self.status, ", ".join(self.arrays) or "none", ", ".join(self.tables) or "none")


class _Files(Mapping):
    """Files by a name or a step, read when they are asked for."""

    def __init__(self, folder, names, read):
        self._folder, self._names, self._read = folder, names, read

    def __getitem__(self, key):
        if key not in self._names:
            raise NameUnknown("there is no '%s'%s" % (key, nearest(key, [str(k) for k in self._names])), "unknown")
        return self._read(os.path.join(self._folder, self._names[key]))

    def __iter__(self):
        return iter(sorted(self._names, key=str))

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return "{%s}" % ", ".join(map(repr, self))


def _table(path):
    """A CSV file with titles as a structured array: columns of numbers, or of texts."""
    import csv
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    titles, columns = rows[0], list(zip(*rows[1:])) or [()] * len(rows[0])
    arrays = []
    for column in columns:
        for kind in (np.int64, np.float64, str):
            try:
                arrays.append(np.array([v if v or kind is not np.float64 else "nan" for v in column], dtype=kind))
                break
            except ValueError:
                continue
    out = np.empty(len(rows) - 1, dtype=[(title, array.dtype) for title, array in zip(titles, arrays)])
    for title, array in zip(titles, arrays):
        out[title] = array
    return out


OPTIONS = ("backend", "check", "checkpoint", "device", "devices", "from_run", "height", "policy", "report", "threads", "unsafe")


def run(scenario, args=None, *, out=None, messages=None, progress=None, plugins=(), **options):
    """Runs a scenario, as `trapeze run` does: tz.run("chip.lua", dict(size=512)), with `--set size=512`. Returns the Run.

    `out` is the run's folder, new or empty (default: runs/SCRIPT-NNN). Further options, as `trapeze run --help` has them:
    backend, check, checkpoint ("10min" or seconds), device, devices, from_run (a folder), height, policy, report, threads and
    unsafe. `messages`, a function(text, level), gets lines of the log; `progress`, a function(done, total), is called up to 20
    times a second. KeyboardInterrupt ends the run; one with `checkpoint` goes on with resume().
    """
    return _run(scenario, dict(options, set=dict(args or {}), out=out), messages, progress, plugins)


def resume(folder, *, messages=None, progress=None, plugins=(), **options):
    """Goes on with a run of run() from its last checkpoint, as `trapeze resume` does: tz.resume("runs/chip-001"). Its files
    become those of a run that was never stopped. Options are those of run(), whatever they were before: bits do not depend on
    them. Relative paths are those of the folder in which the run was begun: be there."""
    record = Run(folder).json
    return _run(record["scenario"], dict(options, set=record["args"], resume=os.path.abspath(folder)), messages, progress, plugins)


def _run(scenario, options, messages, progress, plugins):
    for key in options:
        if key not in OPTIONS + ("set", "out", "resume"):
            raise ArgumentError("run() has no option '%s'%s; arguments of the scenario are a dict: run(path, {'%s': value})" % (
                key, nearest(key, OPTIONS), key), "unknown")
    check_callable(messages=messages, progress=progress)
    options = {{"from_run": "from"}.get(key, key): value for key, value in options.items()}
    session = _library.open_session(plugins)
    try:
        session.message = messages
        result = session.ask_long("tz_session_scenario", session.handle, os.fsencode(scenario), to_json(options),
                                  turn=progress)
        session.warn()
        return Run(result["folder"], result.get("printed", ""))
    finally:
        _library.close_session(session)
