// Tests which bytes a replay must write, and into which files it must not write.
#include "pool/journal/format/replay_plan.hpp"
#include "pool/journal/format/groups_check.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <list>

namespace forebay::pool::journal {
namespace {

constexpr std::int64_t second = 1'000'000'000;
const JournalFileFacts quiet{.device = 1,
                             .inode = 2,
                             .generation = 3,
                             .stamped = 1,
                             .stamp = {.bytes = 10, .modified_ns = 50, .changed_ns = 60}};

// Groups that are written one second apart, with records numbered from 1.
class Journal {
public:
    Journal& group(const std::vector<Said>& records) {
        memory_.push_back(
            group_bytes({.life = 1,
                         .epoch = 1,
                         .oldest = 1,
                         .first = next_,
                         .time_ns = static_cast<std::int64_t>(groups_.size() + 1) * second},
                        records));
        next_ += records.size();
        groups_.push_back(*group_of(memory_.back(), a_key));
        return *this;
    }
    [[nodiscard]] std::vector<ReplayPlan> replay_plans() const { return replay_plans_of(groups_); }
    [[nodiscard]] ReplayPlan only() const {
        const auto all = replay_plans();
        EXPECT_EQ(all.size(), 1U);
        return all.at(0);
    }

private:
    std::uint64_t next_ = 1;
    std::list<std::vector<std::byte>> memory_;
    std::vector<Group> groups_;
};

// The plan as "offset:bytes offset:bytes", the cut and the length.
std::string told(const ReplayPlan& replay_plan) {
    std::string text;
    for (const JournalRun& run : replay_plan.runs) {
        text += std::to_string(run.at.bytes()) + ":" +
                bytes_of(run.bytes.data(), run.bytes.size()) + " ";
    }
    if (replay_plan.cut) {
        text += "cut " + std::to_string(replay_plan.cut->bytes()) + " ";
    }
    return text + std::to_string(replay_plan.length_min.bytes());
}

Said put(std::int64_t at, std::string bytes) {
    return {RecordKind::deposit, 1, at, std::move(bytes)};
}
Said cut(std::int64_t bytes) { return {RecordKind::cut, 1, bytes, {}}; }

struct Case {
    const char* what;
    std::vector<Said> records;  // after the record that describes the file
    std::string expected;
};

class JournalStory : public testing::TestWithParam<Case> {};

TEST_P(JournalStory, IsWhatIsLeft) {
    std::vector<Said> records = GetParam().records;
    records.insert(records.begin(), a_file(1, "/a", quiet));
    EXPECT_EQ(told(Journal{}.group(records).only()), GetParam().expected) << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Tables, JournalStory,
    testing::Values(Case{"one", {put(5, "abc")}, "5:abc 8"},
                    Case{"apart", {put(9, "z"), put(5, "abc")}, "5:abc 9:z 10"},
                    Case{"the later one wins", {put(5, "abc"), put(6, "X")}, "5:a 6:X 7:c 8"},
                    Case{"at its begin", {put(5, "abc"), put(4, "XY")}, "4:XY 6:bc 8"},
                    Case{"at its end", {put(5, "abc"), put(7, "XY")}, "5:ab 7:XY 9"},
                    Case{"all of it", {put(5, "abc"), put(4, "vwxyz")}, "4:vwxyz 9"},
                    Case{"several",
                         {put(0, "ab"), put(3, "cd"), put(6, "ef"), put(1, "XXXXXX")},
                         "0:a 1:XXXXXX 7:f 8"},
                    Case{"cut off", {put(5, "abc"), cut(6)}, "5:a cut 6 6"},
                    Case{"cut, then longer", {put(5, "abc"), cut(2), put(4, "x")}, "4:x cut 2 5"},
                    Case{"the shortest counts", {cut(9), cut(3), cut(20)}, "cut 3 20"},
                    Case{"settled in part", {put(5, "abc"), put(6, "X"), settled(1, 2)}, "6:X 7"},
                    Case{"a cut that is settled", {cut(3), put(5, "x"), settled(1, 2)}, "5:x 6"}));

TEST(JournalStories, NothingIsLeftOfWhatIsSettled) {
    EXPECT_TRUE(Journal{}
                    .group({a_file(1, "/a", quiet), put(5, "abc"), cut(3)})
                    .group({settled(1, 3, {1, 2, 3})})
                    .replay_plans()
                    .empty());
}

TEST(JournalStories, AFileIsKnownBySomethingSaidLater) {
    Journal journal;  // the plan refers to its memory
    const ReplayPlan replay_plan = journal.group({put(5, "abc"), a_file(1, "/late", quiet)}).only();
    EXPECT_EQ(replay_plan.path, "/late");
    EXPECT_EQ(told(replay_plan), "5:abc 8");
}

// -- whether a file may be written ------------------------------------------------------------

FoundFile found_with(const ports::ChangeStamp& stamp) {
    return {.device = 1, .inode = 2, .generation = 3, .stamp = stamp};
}

struct Judged {
    const char* what;
    ports::ChangeStamp stamp;
    Verdict verdict;
};

class QuietFile : public testing::TestWithParam<Judged> {};

TEST_P(QuietFile, IsWrittenWhereNobodyChangedIt) {
    const ReplayPlan replay_plan = Journal{}.group({a_file(1, "/a", quiet), put(0, "x")}).only();
    EXPECT_EQ(judge(replay_plan, found_with(GetParam().stamp)), GetParam().verdict)
        << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Tables, QuietFile,
    testing::Values(Judged{"as it was", {10, 50, 60}, Verdict::apply},
                    Judged{"older, after a power failure", {0, 20, 20}, Verdict::apply},
                    Judged{"renamed", {10, 50, 99}, Verdict::apply},
                    Judged{"written to", {10, 99, 99}, Verdict::changed},
                    Judged{"made longer", {11, 50, 99}, Verdict::changed},
                    Judged{"written to, with an old time", {10, 40, 99}, Verdict::changed}));

class ChangingFile : public testing::TestWithParam<Judged> {};

// The last group is from second 3.
TEST_P(ChangingFile, IsWrittenWhereTheDaemonMayHaveBeenTheLast) {
    const ReplayPlan replay_plan = Journal{}
                                       .group({a_file(1, "/a", quiet), put(0, "x")})
                                       .group({{RecordKind::changing, 1, 0, {}}})
                                       .group({})
                                       .only();
    EXPECT_EQ(judge(replay_plan, found_with(GetParam().stamp)), GetParam().verdict)
        << GetParam().what;
}

INSTANTIATE_TEST_SUITE_P(
    Tables, ChangingFile,
    testing::Values(Judged{"while it lived", {7, second, second}, Verdict::apply},
                    Judged{"just behind", {7, 5, 3 * second + slack_ns}, Verdict::apply},
                    Judged{"later", {7, 5, 3 * second + slack_ns + 1}, Verdict::changed}));

TEST(JournalVerdict, CountsTheLifeInWhichTheFileWasChanged) {
    Journal two_lives;
    two_lives.group({a_file(1, "/a", quiet), put(0, "x"), {RecordKind::changing, 1, 0, {}}})
        .group({{RecordKind::life, 0, 0, {}}})
        .group({});
    const FoundFile late = found_with({7, 5, 2 * second + slack_ns});
    EXPECT_EQ(judge(two_lives.only(), late), Verdict::changed) << "it lived until second 1";
    two_lives.group({{RecordKind::changing, 1, 0, {}}});
    EXPECT_EQ(judge(two_lives.only(), late), Verdict::apply) << "the second one goes on with it";
}

TEST(JournalVerdict, KnowsTheFile) {
    const ReplayPlan replay_plan = Journal{}.group({a_file(1, "/a", quiet), put(0, "x")}).only();
    EXPECT_EQ(judge(replay_plan, std::nullopt), Verdict::missing);
    FoundFile other = found_with(quiet.stamp);
    other.inode = 9;
    EXPECT_EQ(judge(replay_plan, other), Verdict::other);
    other = found_with(quiet.stamp);
    other.generation = 4;
    EXPECT_EQ(judge(replay_plan, other), Verdict::other) << "the inode was used again";
    other.generation = 0;
    EXPECT_EQ(judge(replay_plan, other), Verdict::apply) << "the file system does not tell";
}

}  // namespace
}  // namespace forebay::pool::journal
