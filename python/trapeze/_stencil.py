"""Stencils, and questions about them."""
import os

from . import _library
from ._errors import ArgumentError, FileFailed, KindError
from ._manual import DOCS, KEYS
from ._values import Made, to_json


def documented(name):
    """Puts what the manual says of the function behind the docstring."""
    def put(function):
        own = [line.strip() for line in (function.__doc__ or "").strip().splitlines()]
        function.__doc__ = "\n".join(own + [""] * bool(own)) + DOCS[name]
        return function
    return put


def nearest(name, names):
    """"; did you mean 'rate'?", or which names there are."""
    import difflib  # takes milliseconds

    names = sorted(names)
    near = difflib.get_close_matches(str(name), names, 1)
    if near:
        return "; did you mean '%s'?" % near[0]
    return "; there are %s" % ", ".join(names) if names else ""


def check_keys(name, options):
    """An error if a key is not one of the function's."""
    for key in options:
        if key not in KEYS[name]:
            method = "Simulation.%s" % key
            hint = "; it is a method: sim.%s()" % key if method in KEYS else nearest(key, KEYS[name])
            raise KindError("%s() has no option '%s'%s" % (name, key, hint), "unknown")


class Stencil:
    """A stencil of formulas:

        heat = tz.Stencil(dims=2, fields=["t"], params=dict(rate=0.2), update=dict(t="t + rate*lap(t)"))

    Tables of scenarios are dicts, their lists are lists. It has `id`, `doc`, `dims`, and `fields` and `params`, dicts of
    what is known of each by its name.
    """

    def __init__(self, *wrong, **definition):
        if wrong:
            raise KindError("a stencil is defined by named options: tz.Stencil(dims=2, …), or tz.Stencil(**definition) of a dict; "
                            "tz.Simulation('hotspot', …) takes the name of a plugin's stencil")
        check_keys("Stencil", definition)
        if not definition:
            raise ArgumentError("a stencil needs an update: tz.Stencil(dims=2, fields=['t'], update=dict(t='t + 0.2*lap(t)'))")
        self.definition = to_json(definition)
        session = _library.open_session()
        try:
            facts = describe(session, session.define(self.definition))
            session.warn()
        finally:
            _library.close_session(session)
        self.id, self.doc, self.dims = facts["id"], facts["doc"], facts["dims"]
        self.fields = {field["name"]: field for field in facts["fields"]}
        self.params = {param["name"]: param for param in facts["parameters"]}

    def text(self):
        """Of this stencil:"""
        session = _library.open_session()
        try:
            made = session.ask("tz_session_call", session.handle, b"tz.stencil", self.definition)
            text = session.ask("tz_object_call", session.handle, made["tz.object"], b"text", None)
            session.library.tz_object_release(session.handle, made["tz.object"])
            return text
        finally:
            _library.close_session(session)

    def __repr__(self):
        return "<trapeze.Stencil %s: %d-D, fields %s, params %s>" % (
            self.id, self.dims, ", ".join(self.fields), ", ".join(self.params) or "none")


Stencil.__doc__ += "\n" + DOCS["Stencil"]
documented("Stencil.text")(Stencil.text)


def describe(session, id):
    return session.ask("tz_session_describe", session.handle, id.encode())


def check_callable(**functions):
    """An error if one is neither None nor a function."""
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise KindError("%s must be a function, not %s" % (name, type(function).__name__), "type")


def split_plugin(plugin, plugins=()):
    """(name or None, definition or None, folders of plugins) of what Simulation and predict take."""
    if isinstance(plugin, Stencil):
        return None, plugin.definition, tuple(plugins)
    if not isinstance(plugin, str):
        raise KindError("the stencil must be a Stencil, a name such as 'hotspot', or the path of a plugin, not %s" %
                        type(plugin).__name__, "type")
    if plugin.endswith(".so"):
        if not os.path.exists(plugin):
            raise FileFailed("there is no plugin %s" % plugin, "io")
        return plugin.rsplit("/", 1)[-1][:-3], None, (plugin,) + tuple(plugins)
    return plugin, None, tuple(plugins)


def stencils(plugins=()):
    """What is known of all stencils of plugins, a dict of dicts by their names; `plugins` are further folders, or plugins."""
    session = _library.open_session(plugins)
    try:
        own = session.defined.values()
        return {about["id"]: about for about in session.ask("tz_session_describe", session.handle, None)
                if about["id"] not in own}
    finally:
        _library.close_session(session)


def _question(name, function, plugin, plugins, progress, options):
    check_keys(name, options)
    check_callable(progress=progress)
    id, definition, plugins = split_plugin(plugin, plugins)
    session = _library.open_session(plugins)
    try:
        options["plugin"] = id or session.define(definition)
        answer = session.ask_long(function, session.handle, to_json(options), turn=progress)
        session.warn()
        return answer
    finally:
        _library.close_session(session)


@documented("predict")
def predict(plugin, *, plugins=(), progress=None, **options):
    """Asks what plans of a problem would take: tz.predict("hotspot", grid=(4096, 4096), backend="cpu")["best"]."""
    return _question("predict", "tz_session_predict", plugin, plugins, progress, options)


@documented("tune")
def tune(plugin, *, plugins=(), progress=None, **options):
    """Measures plans of a problem: tz.tune("hotspot", grid=(4096, 4096))["best"]."""
    return _question("tune", "tz_session_tune", plugin, plugins, progress, options)


def _made(name, positional):
    def make(*arguments, **options):
        if positional:
            return Made("tz." + name, list(arguments) + ([options] if options else []))
        if arguments:
            raise KindError("%s() takes options by name alone" % name, "type")
        check_keys(name, options)
        return Made("tz." + name, options)
    make.__name__ = make.__qualname__ = name
    return documented(name)(make)


random, circle, box, floorplan = (_made(name, False) for name in ("random", "circle", "box", "floorplan"))
polygon, union, intersection, difference, read = (
    _made(name, True) for name in ("polygon", "union", "intersection", "difference", "read"))
