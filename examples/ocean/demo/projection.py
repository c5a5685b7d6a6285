"""The Equal Earth projection (Šavrič, Patterson, Jenny 2018), from the picture to the globe: for
each pixel the latitude and longitude there. Areas on the picture are true."""

import numpy as np
from numpy.typing import NDArray

A1, A2, A3, A4 = 1.340264, -0.081106, 0.000893, 0.003796
_M = 3.0**0.5 / 2.0
_STEPS = 12

Field = NDArray[np.float64]


def _height(theta: Field) -> Field:
    return theta * (A1 + A2 * theta**2 + theta**6 * (A3 + A4 * theta**2))


def _slope(theta: Field) -> Field:
    return A1 + 3 * A2 * theta**2 + theta**6 * (7 * A3 + 9 * A4 * theta**2)


def _parameter(latitude: Field) -> Field:
    theta: Field = np.arcsin(_M * np.sin(np.radians(latitude)))
    return theta


def forward(latitude: Field, longitude: Field) -> tuple[Field, Field]:
    """Degrees to x and y; the Earth's radius is 1 and the middle is (0, 0)."""
    theta = _parameter(latitude)
    x = np.radians(longitude) * np.cos(theta) / (_M * _slope(theta))
    return x, _height(theta)


def inverse(x: Field, y: Field) -> tuple[Field, Field]:
    """x and y to degrees; NaN outside of the globe's outline. A row and a column give a field."""
    theta = np.clip(y / A1, -1.2, 1.2)
    for _ in range(_STEPS):
        theta = np.clip(theta - (_height(theta) - y) / _slope(theta), -1.2, 1.2)
    sine = np.sin(theta) / _M
    longitude = np.degrees(x * _M * _slope(theta) / np.cos(theta))
    outside = (np.abs(sine) > 1.0) | (np.abs(longitude) > 180.0)
    latitude = np.degrees(np.arcsin(np.clip(sine, -1.0, 1.0)))
    return np.where(outside, np.nan, latitude), np.where(outside, np.nan, longitude)
