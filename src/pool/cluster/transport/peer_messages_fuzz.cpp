// Arbitrary bytes from another daemon either are rejected, or parse to a message that serialises to
// the same bytes.
#include "foundation/base/must_check.hpp"
#include "pool/cluster/transport/peer_messages.hpp"

#include <algorithm>
#include <cstdint>

using namespace forebay;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes{reinterpret_cast<const std::byte*>(data), size};
    if (const auto word = protocol::peer_word_of(bytes)) {
        must(std::ranges::equal(protocol::bytes_of(*word), bytes), "it is the same again");
    }
    return 0;
}
