// Chooses the component whose striping the engine plans with.
#include "storage/layout/stripes.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace forebay::layout {

namespace {

bool holds_data(const Component& component) noexcept {
    return component.role == ComponentRole::data && component.end > component.begin &&
           (component.placement == DataPlacement::striped ||
            component.placement == DataPlacement::metadata);
}

// The mirror that writes go to: a preferred one, else the first that is not stale.
std::int32_t written_mirror(const FileLayout& layout) noexcept {
    const auto fresh = [](const Component& one) { return holds_data(one) && !one.stale; };
    const auto preferred = [&](const Component& one) { return fresh(one) && one.preferred; };
    auto found = std::ranges::find_if(layout.components, preferred);
    if (found == layout.components.end()) {
        found = std::ranges::find_if(layout.components, fresh);
    }
    if (found == layout.components.end()) {
        found = std::ranges::find_if(layout.components, holds_data);
    }
    return found == layout.components.end() ? 0 : found->mirror;
}

std::int64_t bytes_in(const Component& component, std::int64_t file_bytes) noexcept {
    return std::max(std::min(component.end, file_bytes) - component.begin, std::int64_t{0});
}

std::string stripes_text(std::int32_t count) {
    if (count == all_targets) {
        return "stripes over all targets";
    }
    return count == 1 ? "1 stripe" : fmt::format("{} stripes", count);
}

}  // namespace

const Component* chosen(const FileLayout& layout, std::int64_t file_bytes) noexcept {
    const std::int32_t mirror = written_mirror(layout);
    const Component* best = nullptr;
    for (const Component& one : layout.components) {
        if (!holds_data(one) || one.mirror != mirror) {
            continue;
        }
        const bool later = best == nullptr || one.begin > best->begin;
        const bool fuller =
            best == nullptr || bytes_in(one, file_bytes) > bytes_in(*best, file_bytes);
        if (file_bytes > 0 ? fuller : later) {
            best = &one;
        }
    }
    return best;
}

FileStripes stripes_of(const FileLayout& layout, std::int64_t file_bytes) noexcept {
    const Component* one = chosen(layout, file_bytes);
    if (one == nullptr || one->placement == DataPlacement::metadata) {
        return {};
    }
    const std::int32_t targets = std::max(one->stripe_count, 1);
    const bool fills_objects = targets == 1 && one->object_bytes > 0;
    return {targets, fills_objects ? one->object_bytes : one->stripe_bytes};
}

std::optional<std::string> difference(const WantedLayout& wanted, const FileLayout& layout) {
    const Component* one = chosen(layout, 0);
    if (one == nullptr) {
        return "no stripes";
    }
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const bool counted = one->osts.empty() || wanted.stripe_count != all_targets;
    if (wanted.stripe_count != 0 && counted && one->stripe_count != wanted.stripe_count) {
        add(fmt::format("{} instead of {}", stripes_text(one->stripe_count),
                        stripes_text(wanted.stripe_count)));
    }
    if (wanted.stripe_bytes != 0 && one->stripe_bytes != wanted.stripe_bytes) {
        add(fmt::format("stripes of {} bytes instead of {}", one->stripe_bytes,
                        wanted.stripe_bytes));
    }
    if (wanted.first_ost >= 0 && !one->osts.empty() && one->osts.front() != wanted.first_ost) {
        add(fmt::format("first target {} instead of {}", one->osts.front(), wanted.first_ost));
    }
    if (!wanted.pool.empty() && one->pool != wanted.pool) {
        add(fmt::format("pool \"{}\" instead of \"{}\"", one->pool, wanted.pool));
    }
    return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace forebay::layout
