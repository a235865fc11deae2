from typing import Any, Self

class _Library:
    has_dynamic_globals: bool

class _Signature:
    args: tuple[object, ...]

class CompileResult:
    library: _Library
    signature: _Signature
    target_context: Any
    def _reduce(self) -> tuple[object, ...]: ...
    @classmethod
    def _rebuild(cls, target_context: object, *parts: object) -> Self: ...
