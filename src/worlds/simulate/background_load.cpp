// AR(1) drift, log-normal noise and stragglers, all determined by the seed.
#include "worlds/simulate/background_load.hpp"

#include "worlds/memory/file.hpp"

#include <cmath>
#include <numbers>

namespace forebay::sim {

namespace {

// Streams of random numbers, one for each purpose; the values are arbitrary but distinct.
enum class LoadDraw : std::uint64_t { drift = 0xd0, noise = 0xd1, straggler = 0xd2, slower = 0xd3 };

// A random number uniform in (0, 1]. It is never 0, so that its logarithm is finite; it can be 1,
// because adding 0.5 to the largest values rounds to 2^53.
double even(std::uint64_t seed, LoadDraw draw, std::uint64_t number) {
    const std::uint64_t dice = adapters::scramble(seed, static_cast<std::uint64_t>(draw), number);
    return (static_cast<double>(dice >> 11) + 0.5) * 0x1p-53;
}

// A standard normal random number by the Box-Muller transform.
double normal(std::uint64_t seed, LoadDraw draw, std::uint64_t number) {
    const double radius = std::sqrt(-2 * std::log(even(seed, draw, 2 * number)));
    return radius * std::cos(2 * std::numbers::pi * even(seed, draw, 2 * number + 1));
}

// The drift as a stationary AR(1) process: its autocorrelation from moment to moment is
// `drift_kept`, and its standard deviation is background_load.drift at every moment.
double drift_at(const BackgroundLoad& background_load, std::uint64_t seed) {
    double level = background_load.drift * normal(seed, LoadDraw::drift, 0);
    const double step = background_load.drift * std::sqrt(1 - drift_kept * drift_kept);
    for (std::int64_t moment = 1; moment <= background_load.moment; ++moment) {
        level = drift_kept * level +
                step * normal(seed, LoadDraw::drift, static_cast<std::uint64_t>(moment));
    }
    return level;
}

}  // namespace

std::vector<double> slowness(const BackgroundLoad& background_load, std::uint64_t seed,
                             std::int64_t targets) {
    const double drift = drift_at(background_load, seed);
    std::vector<double> factors;
    for (std::int64_t target = 0; target < targets; ++target) {
        const auto number = static_cast<std::uint64_t>(background_load.moment * targets + target);
        double factor =
            std::exp(drift + background_load.noise * normal(seed, LoadDraw::noise, number));
        if (even(seed, LoadDraw::straggler, number) < background_load.stragglers) {
            factor *=
                slower_least + (slower_most - slower_least) * even(seed, LoadDraw::slower, number);
        }
        factors.push_back(factor);
    }
    return factors;
}

}  // namespace forebay::sim
