// How a file lies over storage targets, as its file system says: values without a file. lustre.hpp
// and ceph.hpp decode them, stripes.hpp turns them into the engine's view.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace forebay::layout {

// Which file system's attributes say it. `none`: nothing is known, so the file is one target.
enum class LayoutSource { none, lustre, ceph };

enum class DataPlacement {
    striped,   // over targets
    metadata,  // with the metadata (Lustre's data on MDT)
    released,  // in an archive, on no target
    foreign,   // elsewhere; the file system only keeps a note
};

enum class ComponentRole {
    data,
    extension,  // Lustre: space into which the component before it may grow; holds nothing
    parity,     // Lustre: redundancy of another component
};

constexpr std::int64_t end_of_file = std::numeric_limits<std::int64_t>::max();
constexpr std::int32_t all_targets = -1;

// One range of a file with one way of striping. A layout that is not composite has one of them.
struct Component {
    std::int64_t begin = 0;
    std::int64_t end = end_of_file;
    DataPlacement placement = DataPlacement::striped;
    ComponentRole role = ComponentRole::data;
    std::int32_t stripe_count = 0;   // 0: the file system's default; all_targets
    std::int64_t stripe_bytes = 0;   // 0: the file system's default
    std::int64_t object_bytes = 0;   // CephFS: after so many bytes an object is full; else 0
    std::string pool;                // empty: any
    std::vector<std::int32_t> osts;  // Lustre: indices of the targets, by stripe; empty: not told
    std::int32_t mirror = 0;         // Lustre: which copy of the file it belongs to
    bool initialised = true;         // targets have been chosen
    bool stale = false;              // this copy is behind the others
    bool preferred = false;          // this copy is the one to write to

    bool operator==(const Component&) const = default;
};

struct FileLayout {
    LayoutSource source = LayoutSource::none;
    std::vector<Component> components;  // none only where the source is none

    bool operator==(const FileLayout&) const = default;
};

// A wanted layout. Fields that are not set leave the layout as it is.
struct WantedLayout {
    std::int32_t stripe_count = 0;  // 0: not said; all_targets
    std::int64_t stripe_bytes = 0;  // 0: not said
    std::int32_t first_ost = -1;    // -1: not said
    std::string pool = {};          // empty: not said

    [[nodiscard]] bool says_something() const noexcept {
        return stripe_count != 0 || stripe_bytes != 0 || first_ost >= 0 || !pool.empty();
    }
    bool operator==(const WantedLayout&) const = default;
};

}  // namespace forebay::layout
