// How a file's bytes are distributed over storage targets, as its file system describes it. Values
// only: lustre.hpp and ceph.hpp decode them, stripes.hpp converts them to the engine's view.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace forebay::layout {

// The file system whose attributes describe the layout. `none`: unknown, so the file is one target.
enum class LayoutSource { none, lustre, ceph };

enum class DataPlacement {
    striped,   // over targets (OSTs)
    metadata,  // stored with the metadata (Lustre's Data-on-MDT)
    released,  // moved to an archive (HSM), on no target
    foreign,   // stored elsewhere; the file system keeps a reference only
};

enum class ComponentRole {
    data,
    extension,  // Lustre: space into which the component before it may grow; has no data itself
    parity,     // Lustre: redundancy for another component
};

constexpr std::int64_t end_of_file = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t all_targets = -1;

// A range of a file with one striping. A layout that is not composite has one component.
struct Component {
    std::int64_t begin = 0;
    std::int64_t end = end_of_file;
    DataPlacement placement = DataPlacement::striped;
    ComponentRole role = ComponentRole::data;
    std::int32_t stripe_count = 0;   // 0: the file system's default; or all_targets
    std::int64_t stripe_bytes = 0;   // 0: the file system's default
    std::int64_t object_bytes = 0;   // CephFS: the size of an object; else 0
    std::string pool;                // empty: any
    std::vector<std::int32_t> osts;  // Lustre: the target of each stripe; empty: not known
    std::int32_t mirror = 0;         // Lustre: the mirror (copy of the file) that it belongs to
    bool initialised = true;         // its targets have been chosen
    bool stale = false;              // this mirror lacks writes that others have
    bool preferred = false;          // this mirror is preferred for writes

    bool operator==(const Component&) const = default;
};

struct FileLayout {
    LayoutSource source = LayoutSource::none;
    std::vector<Component> components;  // empty only if the source is none

    bool operator==(const FileLayout&) const = default;
};

// A layout to set. Fields that are not given keep their present values.
struct WantedLayout {
    std::int32_t stripe_count = 0;  // 0: not given; or all_targets
    std::int64_t stripe_bytes = 0;  // 0: not given
    std::int32_t first_ost = -1;    // -1: not given
    std::string pool = {};          // empty: not given

    [[nodiscard]] bool says_something() const noexcept {
        return stripe_count != 0 || stripe_bytes != 0 || first_ost >= 0 || !pool.empty();
    }
    bool operator==(const WantedLayout&) const = default;
};

}  // namespace forebay::layout
