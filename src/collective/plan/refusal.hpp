// Reasons to leave a collective call to the MPI.
#pragma once

#include <cstdint>

namespace forebay::plan {

// One rank's refusal holds for all ranks; if several ranks refuse, the largest value is reported.
enum class Refusal : std::uint32_t {
    none = 0,
    disabled,  // by a setting or hint
    excluded,  // by a path prefix, or since the name is no plain local path ("pvfs2:…")
    atomic_mode,
    data_representation,
    view_unsupported,  // overlapping or descending filetype
    memory_unsupported,
    not_the_same_file,  // renamed, replaced or removed since it was opened
    cannot_open,        // the file cannot be opened a second time by its name
    gpu_memory,
    no_memory,      // a rank has no memory left to decode its datatypes
    several_nodes,  // a non-blocking call of ranks on several nodes, for a file in a pool
    other,
};

[[nodiscard]] const char* reason_of(Refusal refusal) noexcept;

}  // namespace forebay::plan
