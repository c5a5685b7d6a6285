// File names with terminal control sequences, and their escaped form.
#include "foundation/base/printable.hpp"

#include <gtest/gtest.h>
#include <string>

namespace forebay {
namespace {

TEST(Printable, NameIsEscapedAsLsDoes) {
    EXPECT_EQ(printable_name("plain.dat"), "plain.dat");
    EXPECT_EQ(printable_name("two words\\"), "two\\ words\\\\");
    EXPECT_EQ(printable_name("a\x1b[31mb\nc\td\x7f"), "a\\033[31mb\\nc\\td\\177");
    EXPECT_EQ(printable_name("größe"), "größe");
}

TEST(Printable, BytesThatAreNoCharacterAreEscaped) {
    EXPECT_EQ(printable("\xff\xc3"), "\\377\\303");
    EXPECT_EQ(printable("\xc0\xaf"), "\\300\\257") << "longer than it has to be";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\355\\240\\200") << "half of a pair";
}

TEST(Printable, ControlsBeyondAsciiAreEscaped) {
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\302\\23331m")
        << "CSI in one character";
    EXPECT_EQ(printable("a\xe2\x80\xae"
                        "b"),
              "a\\342\\200\\256b")
        << "from right to left";
}

TEST(Printable, TextKeepsBlanksAndWhatIsEscapedAlready) {
    EXPECT_EQ(printable("cannot open " + printable_name("a b\n")), "cannot open a\\ b\\n");
    EXPECT_EQ(printable_lines("one\ntwo\r"), "one\ntwo\\r");
}

TEST(Printable, WordOfAShellIsThatWord) {
    EXPECT_EQ(shell_word("/a/b-1.c"), "/a/b-1.c");
    EXPECT_EQ(shell_word("a b"), "'a b'");
    EXPECT_EQ(shell_word("it's"), "'it'\"'\"'s'");
    EXPECT_EQ(shell_word("a\n'\\"), "$'a\\n\\'\\\\'");
    EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace forebay
