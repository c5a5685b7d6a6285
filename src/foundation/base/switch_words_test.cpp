// The boolean words that users of IOR, of ROMIO and of Forebay write.
#include "foundation/base/switch_words.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(SwitchWords, mean_on_or_off_in_any_case) {
    for (const char* word : {"1", "TRUE", "true", "Yes", "on", "enable"}) {
        EXPECT_EQ(parse_switch(word), true) << word;
    }
    for (const char* word : {"0", "FALSE", "no", "Off", "disable"}) {
        EXPECT_EQ(parse_switch(word), false) << word;
    }
    for (const char* word : {"", "2", "y", "tru", "truee", "on "}) {
        EXPECT_EQ(parse_switch(word), std::nullopt) << word;
    }
}

}  // namespace
}  // namespace forebay
