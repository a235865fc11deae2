"""Predictions: what value a rule foretells. One file a scheme, one row in the table."""

from xcskit.kernels.components import PredictionScheme, Table
from xcskit.kernels.predictions.constant import Constant
from xcskit.kernels.predictions.nlms import Nlms
from xcskit.kernels.predictions.rls import Rls

__all__ = ["PREDICTIONS", "Constant", "Nlms", "Rls"]

PREDICTIONS: Table[PredictionScheme] = Table("prediction", Nlms, Rls, Constant)
