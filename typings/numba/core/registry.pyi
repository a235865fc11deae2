from collections.abc import Callable
from typing import Any

from .compiler import CompileResult

class CPUDispatcher:
    overloads: dict[tuple[object, ...], CompileResult]
    targetoptions: dict[str, object]
    _cache: object
    def __init__(
        self, py_func: Callable[..., Any], *, targetoptions: dict[str, object] = ...
    ) -> None: ...
    def compile(self, sig: tuple[object, ...]) -> object: ...
    def add_overload(self, cres: CompileResult) -> None: ...
