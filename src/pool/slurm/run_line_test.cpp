// Tests the line that a user can paste instead of one that was refused.
#include "pool/slurm/run_line.hpp"

#include <gtest/gtest.h>

namespace forebay::slurm {
namespace {

using Words = std::vector<std::string>;

TEST(RunLineTest, TheUsersOwnWordsStandBehindForebayRun) {
    const Words words{"srun", "-N", "2", "--forebay=pool:/a,/b c", "./model", "two words", "$HOME"};
    EXPECT_EQ(run_line(words, 3, Words{"/a", "/b c"}),
              "forebay run --pool /a --pool '/b c' -- srun -N 2 ./model 'two words' '$HOME'");
}

TEST(RunLineTest, OptionsAreTakenOutInBothFormsAndTheProgramsStay) {
    const Words words{"srun", "--forebay",     "pool:.",  "--forebay-record", "my run",
                      "-n2",  "--forebay=off", "./model", "--forebay=x",      "--forebay-record=y"};
    EXPECT_EQ(run_line(words, 3, Words{"."}),
              "forebay run --pool . --record 'my run' -- srun -n2 ./model --forebay=x "
              "--forebay-record=y");
    EXPECT_EQ(run_line(Words{"srun", "--forebayish", "./model"}, 1, Words{"."}),
              "forebay run --pool . -- srun --forebayish ./model");
}

TEST(RunLineTest, WhereTheLineIsNotKnownWordsStandForIt) {
    EXPECT_EQ(run_line({}, 0, Words{"/a"}), "forebay run --pool /a -- srun ...");
    EXPECT_EQ(run_line(Words{"srun", "--forebay"}, 0, Words{"/a"}),
              "forebay run --pool /a -- srun");
    EXPECT_EQ(run_line(Words{"srun", "a"}, 7, Words{"/a"}), "forebay run --pool /a -- srun a");
}

TEST(RunLineTest, WordsMayBeEmptyAndHaveLineEnds) {
    using namespace std::string_view_literals;
    EXPECT_EQ(words_of("srun\0\0a\nb\0"sv), (Words{"srun", "", "a\nb"}));
    EXPECT_TRUE(words_of("").empty());
}

}  // namespace
}  // namespace forebay::slurm
