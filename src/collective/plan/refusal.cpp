// The reasons as users read them.
#include "collective/plan/refusal.hpp"

namespace forebay::plan {

const char* reason_of(Refusal refusal) noexcept {
    switch (refusal) {
        case Refusal::none: return "not refused";
        case Refusal::disabled: return "switched off by a setting or hint";
        case Refusal::excluded: return "path is excluded or not a plain file path";
        case Refusal::atomic_mode: return "atomic mode";
        case Refusal::data_representation: return "data representation is not native";
        case Refusal::view_unsupported: return "file view overlaps itself or does not ascend";
        case Refusal::memory_unsupported: return "memory datatype is not understood";
        case Refusal::not_the_same_file: return "file was renamed, replaced or removed";
        case Refusal::cannot_open: return "file cannot be opened a second time by its name";
        case Refusal::gpu_memory: return "buffer is in GPU memory";
        case Refusal::no_memory: return "a rank has no memory left for its datatypes";
        case Refusal::several_nodes:
            return "non-blocking collective call of ranks on several nodes";
        case Refusal::other: break;
    }
    return "for another reason";
}

}  // namespace forebay::plan
