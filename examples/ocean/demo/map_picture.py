"""The picture of the sea-surface height: an equal-area map, lit from the north-west so that
eddies stand out, land in grey."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray

from demo import projection
from demo.cdf5 import Cdf5File
from demo.projection import Field

WIDTH_PIXELS = 2400
PIXELS_PER_INCH = 150
INK, PAPER, LAND, COAST, ICE = "#1d2730", "#ffffff", "#b9b6b0", "#7d7a75", "#eef1f3"
TITLE_POINTS, TEXT_POINTS = 17, 11

# Deep blue over pale to deep red, darker at both ends than matplotlib's RdBu.
_STOPS = [
    (0.00, "#0b1f4b"),
    (0.16, "#1f5fa8"),
    (0.34, "#79b7dd"),
    (0.50, "#f6f4ee"),
    (0.66, "#f3a56d"),
    (0.84, "#c8372d"),
    (1.00, "#5a0a1e"),
]


def draw_map(file: Cdf5File, path: Path, *, subtitle: str) -> None:
    """Draw the last record of `ssh` to a PNG."""
    ocean = file.read("mask") == 1
    height = file.read("ssh", record=-1).astype(np.float64)
    latitude, longitude = file.read("lat"), file.read("lon")
    weight = np.where(ocean, np.cos(np.radians(latitude))[:, None], 0.0)
    height = np.where(ocean, height, 0.0)
    height = height - (height * weight).sum() / weight.sum()
    limit = float(np.ceil(np.percentile(np.abs(height[ocean]), 99.5) * 10) / 10)
    day = float(file.read("time", record=-1))

    colours: Colormap = LinearSegmentedColormap.from_list("sea", _STOPS, N=1024)
    norm = Normalize(-limit, limit)
    image = _paint(height, ocean, latitude, longitude, colours=colours, norm=norm)
    figure = Figure(figsize=(16, 9.3), facecolor=PAPER)
    axes = figure.add_axes((0.02, 0.12, 0.96, 0.76))
    x_max, y_max = _extent()
    axes.imshow(image, extent=(-x_max, x_max, -y_max, y_max), interpolation="antialiased")
    edge = np.linspace(-90, 90, 181)
    for side in (-180.0, 180.0):
        axes.plot(*projection.forward(edge, np.full_like(edge, side)), color=INK, lw=0.8)
    axes.set_axis_off()
    figure.text(
        0.5, 0.945, f"Sea-surface height, day {day:.2f}", ha="center", color=INK, size=TITLE_POINTS
    )
    figure.text(0.5, 0.91, subtitle, ha="center", color=INK, size=TEXT_POINTS, alpha=0.75)
    bar = figure.colorbar(
        ScalarMappable(norm, colours),
        cax=figure.add_axes((0.3, 0.075, 0.4, 0.018)),
        orientation="horizontal",
        extend="both",
    )
    bar.set_label("height above the mean, m", color=INK, size=TEXT_POINTS)
    bar.outline.set_visible(False)
    with mpl.rc_context({"savefig.facecolor": PAPER}):
        figure.savefig(path, dpi=PIXELS_PER_INCH, metadata={"Software": ""})


def _extent() -> tuple[float, float]:
    x, _ = projection.forward(np.array([0.0]), np.array([180.0]))
    _, y = projection.forward(np.array([90.0]), np.array([0.0]))
    return float(x[0]), float(y[0])


def _paint(
    height: Field,
    ocean: NDArray[np.bool_],
    latitude: Field,
    longitude: Field,
    *,
    colours: Colormap,
    norm: Normalize,
) -> Field:
    """The picture as red, green, blue and opacity; north up."""
    x_max, y_max = _extent()
    across = WIDTH_PIXELS
    down = round(across * y_max / x_max)
    x, y = np.linspace(-x_max, x_max, across), np.linspace(y_max, -y_max, down)
    lat, lon = projection.inverse(x[None, :], y[:, None])
    inside = ~np.isnan(lat)
    row = (np.nan_to_num(lat) - latitude[0]) / (latitude[1] - latitude[0])
    column = (np.nan_to_num(lon) - longitude[0]) / (longitude[1] - longitude[0])

    sea_share = _between(ocean.astype(np.float64), row, column)
    value = _between(_spread_over_land(height, ocean), row, column)
    light = _between(_light(_spread_over_land(height, ocean), latitude), row, column)
    colour = colours(norm(value))[..., :3]
    shade = light[..., None]
    colour = np.where(shade > 0, colour + (1 - colour) * shade, colour * (1 + shade))
    colour = np.where((sea_share < 0.5)[..., None], to_rgb(LAND), colour)
    coast = np.clip(1 - np.abs(sea_share - 0.45) / 0.3, 0, 1)[..., None] * 0.8
    colour = colour * (1 - coast) + np.array(to_rgb(COAST)) * coast
    beyond = row > len(latitude) - 0.5
    colour = np.where(beyond[..., None], to_rgb(ICE), colour)
    colour = np.where((row < -0.5)[..., None], to_rgb(LAND), colour)
    return np.dstack([np.clip(colour, 0, 1), inside.astype(np.float64)])


def _between(field: Field, row: Field, column: Field) -> Field:
    """Bilinear, periodic in longitude."""
    rows, columns = field.shape
    row = np.clip(row, 0, rows - 1.001)
    low = np.floor(row).astype(int)
    left = np.floor(column).astype(int)
    up, right = row - low, column - left
    west, east = left % columns, (left + 1) % columns
    bottom = field[low, west] * (1 - right) + field[low, east] * right
    top = field[low + 1, west] * (1 - right) + field[low + 1, east] * right
    blended: Field = bottom * (1 - up) + top * up
    return blended


def _spread_over_land(field: Field, ocean: NDArray[np.bool_]) -> Field:
    """Carry the values a few cells inland, so that nothing bleeds from land into the sea."""
    known = ocean.astype(np.float64)
    value = field * known
    for _ in range(4):
        around = _sum_of_neighbours(value)
        count = _sum_of_neighbours(known)
        new = (known == 0) & (count > 0)
        value = np.where(new, around / np.maximum(count, 1), value)
        known = np.where(new, 1.0, known)
    return value


def _sum_of_neighbours(field: Field) -> Field:
    total = np.roll(field, 1, axis=1) + np.roll(field, -1, axis=1)
    total[1:] += field[:-1]
    total[:-1] += field[1:]
    return total


def _light(height: Field, latitude: Field) -> Field:
    """-1 (in the shade) to 1 (lit) of a relief that is lit from the north-west."""
    east = (np.roll(height, -1, axis=1) - np.roll(height, 1, axis=1)) / np.maximum(
        np.cos(np.radians(latitude)), 0.2
    )[:, None]
    north = np.gradient(height, axis=0) * 2
    lit: Field = np.tanh((east - north) * 6.0) * 0.32
    return lit
