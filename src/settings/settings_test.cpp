// Names and values of settings as users write them.
#include "settings/settings.hpp"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace forebay {
namespace {

// Sets an environment variable for the lifetime of the object.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

Result<void> read_text(const std::string& text, UserSettings& settings) {
    const std::string path = testing::TempDir() + "settings_test.toml";
    std::ofstream(path) << text;
    return read_settings_file(path, settings);
}

TEST(UserSettings, a_hint_that_is_listed_is_no_typing_mistake) {
    for (const char* name : {"collective_write", "romio_cb_write", "forebay_collective_write"}) {
        EXPECT_EQ(find_setting(name), Setting::collective_write) << name;
        UserSettings settings;
        const Result<void> done = read_text(std::string(name) + " = \"enable\"\n", settings);
        ASSERT_TRUE(done.has_value()) << done.error().message;
        EXPECT_EQ(settings.text(Setting::collective_write), "enable") << name;
    }
    EXPECT_EQ(find_setting(""), std::nullopt);
    EXPECT_EQ(find_setting("forebay_romio_cb_write"), std::nullopt);
}

TEST(UserSettings, a_hint_in_the_environment_gives_way_to_the_settings_own_name) {
    const Variable hint("FOREBAY_ROMIO_CB_WRITE", "enable");
    UserSettings settings;
    ASSERT_TRUE(read_settings_environment(settings).has_value());
    EXPECT_EQ(settings.text(Setting::collective_write), "enable");
    const Variable own("FOREBAY_COLLECTIVE_WRITE", "disable");
    ASSERT_TRUE(read_settings_environment(settings).has_value());
    EXPECT_EQ(settings.text(Setting::collective_write), "disable");
}

TEST(UserSettings, a_file_that_sets_the_same_by_two_names_is_refused) {
    UserSettings settings;
    const Result<void> done =
        read_text("collective_write = \"enable\"\nromio_cb_write = \"disable\"\n", settings);
    ASSERT_FALSE(done.has_value());
    EXPECT_NE(done.error().message.find("by another name"), std::string::npos);
}

TEST(UserSettings, a_size_may_end_in_mb) {
    UserSettings settings;
    ASSERT_TRUE(settings.set(Setting::cb_buffer_size, "16MB").has_value());
    EXPECT_EQ(settings.number(Setting::cb_buffer_size), 16 << 20);
    EXPECT_FALSE(settings.set(Setting::cb_buffer_size, "16MBx").has_value());
}

TEST(UserSettings, OfRank0BecomeTheOthersButTheirTexts) {
    UserSettings told;
    ASSERT_TRUE(told.set(Setting::cb_buffer_size, "64 KiB"));
    ASSERT_TRUE(told.set(Setting::collective_write, "disable"));
    ASSERT_TRUE(told.set(Setting::verbose, "true"));
    ASSERT_TRUE(told.set(Setting::record, "/rank/0"));
    UserSettings own;
    ASSERT_TRUE(own.set(Setting::record, "/own"));
    own.take_numbers(told.numbers());
    EXPECT_EQ(own.numbers(), told.numbers());
    EXPECT_EQ(own.text(Setting::cb_buffer_size), "65536");
    EXPECT_EQ(own.text(Setting::collective_write), "disable");
    EXPECT_TRUE(own.flag(Setting::verbose));
    EXPECT_EQ(own.text(Setting::record), "/own");
}

TEST(UserSettings, AreLockedWhereTheEnvironmentListsThem) {
    EXPECT_FALSE(is_locked(Setting::cb_nodes));
    const Variable locked("FOREBAY_LOCKED", "pool_cap, cb_nodes");
    EXPECT_TRUE(is_locked(Setting::cb_nodes));
    EXPECT_TRUE(is_locked(Setting::pool_cap));
    EXPECT_FALSE(is_locked(Setting::cb_buffer_size));
}

TEST(UserSettings, KeepTheOldValueWhereTheNewOneIsRefused) {
    UserSettings settings;
    const std::string before = settings.text(Setting::cb_buffer_size);
    const auto done = settings.set(Setting::cb_buffer_size, "much");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, ErrorCode::argument);
    EXPECT_EQ(settings.text(Setting::cb_buffer_size), before);
}

}  // namespace
}  // namespace forebay
