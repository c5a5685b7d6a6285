// Why a call is left to the MPI.
#pragma once

#include <cstdint>

namespace forebay::plan {

// One rank's refusal is everyone's; the largest value wins.
enum class Refusal : std::uint32_t {
    none = 0,
    disabled,  // by a setting or hint
    excluded,  // path prefix, or not a plain local path ("pvfs2:…")
    atomic_mode,
    data_representation,
    view_unsupported,  // overlapping or descending filetype
    memory_unsupported,
    not_the_same_file,  // renamed, replaced or removed since it was opened
    cannot_open,        // the file cannot be opened a second time by its name
    gpu_memory,
    no_memory,      // for its datatypes, on some rank
    several_nodes,  // a non-blocking call of a file in the pool of this one
    other,
};

[[nodiscard]] const char* reason_of(Refusal refusal) noexcept;

}  // namespace forebay::plan
