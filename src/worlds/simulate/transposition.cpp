// The file is a sequence of bands: the rows of patches of the first level, of the second …
#include "worlds/simulate/transposition.hpp"

#include <algorithm>
#include <cmath>

namespace forebay::sim {

PatchGrid patch_grid(std::int64_t ranks, std::int64_t levels) noexcept {
    auto columns = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ranks)));
    while (ranks % columns != 0) {
        --columns;
    }
    return {ranks, columns, levels};
}

std::vector<PatchRow> rows_for(const PatchGrid& grid, std::int64_t writer, std::int64_t writers) {
    const std::int64_t bands = grid.levels * grid.rows();
    const double each = 1.0 / static_cast<double>(bands);
    const double begin = static_cast<double>(writer) / static_cast<double>(writers);
    const double end = static_cast<double>(writer + 1) / static_cast<double>(writers);
    std::vector<PatchRow> rows;
    const std::int64_t first = writer * bands / writers;
    const std::int64_t behind = std::min(((writer + 1) * bands + writers - 1) / writers, bands);
    for (std::int64_t band = first; band < behind; ++band) {
        const double band_begin = static_cast<double>(band) * each;
        const double share = std::min(end, band_begin + each) - std::max(begin, band_begin);
        if (band - first < grid.rows()) {
            rows.push_back({band % grid.rows() * grid.columns, grid.columns, share});
        } else {  // the row of a further level
            rows[static_cast<std::size_t>((band - first) % grid.rows())].share += share;
        }
    }
    return rows;
}

}  // namespace forebay::sim
