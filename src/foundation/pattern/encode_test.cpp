// Compares messages with the bytes that they carry, and decodes invalid messages.
#include "foundation/pattern/encode.hpp"

#include "foundation/pattern/oracle.hpp"
#include "foundation/pattern/oracle_gen.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace forebay::pattern {
namespace {

// A node's window: staging buffer and coverage.
struct Node {
    Node(std::int64_t bytes, std::int64_t unit)
        : words(Coverage::words_for(bytes, unit)),
          coverage(words, bytes, unit),
          image(static_cast<std::size_t>(bytes), std::byte{0}) {
        coverage.clear();
    }
    std::vector<Coverage::Bits> words;
    Coverage coverage;
    std::vector<std::byte> image;
};

// Marks some multiples of `unit`, and fills the whole buffer.
void fill(Node& node, oracle::Choices& choices, std::int64_t unit) {
    const std::int64_t bytes = node.coverage.image_bytes();
    for (std::size_t i = 0; i < node.image.size(); ++i) {
        node.image[i] = static_cast<std::byte>(1 + choices.below(255));
    }
    for (std::int64_t n = choices.below(6); n > 0 && bytes > 0; --n) {
        const std::int64_t at = choices.below(bytes) / unit * unit;
        const std::int64_t length = std::min(unit * choices.between(1, 40), bytes - at);
        node.coverage.mark(at, length);
    }
    const std::int64_t dense = choices.below(3) == 0 ? bytes / unit : 0;
    for (std::int64_t i = 0; i + 1 < dense; i += 2) {
        node.coverage.mark(i * unit, unit);
    }
}

// A random image with the choices from which it was drawn.
struct Drawn {
    explicit Drawn(std::int64_t bytes_end) : image{choices.below(bytes_end)} {
        fill(node, choices, unit);
    }
    std::vector<std::uint8_t> bytes = *oracle::arbitrary_bytes();
    oracle::Choices choices{bytes};
    std::int64_t unit = std::int64_t{1} << choices.below(5);
    std::int64_t image;
    Node node{image, unit};
};

bool covers(const Coverage& coverage, std::int64_t at) {
    const Coverage::Run run = coverage.next_run(at);
    return run.begin == at && run.length > 0;
}

RC_GTEST_PROP(Encode, CarriesWhatIsCovered, ()) {
    const auto bytes = *oracle::arbitrary_bytes();
    oracle::Choices choices(bytes);
    const std::int64_t sent_unit = std::int64_t{1} << choices.below(5);
    const std::int64_t taken_unit = std::int64_t{1} << choices.below(5);
    const std::int64_t image = choices.below(4000);
    Node from(image, sent_unit);
    fill(from, choices, std::max(sent_unit, taken_unit));
    std::vector<std::byte> message(encoded_bytes_max(image, sent_unit));
    const std::size_t length = encode(from.coverage, from.image, message);
    RC_ASSERT(length <= message.size());
    Node to(image, taken_unit);
    RC_ASSERT(decode_into(std::span(message).first(length), to.image, to.coverage).value() ==
              from.coverage.covered_bytes());
    for (std::int64_t at = 0; at < image; ++at) {
        const auto i = static_cast<std::size_t>(at);
        RC_ASSERT(covers(to.coverage, at) == covers(from.coverage, at));
        RC_ASSERT(to.image[i] == (covers(from.coverage, at) ? from.image[i] : std::byte{0}));
    }
    RC_ASSERT(
        !decode_into(std::span(message).first(length - 1), to.image, to.coverage).has_value());
}

RC_GTEST_PROP(Encode, AsksAndAnswers, ()) {
    Drawn drawn(4000);
    auto& [bytes, choices, unit, image, asks] = drawn;
    std::vector<std::byte> message(encoded_coverage_bytes_max(image, unit));
    const std::size_t length = encode_coverage(asks.coverage, message);
    Node gives(image, unit);
    RC_ASSERT(decode_coverage(std::span(message).first(length), gives.coverage).value() ==
              asks.coverage.covered_bytes());
    fill(gives, choices, unit);  // more than requested
    gives.coverage.clear();
    RC_ASSERT(decode_coverage(message, gives.coverage).has_value());
    const auto held = static_cast<std::size_t>(choices.between(0, image));
    std::vector<std::byte> answer(encoded_bytes_max(image, unit));
    const std::size_t size =
        encode_covered(gives.coverage, std::span(gives.image).first(held), answer);
    std::vector<std::byte> expected = asks.image;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < held; ++i) {
        if (covers(asks.coverage, static_cast<std::int64_t>(i))) {
            expected[i] = gives.image[i];
            ++count;
        }
    }
    const auto taken = decode_covered(std::span(answer).first(size), asks.coverage, asks.image);
    RC_ASSERT(taken.value() == count);
    RC_ASSERT(asks.image == expected);
}

RC_GTEST_PROP(Encode, AMessageThatWasChangedIsAnErrorOrHarmless, ()) {
    Drawn drawn(3000);
    auto& [bytes, choices, unit, image, from] = drawn;
    std::vector<std::byte> message(encoded_bytes_max(image, unit));
    message.resize(encode(from.coverage, from.image, message));
    for (std::int64_t n = choices.between(1, 3); n > 0; --n) {
        const auto bound = static_cast<std::int64_t>(message.size());
        const std::int64_t at = choices.below(std::min<std::int64_t>(bound, 100));
        message[static_cast<std::size_t>(at)] = static_cast<std::byte>(choices.below(256));
    }
    Node to(image, unit);
    const auto taken = decode_into(message, to.image, to.coverage);
    const std::int64_t covered = to.coverage.covered_bytes();
    RC_ASSERT(covered == (taken.has_value() ? *taken : 0));
}

TEST(Encode, ShortestFormIsTaken) {
    Node node(1 << 20, 16);
    std::vector<std::byte> message(encoded_bytes_max(1 << 20, 16));
    node.coverage.mark(0, 1 << 20);
    EXPECT_EQ(encode(node.coverage, node.image, message), 32U + 8U + (1U << 20));
    node.coverage.clear();
    EXPECT_EQ(encode(node.coverage, node.image, message), 32U);
    node.coverage.mark_strided(0, 16, 64, 1 << 14);
    EXPECT_EQ(encode(node.coverage, node.image, message), 32U + (1U << 13) + (1U << 18));
}

TEST(Encode, AnImageMayEndWithinAUnit) {
    Node from(100, 64);
    from.coverage.mark(64, 36);
    from.image[99] = std::byte{7};
    std::vector<std::byte> message(encoded_bytes_max(100, 64));
    const std::size_t length = encode(from.coverage, from.image, message);
    Node to(100, 4);
    EXPECT_EQ(decode_into(std::span(message).first(length), to.image, to.coverage).value(), 36);
    EXPECT_EQ(to.image[99], std::byte{7});
}

TEST(Encode, WrongMessagesAreErrors) {
    Node node(1000, 1);
    node.coverage.mark(3, 5);
    std::vector<std::byte> message(encoded_bytes_max(1000, 1));
    const std::size_t length = encode(node.coverage, node.image, message);
    Node other(999, 1);
    EXPECT_FALSE(decode_into(message, other.image, other.coverage).has_value());
    Node coarse(1000, 8);
    EXPECT_FALSE(decode_into(message, coarse.image, coarse.coverage).has_value());
    EXPECT_EQ(coarse.coverage.covered_bytes(), 0);
    EXPECT_FALSE(decode_coverage(message, node.coverage).has_value());
    EXPECT_FALSE(decode_covered(message, node.coverage, node.image).has_value());
    EXPECT_FALSE(decode_into({}, node.image, node.coverage).has_value());
    const std::uint32_t units = 2000;
    std::memcpy(message.data() + 36, &units, sizeof(units));
    const auto taken = decode_into(std::span(message).first(length), node.image, node.coverage);
    ASSERT_FALSE(taken.has_value());
    EXPECT_EQ(taken.error().code, ErrorCode::input_output);
    EXPECT_NE(taken.error().message.find("outside its window"), std::string::npos);
}

}  // namespace
}  // namespace forebay::pattern
