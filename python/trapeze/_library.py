"""libtrapeze: where it is, its functions (trapeze/trapeze.h), and sessions, in which they are called."""
import _thread
import ctypes
import json
import os
import sys
import threading
import warnings
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p

import numpy as np

from ._errors import Error, LibraryMissing, make

VERSION = "0.2.0"
STATUS = ("ok", "usage", "memory", "io", "format", "shape", "type", "range", "unknown", "unstable", "diverged", "plugin",
          "backend", "script", "expect", "interrupted", "unsupported")


class ErrorRecord(ctypes.Structure):
    _fields_ = [("code", c_int), ("place", c_char * 512), ("message", c_char * 1536)]


class Memory(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_char_p), ("dims", c_int32), ("device", c_int32), ("shape", c_int64 * 3),
                ("strides", c_int64 * 3)]


class Cells(ctypes.Structure):
    _fields_ = [("memory", Memory), ("origin", c_double), ("scale", c_double), ("generation", c_uint64)]


class Turn(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("done", c_int64), ("total", c_int64), ("step", c_int64), ("seconds", c_double)]


class Facts(ctypes.Structure):
    _fields_ = [("step", c_int64), ("time", c_double), ("seconds", c_double), ("grid", c_int64 * 3), ("cells", c_int64),
                ("bytes", c_int64), ("dims", c_int32), ("threads", c_int32), ("height", c_int32), ("backend", c_char * 16),
                ("precision", c_char * 8), ("name", c_char * 64), ("plugin", c_char * 64)]


MESSAGE = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
TURN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Turn))


class Options(ctypes.Structure):
    _fields_ = [("struct_size", c_uint64), ("plugins", POINTER(c_char_p)), ("plugins_count", c_uint64), ("user", c_void_p),
                ("message", MESSAGE), ("turn", TURN)]


# Arguments of the functions of the header but for the last one, the error. The test of the header compares the names.
TEXT, HANDLE, OUT_TEXT = c_char_p, c_void_p, POINTER(c_char_p)
FUNCTIONS = {
    "tz_session_create": (POINTER(c_void_p), POINTER(Options)),
    "tz_session_call": (HANDLE, TEXT, TEXT, OUT_TEXT),
    "tz_session_define": (HANDLE, TEXT, OUT_TEXT),
    "tz_session_describe": (HANDLE, TEXT, OUT_TEXT),
    "tz_session_predict": (HANDLE, TEXT, OUT_TEXT),
    "tz_session_tune": (HANDLE, TEXT, OUT_TEXT),
    "tz_session_give": (HANDLE, TEXT, POINTER(Memory)),
    "tz_session_scenario": (HANDLE, TEXT, TEXT, OUT_TEXT),
    "tz_object_call": (HANDLE, c_int64, TEXT, TEXT, OUT_TEXT),
    "tz_object_array": (HANDLE, c_int64, POINTER(Memory)),
    "tz_sim_create": (POINTER(c_void_p), HANDLE, TEXT),
    "tz_sim_call": (HANDLE, TEXT, TEXT, OUT_TEXT),
    "tz_sim_set": (HANDLE, TEXT, POINTER(c_int64), POINTER(Memory)),
    "tz_sim_get": (HANDLE, TEXT, POINTER(c_int64), POINTER(Memory)),
    "tz_sim_layout": (HANDLE, TEXT, POINTER(Memory)),
    "tz_sim_view": (HANDLE, TEXT, c_int, POINTER(Cells)),
    "tz_sim_run": (HANDLE, TEXT, OUT_TEXT),
    "tz_sim_jump": (HANDLE, TEXT, OUT_TEXT),
    "tz_sim_steady": (HANDLE, TEXT, OUT_TEXT),
    "tz_sim_receivers": (HANDLE, TEXT, POINTER(c_int64)),
    "tz_sim_sources": (HANDLE, TEXT),
    "tz_sim_checkpoint": (HANDLE, TEXT),
    "tz_sim_resume": (HANDLE, TEXT),
}
# Those that cannot fail: result and arguments.
PLAIN = {
    "tz_version": (c_char_p,),
    "tz_session_destroy": (None, HANDLE),
    "tz_session_cancel": (None, HANDLE),
    "tz_session_set_turn": (None, HANDLE, TURN),
    "tz_object_release": (None, HANDLE, c_int64),
    "tz_sim_destroy": (None, HANDLE),
    "tz_sim_view_done": (None, c_void_p),
    "tz_sim_get_facts": (None, HANDLE, POINTER(Facts)),
}


NAMES = ("libtrapeze.so.0", "libtrapeze.so")


def _places():
    """Where the library may be, the best place first."""
    if "TRAPEZE_LIBRARY" in os.environ:
        return [os.environ["TRAPEZE_LIBRARY"]]
    here = os.path.dirname(os.path.abspath(__file__))
    folders, folder = [here], here  # a wheel may have it
    while folder != os.path.dirname(folder):  # PREFIX/lib/python3/dist-packages/trapeze: PREFIX/lib
        folder = os.path.dirname(folder)
        if os.path.basename(folder) == "lib":
            folders.append(folder)
    places = [os.path.join(folder, name) for folder in folders for name in NAMES]
    return [place for place in places if os.path.exists(place)] + list(NAMES)  # the last: where the loader looks


_lock = threading.Lock()
_loaded = None


def load():
    """The library, which is opened when it is first needed."""
    global _loaded
    if _loaded is None:
        with _lock:
            _loaded = _loaded or _open()
    return _loaded


def _open():
    said = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
            break
        except OSError as error:
            said.append(str(error))
    else:
        raise LibraryMissing("libtrapeze.so is not found: install the package trapeze, or set TRAPEZE_LIBRARY to its path "
                             "(%s)" % "; ".join(said))
    for name, types in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = c_int, types + (POINTER(ErrorRecord),)
    for name, types in PLAIN.items():
        function = getattr(library, name)
        function.restype, function.argtypes = types[0], types[1:]
    version = library.tz_version().decode()
    if version != VERSION:
        raise LibraryMissing("this package is of Trapeze %s, and %s of %s: install both of one version" %
                             (VERSION, place, version))
    return library


def numbers_of(memory):
    """The array of numpy over a Memory of the host, [z, y, x]; the memory must outlive it."""
    dims = memory.dims
    shape, strides = tuple(memory.shape[:dims])[::-1], tuple(memory.strides[:dims])[::-1]
    interface = {"shape": shape, "typestr": np.dtype(memory.dtype.decode()).str, "data": (memory.data, True), "version": 3}
    if any(strides):
        interface["strides"] = strides
    holder = Holder()
    holder.__array_interface__ = interface
    return np.asarray(holder), holder


class Holder:
    """What an array of numpy keeps alive while it looks at memory of the library."""


def memory_of(array):
    """A Memory that describes an array of numpy, and keeps it."""
    if array.size > 1 and not any(array.strides):  # one number in all cells; the library reads strides of 0 as no gaps
        array = array.copy()
    memory = Memory(array.ctypes.data, array.dtype.str[1:].encode(), array.ndim, -1)
    for axis in range(array.ndim):
        memory.shape[axis], memory.strides[axis] = array.shape[-1 - axis], array.strides[-1 - axis]
    memory.array = array
    return memory


class Session:
    """A session of the library. One thread uses it at a time; others wait."""

    def __init__(self, plugins=()):
        self.library = load()
        self.plugins, self.process = tuple(plugins), os.getpid()
        self.lock = threading.RLock()
        self.error = ErrorRecord()
        self.raised = self.turn = self.message = None
        self.said = []  # warnings that nobody else takes
        self.defined = {}
        # Callbacks are kept for the life of the session.
        self._message, self._turn, self._no_turn = MESSAGE(self._on_message), TURN(self._on_turn), TURN()
        paths = (c_char_p * max(1, len(plugins)))(*[os.fsencode(path) for path in plugins])
        options = Options(ctypes.sizeof(Options), paths, len(plugins), None, self._message, self._no_turn)
        self.handle = c_void_p()
        self.call("tz_session_create", byref(self.handle), byref(options))

    def _on_message(self, user, level, text):
        try:
            text = text.decode(errors="replace")
            if self.message:
                self.message(text, level)
            elif level:
                self.said.append(text)
        except BaseException as error:  # which cannot pass the library's C: it is raised after the call
            self.raised = error

    def _on_turn(self, user, turn):
        # Never in the main thread: a KeyboardInterrupt at the first instruction of a callback would be lost.
        try:
            turn = turn.contents
            self.turn(turn.done, turn.total if turn.total >= 0 else None)
        except BaseException as error:
            self.raised = error
        return self.raised is not None

    def check(self):
        """Before `with session.lock`, which waits until no other thread uses it; no interrupt leaves that lock closed."""
        if self.process != os.getpid():  # threads of the library are not in the child
            raise Error("this simulation belongs to the process that made it, of which this one is a fork: make one here")
        if self.lock._is_owned():
            raise Error("this is called by a function that the simulation calls while it computes (progress, messages): "
                        "it cannot be used there; sim.run(every=, call=) calls functions between stages")

    def call(self, name, *arguments, sim=None, change=False, turn=None, give=None):
        """Calls a function of FUNCTIONS. With `sim` its handle is the first argument; `change`: not while a view of it is in
        use. Returns give() if there is one, which is called before another thread can use the session."""
        self.check()
        with self.lock:
            if sim is not None:
                arguments = (sim._open(change),) + arguments
            try:
                if turn:
                    self.turn = turn
                    self.library.tz_session_set_turn(self.handle, self._turn)
                self._checked(name, arguments)
                return give() if give else None
            finally:
                if turn:
                    self.library.tz_session_set_turn(self.handle, self._no_turn)

    def warn(self):
        """Warnings of the last call, at the line that called the package."""
        said, self.said = self.said, []
        for text in said:
            level, frame = 1, sys._getframe(0)
            while frame.f_back and frame.f_globals.get("__package__") == __package__:
                level, frame = level + 1, frame.f_back
            warnings.warn(text, stacklevel=level)

    def ask(self, name, *arguments, **options):
        """The same for functions that give JSON: returns what that says."""
        text = c_char_p()
        return self.call(name, *arguments, byref(text), give=lambda: self._decode(text.value), **options)

    def ask_long(self, name, *arguments, **options):
        """The same in a thread of its own, so that KeyboardInterrupt ends it at any time."""
        if threading.current_thread() is not threading.main_thread():
            return self.ask(name, *arguments, **options)
        out, first, done = {}, [], _thread.allocate_lock()
        done.acquire()

        def work():
            first.append("work")
            if first[0] != "work":  # it was interrupted before it began
                return
            try:
                out["value"] = self.ask(name, *arguments, **options)
            except BaseException as error:
                out["error"] = error
            done.release()
        try:  # threading's own threads and events are no safe place for an interrupt
            _thread.start_new_thread(work, ())
            while not done.acquire(timeout=0.2):  # a signal that comes just before it does not end a wait
                pass
        except BaseException:
            first.append("end")
            while first[0] == "work" and not out:
                self.library.tz_session_cancel(self.handle)
                done.acquire(timeout=0.1)
            raise
        if "error" in out:
            raise out["error"]
        return out["value"]

    def _checked(self, name, arguments):
        status = getattr(self.library, name)(*arguments, byref(self.error))
        if self.raised is not None:
            raised, self.raised = self.raised, None
            raise raised
        if status:
            place, message = (text.decode(errors="replace") for text in (self.error.place, self.error.message))
            raise make(STATUS[status] if status < len(STATUS) else str(status), "%s: %s" % (place, message) if place else message)

    def _decode(self, text):
        """JSON as Python has it. Arrays of the library become arrays of numpy."""
        if text is None:
            return None
        value = json.loads(text)
        return self._objects(value) if b'"tz.object"' in text or b'"nan"' in text or b'inf"' in text else value

    def _objects(self, value):
        if isinstance(value, list):
            return [self._objects(v) for v in value]
        if value in ("nan", "inf", "-inf"):
            return float(value)
        if not isinstance(value, dict):
            return value
        if "tz.object" not in value:
            return {key: self._objects(v) for key, v in value.items()}
        memory, number = Memory(), value["tz.object"]
        if self.library.tz_object_array(self.handle, number, byref(memory), byref(self.error)):
            return value
        array = numbers_of(memory)[0].copy()
        self.library.tz_object_release(self.handle, number)
        return array

    def define(self, definition):
        """The id of a stencil from its definition, JSON."""
        if definition not in self.defined:
            text = c_char_p()
            self.defined[definition] = self.call("tz_session_define", self.handle, definition, byref(text),
                                                 give=lambda: text.value.decode())
        return self.defined[definition]

    def destroy(self):
        if self.handle:
            self.library.tz_session_destroy(self.handle)
            self.handle = None


# Sessions that no simulation uses, to be used again: folders of plugins -> sessions. Lists alone, whose methods are atomic:
# a simulation may be collected, which closes it, at any time.
_idle = {}
MOST_IDLE, MOST_DEFINED = 8, 32
os.register_at_fork(after_in_child=_idle.clear)  # as Session.check() says


def open_session(plugins=()):
    try:
        session = _idle.setdefault(tuple(plugins), []).pop()
    except IndexError:
        session = None
    return session or Session(plugins)


def close_session(session):
    session.message, session.said = None, []
    idle = _idle.setdefault(session.plugins, [])
    if len(idle) < MOST_IDLE and len(session.defined) < MOST_DEFINED:
        idle.append(session)
    else:
        session.destroy()
