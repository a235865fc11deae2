class Type:
    def __init__(self, name: str) -> None: ...
    def __call__(self, *args: Type) -> object: ...

class Array(Type): ...

class BaseNamedTuple(Type):
    instance_class: type

class UniTuple(Type):
    def __init__(self, element: Type, count: int) -> None: ...

class Function(Type):
    def __init__(self, template: type) -> None: ...

boolean: Type
uint64: Type
int64: Type
float64: Type
none: Type
