#include "settings/settings.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(Settings, OfRank0BecomeTheOthersButTheirTexts) {
    Settings told;
    ASSERT_TRUE(told.set(Setting::cb_buffer_size, "64 KiB"));
    ASSERT_TRUE(told.set(Setting::collective_write, "disable"));
    ASSERT_TRUE(told.set(Setting::verbose, "true"));
    ASSERT_TRUE(told.set(Setting::record, "/rank/0"));
    Settings own;
    ASSERT_TRUE(own.set(Setting::record, "/own"));
    own.take_numbers(told.numbers());
    EXPECT_EQ(own.numbers(), told.numbers());
    EXPECT_EQ(own.text(Setting::cb_buffer_size), "65536");
    EXPECT_EQ(own.text(Setting::collective_write), "disable");
    EXPECT_TRUE(own.flag(Setting::verbose));
    EXPECT_EQ(own.text(Setting::record), "/own");
}

TEST(Settings, KeepTheOldValueWhereTheNewOneIsRefused) {
    Settings settings;
    const std::string before = settings.text(Setting::cb_buffer_size);
    const auto done = settings.set(Setting::cb_buffer_size, "much");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::argument);
    EXPECT_EQ(settings.text(Setting::cb_buffer_size), before);
}

}  // namespace
}  // namespace forebay
