from xcskit.typing import Floats

class DPSolveResult:
    v: Floats

class DiscreteDP:
    def __init__(self, R: Floats, Q: Floats, beta: float) -> None: ...  # noqa: N803
    def solve(self, method: str) -> DPSolveResult: ...
