// Linux has names of at most 64 bytes.
#include "foundation/base/host_name.hpp"

#include <array>
#include <unistd.h>

namespace forebay {

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace forebay
