// Fuzzes lustre.lov and ceph.file.layout: decoding returns an error or a layout that can be used.
#include "foundation/base/must_check.hpp"
#include "storage/layout/ceph.hpp"
#include "storage/layout/lustre.hpp"
#include "storage/layout/stripes.hpp"

using forebay::must;
using namespace forebay::layout;

namespace {

void use(const FileLayout& layout, std::int64_t file_bytes) {
    must(!layout.components.empty(), "a layout that was read has components");
    for (const Component& one : layout.components) {
        must(one.begin >= 0 && one.begin <= one.end, "components are ranges");
        must(one.stripe_bytes >= 0 && one.stripe_count >= all_targets, "stripes are amounts");
        must(one.osts.empty() || one.osts.size() == static_cast<std::size_t>(one.stripe_count),
             "every stripe has its target");
    }
    const forebay::FileStripes stripes = stripes_of(layout, file_bytes);
    must(stripes.targets >= 1 && stripes.stripe_bytes >= 0, "the engine gets targets");
    static_cast<void>(difference({.stripe_count = 3, .stripe_bytes = 65536}, layout));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::int64_t file_bytes = std::int64_t{1} << (data[0] % 63);
    const auto value = std::as_bytes(std::span(data + 1, size - 1));
    if (const auto layout = parse_lustre(value)) {
        use(*layout, file_bytes);
    }
    const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
    if (const auto layout = parse_ceph(text)) {
        use(*layout, file_bytes);
        if (const auto again = encode_ceph({.stripe_count = 2}, *layout)) {
            must(parse_ceph(*again).has_value(), "what is asked for can be read");
        }
    }
    return 0;
}
