class Type: ...

class BaseNamedTuple(Type):
    instance_class: type

class Integer(Type):
    def __call__(self, *args: Integer) -> object: ...

uint64: Integer
int64: Integer
