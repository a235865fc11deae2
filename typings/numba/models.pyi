from llvmlite import ir

class PrimitiveModel:
    def __init__(self, manager: object, fe_type: object, be_type: ir.Type) -> None: ...
