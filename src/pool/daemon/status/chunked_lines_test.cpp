// Tests lines that are printed in parts.
#include "pool/daemon/status/chunked_lines.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace forebay::daemon {
namespace {

TEST(Parts, AreShortLinesThatSayHowManyThereAre) {
    const std::string line(1500, 'x');
    const auto parts = in_parts(7, line);
    ASSERT_EQ(parts.size(), 3U);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        EXPECT_LT(parts[i].size(), 1000U);
        const auto said = nlohmann::json::parse(parts[i]);
        EXPECT_EQ(said.at("schema"), "forebay.pool.part/1");
        EXPECT_EQ(said.at("node"), 7);
        EXPECT_EQ(said.at("part"), i);
        EXPECT_EQ(said.at("of"), 3);
    }
    EXPECT_EQ(nlohmann::json::parse(parts[2]).at("base64").get<std::string>().size(), 400U);
}

TEST(Parts, AreBase64) {
    EXPECT_NE(in_parts(0, "{\"a\"}")[0].find(R"("base64":"eyJhIn0=")"), std::string::npos);
    EXPECT_EQ(in_parts(0, "").size(), 1U);
}

}  // namespace
}  // namespace forebay::daemon
