"""The little linear algebra that a fit needs: weighted ridge regression of a few dozen columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import mul
from statistics import median

from forebay.domain.frozen import frozen

Matrix = list[list[float]]


def cholesky(matrix: Matrix) -> Matrix:
    """The lower triangle L with L·Lᵀ = matrix, which is positive definite."""
    size = len(matrix)
    lower = [[0.0] * size for _ in range(size)]
    for row in range(size):
        for column in range(row + 1):
            inner = math.fsum(
                a * b for a, b in zip(lower[row][:column], lower[column][:column], strict=True)
            )
            if row == column:
                lower[row][row] = math.sqrt(max(matrix[row][row] - inner, 1e-12))
            else:
                lower[row][column] = (matrix[row][column] - inner) / lower[column][column]
    return lower


def solve(lower: Matrix, right: Sequence[float]) -> list[float]:
    """x with L·Lᵀ·x = right. The rows of L may end at the diagonal."""
    return backward(lower, forward(lower, right))


def forward(lower: Matrix, right: Sequence[float]) -> list[float]:
    """x with L·x = right."""
    found: list[float] = []
    for row, (line, value) in enumerate(zip(lower, right, strict=True)):
        found.append((value - dot(line, found)) / line[row])
    return found


def backward(lower: Matrix, right: Sequence[float]) -> list[float]:
    """x with Lᵀ·x = right."""
    found = list(right)
    for row in reversed(range(len(lower))):
        line = lower[row]
        found[row] /= line[row]
        known = found[row]
        for at in range(row):
            found[at] -= known * line[at]
    return found


def inverse_diagonal(lower: Matrix) -> list[float]:
    """The diagonal of (L·Lᵀ)⁻¹."""
    diagonal: list[float] = []
    for column in range(len(lower)):
        found: list[float] = []
        right = 1.0
        for row in range(column, len(lower)):
            line = lower[row]
            found.append((right - dot(line[column:row], found)) / line[row])
            right = 0.0
        diagonal.append(dot(found, found))
    return diagonal


@frozen
class Ridge:
    """A weighted ridge fit. `left_out`: what each row would have been without itself."""

    coefficients: tuple[float, ...]
    left_out: tuple[float, ...]


def ridge(
    rows: Sequence[Sequence[float]],
    values: Sequence[float],
    weights: Sequence[float],
    penalties: Sequence[float],
) -> Ridge:
    """Minimises Σ w (value − row·x)² + Σ penalty·x²."""
    size = len(penalties)
    normal = [[0.0] * size for _ in range(size)]
    right = [0.0] * size
    for row, value, weight in zip(rows, values, weights, strict=True):
        for i in range(size):
            scaled = weight * row[i]
            if scaled == 0.0:
                continue
            right[i] += scaled * value
            line = normal[i]
            for j in range(i + 1):
                line[j] += scaled * row[j]
    for i in range(size):
        normal[i][i] += penalties[i] + 1e-9
        for j in range(i):
            normal[j][i] = normal[i][j]
    lower = cholesky(normal)
    found = solve(lower, right)
    left_out = []
    for row, value, weight in zip(rows, values, weights, strict=True):
        fitted = dot(row, found)
        leverage = min(0.95, weight * dot(row, solve(lower, row)))
        left_out.append(value - (value - fitted) / (1 - leverage))
    return Ridge(coefficients=tuple(found), left_out=tuple(left_out))


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    """Their inner product, as far as the shorter one goes."""
    total: float = sum(map(mul, a, b))
    return total


def robust_scale(values: Sequence[float]) -> float:
    """A standard deviation that outliers do not move: 1.4826 median absolute deviations."""
    if not values:
        return 0.0
    middle = median(values)
    return 1.4826 * median([abs(one - middle) for one in values])


def huber(residual: float, scale: float, *, bend: float = 1.5) -> float:
    """The weight of an observation: 1 near the fit, less the farther it is away."""
    far = abs(residual) / scale if scale > 0 else 0.0
    return 1.0 if far <= bend else bend / far
