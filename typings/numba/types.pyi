class Type:
    def __call__(self, *args: Type) -> object: ...

class BaseNamedTuple(Type):
    instance_class: type

class UniTuple(Type):
    def __init__(self, element: Type, count: int) -> None: ...

uint64: Type
int64: Type
float64: Type
