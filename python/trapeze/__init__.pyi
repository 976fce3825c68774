# Written by python/manual.py from python/stub.txt and docs/scenario.md.
import os
from typing import Any, Callable, Iterator, Mapping, MutableMapping, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__version__: str
__all__: list[str]

Table = Mapping[str, Any]
Box = Mapping[str, Sequence[int]]
FieldValue = Union[float, ArrayLike, Callable[..., Any], "Made"]
Region = Union[Box, str, NDArray[Any]]
Progress = Callable[[int, Union[int, None]], Any]
Messages = Callable[[str, int], Any]

class Made: ...

class Error(Exception):
    code: str
    def __init__(self, text: str, code: str = ...) -> None: ...
class ArgumentError(Error, ValueError): ...
class KindError(Error, TypeError): ...
class NameUnknown(Error, KeyError, ValueError): ...
class OutOfMemory(Error, MemoryError): ...
class FileFailed(Error, OSError): ...
class LibraryMissing(Error, ImportError): ...

class Stencil:
    id: str
    doc: str
    dims: int
    definition: bytes
    fields: dict[str, dict[str, Any]]
    params: dict[str, dict[str, Any]]
    def __init__(
        self,
        *,
        name: str = ...,
        doc: str = ...,
        dims: int = ...,
        fields: Table | Sequence[Any] | str = ...,
        params: Table | Sequence[Any] | str = ...,
        spacing: float | str | Table = ...,
        dt: float | str = ...,
        scalars: Table | Sequence[Any] | str = ...,
        let: Table | Sequence[Any] | str = ...,
        outside: Table | Sequence[Any] | str = ...,
        domain: str = ...,
        edge: str | float | Table = ...,
        update: Table | Sequence[Any] | str = ...,
        rate: Table | Sequence[Any] | str = ...,
        method: str = ...,
        passes: Sequence[Any] = ...,
        outputs: Table | Sequence[Any] | str = ...,
        coefficients: Sequence[Any] | str = ...,
        scale: float = ...,
        field: str = ...,
        old: str = ...,
        a: str | float = ...,
        b: str | float = ...,
        v: str | float = ...,
        augment: int | str = ...,
        grid: int | Sequence[int] = ...,
        precision: str = ...,
        device: str = ...,
        group: bool = ...,
        fused: bool = ...,
        text: str = ...,
        storage: str | Table = ...,
        boundaries: Sequence[Any] = ...,
        boundary: str = ...,
    ) -> None: ...
    def text(self) -> str: ...

class Params(MutableMapping[str, Any]):
    def __init__(self, sim: Simulation) -> None: ...
    def __getitem__(self, name: str) -> Any: ...
    def __setitem__(self, name: str, value: Any) -> None: ...
    def __delitem__(self, name: str) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def __getattr__(self, name: str) -> Any: ...
    def __setattr__(self, name: str, value: Any) -> None: ...
    def update(self, *values: Any, **more: Any) -> None: ...

class Receivers:
    count: int
    rows: int
    def __init__(self, sim: Simulation, number: int) -> None: ...
    def array(self) -> NDArray[np.float64]: ...

class DeviceView:
    device: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    __cuda_array_interface__: dict[str, Any]
    def __init__(self, sim: Simulation, memory: Any, field: str) -> None: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: Union[int, None] = ...,
        max_version: Union[tuple[int, int], None] = ...,
        dl_device: Union[tuple[int, int], None] = ...,
        copy: Union[bool, None] = ...,
    ) -> Any: ...

class Simulation:
    step: int
    time: float
    seconds: float
    grid: tuple[int, ...]
    shape: tuple[int, ...]
    dims: int
    cells: int
    backend: str
    precision: str
    threads: int
    height: int
    plugin: str
    name: str
    fields: dict[str, dict[str, Any]]
    params: Params
    def __init__(
        self,
        plugin: Stencil | str,
        *,
        fields: Mapping[str, FieldValue] | None = ...,
        plugins: Sequence[str] = ...,
        messages: Messages | None = ...,
        grid: int | Sequence[int] = ...,
        precision: str = ...,
        storage: str | Table = ...,
        copies: int = ...,
        boundary: str | Table = ...,
        params: Table | Sequence[Any] | str = ...,
        scalars: Table | Sequence[Any] | str = ...,
        y: str = ...,
        domain: FieldValue = ...,
        boundary_values: Table | Sequence[Any] | str = ...,
        threads: int = ...,
        backend: str = ...,
        devices: str | Table = ...,
        name: str = ...,
        policy: str = ...,
        start: int | str = ...,
        height: int | str = ...,
        tile: int | Sequence[int] = ...,
        family: str = ...,
        vector: int = ...,
        ahead: int = ...,
        warps: int = ...,
        blocks: int = ...,
        unroll: int = ...,
        lanes: int = ...,
        swap: int = ...,
        lean: int = ...,
        exchange: int = ...,
        why: str = ...,
        **field_values: FieldValue,
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Simulation: ...
    def __exit__(self, *exception: Any) -> None: ...
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    def __setitem__(self, name: str, value: FieldValue) -> None: ...
    def __contains__(self, name: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def array(self, name: str, box: Box | None = ..., dtype: DTypeLike = ...) -> NDArray[Any]: ...
    def set(self, name: str, value: FieldValue, box: Box | None = ...) -> None: ...
    def view(self, name: str, raw: bool = ...) -> Any: ...
    def min(self, field: str | None = ..., region: Region | None = ...) -> float: ...
    def max(self, field: str | None = ..., region: Region | None = ...) -> float: ...
    def sum(self, field: str | None = ..., region: Region | None = ...) -> float: ...
    def mean(self, field: str | None = ..., region: Region | None = ...) -> float: ...
    def population(self, field: str | None = ...) -> int: ...
    def hash(self, field: str | None = ...) -> str: ...
    def residual(self) -> float: ...
    def profile(self, field: str, start: Sequence[float], end: Sequence[float], points: int | None = ...) -> dict[str, NDArray[Any]]: ...
    def histogram(
        self,
        field: str | None = ...,
        *,
        bins: int = ...,
        range: Sequence[float] = ...,
    ) -> dict[str, Any]: ...
    def units(self, floorplan: Made, field: str | None = ...) -> dict[str, dict[str, float]]: ...
    def picture(
        self,
        file: str | os.PathLike[str],
        field: str | None = ...,
        map: str = ...,
        colours: Sequence[str] = ...,
        range: Any = ...,
        log: bool = ...,
        size: int = ...,
        width_mm: float = ...,
        reduce: str = ...,
        region: Any = ...,
        zoom: int = ...,
        bits: int = ...,
        bar: bool = ...,
        axes: Any = ...,
        y: str = ...,
        contours: Any = ...,
        outline: Any = ...,
        view: str = ...,
        cut: bool = ...,
        level: float = ...,
        path: Sequence[Any] = ...,
        path_rgb: Any = ...,
        grid_lines: bool = ...,
        mark: str = ...,
        unit: str = ...,
        caption: str = ...,
        slice: Any = ...,
        montage: Any = ...,
    ) -> None: ...
    def slabs(self, field: str, first: int, count: int) -> NDArray[Any]: ...
    def analyse(self, method: str) -> dict[str, Any]: ...
    def scalar(self, name: str, step: int | None = ...) -> float: ...
    def run(
        self,
        steps: int | None = ...,
        *,
        until: float | str | Callable[[Simulation], Any] | None = ...,
        every: int | None = ...,
        call: Callable[[Simulation], Any] | None = ...,
        progress: Progress | bool | None = ...,
        until_time: float | str = ...,
        until_residual: float = ...,
        until_update: float = ...,
        until_true: Any = ...,
        max_steps: int = ...,
        check_every: int = ...,
        accept_stagnation: bool = ...,
        dt: str = ...,
        tolerance: float = ...,
        implicit: float | str = ...,
        order: int = ...,
        by: str = ...,
    ) -> dict[str, Any]: ...
    def stop(self, reason: str = ...) -> None: ...
    def jump(
        self,
        steps: int | None = ...,
        *,
        until: float | str | None = ...,
        progress: Progress | bool | None = ...,
        until_time: float | str = ...,
        every: int = ...,
    ) -> dict[str, Any]: ...
    def steady(
        self,
        *,
        progress: Progress | bool | None = ...,
        tolerance: float = ...,
        by: str = ...,
    ) -> dict[str, Any]: ...
    def rewind(self) -> None: ...
    def plan(
        self,
        *,
        height: int | str = ...,
        tile: int | Sequence[int] = ...,
        family: str = ...,
        vector: int = ...,
        ahead: int = ...,
        warps: int = ...,
        blocks: int = ...,
        unroll: int = ...,
        lanes: int = ...,
        swap: int = ...,
        lean: int = ...,
        exchange: int = ...,
        why: str = ...,
    ) -> dict[str, Any]: ...
    def policy(
        self,
        policy: str | None = ...,
        *,
        start: int | str = ...,
        height: int | str = ...,
        tile: int | Sequence[int] = ...,
        family: str = ...,
        vector: int = ...,
        ahead: int = ...,
        warps: int = ...,
        blocks: int = ...,
        unroll: int = ...,
        lanes: int = ...,
        swap: int = ...,
        lean: int = ...,
        exchange: int = ...,
        why: str = ...,
    ) -> dict[str, Any]: ...
    def kernel(self) -> dict[str, Any] | None: ...
    def receivers(
        self,
        *,
        field: str = ...,
        points: Any = ...,
        interpolate: str = ...,
        every: int = ...,
        file: str = ...,
    ) -> Receivers: ...
    def sources(
        self,
        *,
        field: str = ...,
        points: Any = ...,
        interpolate: str = ...,
        values: Any = ...,
        scale: float | str = ...,
    ) -> None: ...
    def checkpoint(self, path: str | os.PathLike[str]) -> None: ...
    def resume(self, path: str | os.PathLike[str]) -> None: ...

class Run(Mapping[str, NDArray[Any]]):
    folder: str
    printed: str
    status: str
    json: dict[str, Any]
    files: list[str]
    arrays: Mapping[str, Mapping[int | None, NDArray[Any]]]
    tables: Mapping[str, NDArray[Any]]
    def __init__(self, folder: str | os.PathLike[str], printed: str = ...) -> None: ...
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

def run(
    scenario: str | os.PathLike[str],
    args: Table | None = ...,
    *,
    out: str | os.PathLike[str] | None = ...,
    messages: Messages | None = ...,
    progress: Progress | None = ...,
    plugins: Sequence[str] = ...,
    backend: str = ...,
    check: bool = ...,
    checkpoint: float | str = ...,
    device: int = ...,
    devices: str = ...,
    from_run: str | os.PathLike[str] = ...,
    height: int = ...,
    policy: str = ...,
    report: bool = ...,
    threads: int = ...,
    unsafe: bool = ...,
) -> Run: ...
def resume(
    folder: str | os.PathLike[str],
    *,
    messages: Messages | None = ...,
    progress: Progress | None = ...,
    plugins: Sequence[str] = ...,
    **options: Any,
) -> Run: ...
def stencils(plugins: Sequence[str] = ...) -> dict[str, dict[str, Any]]: ...
def predict(
    plugin: Stencil | str,
    *,
    plugins: Sequence[str] = ...,
    progress: Progress | None = ...,
        grid: int | Sequence[int] = ...,
        precision: str = ...,
        storage: str | Table = ...,
        copies: int = ...,
        boundary: str | Table = ...,
        params: Table | Sequence[Any] | str = ...,
        scalars: Table | Sequence[Any] | str = ...,
        backend: str = ...,
        device: str = ...,
        gpu: int = ...,
        devices: int | str = ...,
        link: str = ...,
        threads: int = ...,
        height: int = ...,
        family: str = ...,
        vector: int = ...,
        ahead: int = ...,
        warps: int = ...,
        blocks: int = ...,
        unroll: int = ...,
        lanes: int = ...,
        swap: int = ...,
        lean: int = ...,
        exchange: int = ...,
        block: int | Sequence[int] = ...,
        model: str = ...,
        halo: float | Sequence[float] = ...,
        streamed: int = ...,
        bank_conflicts: float = ...,
        fence: bool = ...,
        as_printed: bool = ...,
        trips: int = ...,
        record: Table | Sequence[Any] | str = ...,
        measure: bool = ...,
        all: bool = ...,
        compile: bool = ...,
        quick: bool = ...,
        steps: int = ...,
) -> dict[str, Any]: ...
def tune(
    plugin: Stencil | str,
    *,
    plugins: Sequence[str] = ...,
    progress: Progress | None = ...,
        grid: int | Sequence[int] = ...,
        precision: str = ...,
        storage: str | Table = ...,
        copies: int = ...,
        boundary: str | Table = ...,
        params: Table | Sequence[Any] | str = ...,
        scalars: Table | Sequence[Any] | str = ...,
        backend: str = ...,
        device: str = ...,
        gpu: int = ...,
        devices: int | str = ...,
        link: str = ...,
        threads: int = ...,
        height: int = ...,
        family: str = ...,
        vector: int = ...,
        ahead: int = ...,
        warps: int = ...,
        blocks: int = ...,
        unroll: int = ...,
        lanes: int = ...,
        swap: int = ...,
        lean: int = ...,
        exchange: int = ...,
        block: int | Sequence[int] = ...,
        fields: Table | Sequence[Any] | str = ...,
        families: Sequence[str] = ...,
        model: str = ...,
        rounds: int = ...,
        seconds: float = ...,
        sustained: bool = ...,
        check: bool = ...,
) -> dict[str, Any]: ...
def random(
    *,
        seed: int = ...,
        range: Sequence[float] = ...,
        density: float = ...,
) -> Made: ...
def circle(
    *,
        centre: Any = ...,
        radius: float = ...,
) -> Made: ...
def box(
    *,
        x: Sequence[float] = ...,
        y: Sequence[float] = ...,
        z: Sequence[float] = ...,
) -> Made: ...
def floorplan(
    *,
        flp: str = ...,
        ptrace: str = ...,
        row: int = ...,
        width_m: float = ...,
        height_m: float = ...,
        box: Any = ...,
        overlap: float = ...,
) -> Made: ...
def polygon(*arguments: Any) -> Made: ...
def union(*arguments: Any) -> Made: ...
def intersection(*arguments: Any) -> Made: ...
def difference(*arguments: Any) -> Made: ...
def read(
    path: str,
    *,
        at: float | Sequence[float] = ...,
        fit: str = ...,
        shape: int | Sequence[int] = ...,
        type: str = ...,
        offset: int = ...,
        endian: str = ...,
        order: str = ...,
        skip: int = ...,
        field: str = ...,
        channel: str = ...,
        y: str = ...,
        rule: str = ...,
) -> Made: ...
