"""What a rule predicts, and how it learns it: NLMS, recursive least squares, or a constant.

The state of a prediction is its weights (for a constant: the one number p) and, for recursive least
squares, a covariance matrix. Matrices are lists of rows.
"""

from collections.abc import Sequence
from typing import TypeAlias

from oracle.arithmetic import dot
from oracle.parameters import Parameters

Matrix: TypeAlias = list[list[float]]


def inputs(parameters: Parameters, observation: Sequence[int]) -> list[float]:
    """Give z = (x_0, x_1, .., x_D), for degree 2 followed by x_i * x_j for i <= j."""
    if parameters.prediction == "constant":
        return []
    x = [float(value) for value in observation]
    z = [float(parameters.x_0), *x]
    if parameters.degree == 2:
        z += [x[i] * x[j] for i in range(len(x)) for j in range(i, len(x))]
    return z


def new_weights(parameters: Parameters, n_inputs: int) -> list[float]:
    return [parameters.p_i] if parameters.prediction == "constant" else [0.0] * n_inputs


def new_covariance(parameters: Parameters, n_inputs: int) -> Matrix:
    """Give delta_rls * I, for recursive least squares; nothing for the others."""
    if parameters.prediction != "rls":
        return []
    return [[parameters.delta_rls * (i == j) for j in range(n_inputs)] for i in range(n_inputs)]


def predict(parameters: Parameters, weights: Sequence[float], z: Sequence[float]) -> float:
    """Add the products in the order of z, starting with w_0 * x_0."""
    if parameters.prediction == "constant":
        return weights[0]
    prediction = weights[0] * z[0]
    for k in range(1, len(z)):
        prediction += weights[k] * z[k]
    return prediction


def learn_constant(
    parameters: Parameters, weights: list[float], d: float, experience: int
) -> list[float]:
    """Average d at first, then move by beta * d; this update is already counted as experience."""
    p = weights[0]
    return [p + d / experience if experience < 1.0 / parameters.beta else p + parameters.beta * d]


def learn_nlms(
    parameters: Parameters, weights: list[float], z: Sequence[float], d: float
) -> list[float]:
    """Move the weights by eta * d * z / |z|^2."""
    step = (parameters.eta * d) / dot(z, z)
    return [w + step * z_k for w, z_k in zip(weights, z, strict=True)]


def learn_rls(
    parameters: Parameters, weights: list[float], covariance: Matrix, z: Sequence[float], d: float
) -> tuple[list[float], Matrix]:
    """Move the weights by k * d, and the covariance in Joseph's form, which stays symmetric.

    C' = C / lambda, k = C'z / (1 + z^T C' z), M = I - k z^T, C = M C' M^T + k k^T.
    """
    places = range(len(z))
    inflated = [[entry / parameters.forgetting for entry in row] for row in covariance]
    g = [dot(row, z) for row in inflated]
    scale = 1.0 + dot(z, g)
    k = [g_i / scale for g_i in g]
    weights = [w + k_i * d for w, k_i in zip(weights, k, strict=True)]
    m = [[float(i == j) - k[i] * z[j] for j in places] for i in places]
    columns = [[row[j] for row in inflated] for j in places]
    a = [[dot(m[i], columns[j]) for j in places] for i in places]
    covariance = [[dot(a[i], m[j]) + k[i] * k[j] for j in places] for i in places]
    return weights, covariance
