// Command lines and settings of the daemon.
#include "pool/daemon/options.hpp"

#include <gmock/gmock.h>
#include <initializer_list>
#include <vector>

namespace forebay::daemon {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;
constexpr std::int64_t second = 1'000'000'000;
const NodeFacts around{.memory = {.bytes = 100 * gibibyte},
                       .folder = "/w",
                       .temporary_folder = "/t",
                       .host = "n%n",
                       .job_end_s = 1'800'000'000};

Result<ServerOptions> read(std::initializer_list<const char*> words,
                           const UserSettings& settings = {},
                           const NodeFacts& surroundings = around) {
    std::vector<std::string> texts{words.begin(), words.end()};
    std::vector<char*> pointers;
    pointers.reserve(texts.size());
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    return options_of(pointers, settings, surroundings);
}

TEST(ServerOptions, ComeFromSettings) {
    UserSettings settings;
    ASSERT_TRUE(settings.set(Setting::pool_window, "1 GiB"));
    ASSERT_TRUE(settings.set(Setting::pool_age, "7"));
    ASSERT_TRUE(settings.set(Setting::pool_quiet, "9"));
    ASSERT_TRUE(settings.set(Setting::pool_durability, "global"));
    ASSERT_TRUE(settings.set(Setting::pool_consistency, "paper"));
    ASSERT_TRUE(settings.set(Setting::storage, "posix"));
    const auto options = read({"--socket", "s/x"}, settings);
    ASSERT_TRUE(options.has_value());
    EXPECT_EQ(options->socket, "/w/s/x");
    EXPECT_EQ(options->daemon.pool.window_bytes, gibibyte);
    EXPECT_EQ(options->daemon.pool.age_max_ns, 7'000'000'000);
    EXPECT_EQ(options->daemon.pool.quiet_ns, 9'000'000);
    EXPECT_EQ(options->daemon.storage, adapters::StoragePreference::posix);
    EXPECT_TRUE(options->daemon.through);
    EXPECT_EQ(options->daemon.pool.consistency, pool::CacheConsistency::paper);
    EXPECT_EQ(read({"--socket", "s/x"})->daemon.pool.consistency, pool::CacheConsistency::pool);
    EXPECT_EQ(options->daemon.pool.cap_bytes, 10 * gibibyte);
}

TEST(ServerOptions, AControlGroupBoundsTheCapAndThatIsSaid) {
    EXPECT_GT(probe_node().memory.bytes, 0);
    NodeFacts small = around;
    small.memory = {.bytes = 120 << 20, .file = "/cg/memory.max"};
    EXPECT_EQ(read({"--socket", "/s/x"}, {}, small)->daemon.pool.cap_bytes, 30 << 20);
    EXPECT_TRUE(read({"--socket", "/s/x"}, {}, small)->daemon.notes.empty());
    UserSettings settings;
    ASSERT_TRUE(settings.set(Setting::pool_cap, "1 GiB"));
    const DaemonOptions daemon = read({"--socket", "/s/x"}, settings, small)->daemon;
    EXPECT_EQ(daemon.pool.cap_bytes, 60 << 20);
    EXPECT_EQ(daemon.memory, small.memory);
    EXPECT_EQ(daemon.storage, adapters::StoragePreference::written_out);
    EXPECT_THAT(daemon.notes, ElementsAre(HasSubstr("/cg/memory.max allows 120 MiB")));
    EXPECT_EQ(read({"--socket", "/s/x"}, settings)->daemon.pool.cap_bytes, gibibyte);
}

TEST(ServerOptions, ACapOfAFewBytesIsTheLeastWithWhichAPoolWorks) {
    UserSettings settings;
    ASSERT_TRUE(settings.set(Setting::pool_cap, "32"));
    const DaemonOptions daemon = read({"--socket", "/s/x"}, settings)->daemon;
    EXPECT_EQ(daemon.pool.cap_bytes, pool::cap_least);
    EXPECT_THAT(daemon.notes, ElementsAre(HasSubstr("32 bytes")));
}

TEST(ServerOptions, TheJobEndsWhenTheUserSaysOrElseTheBatchSystem) {
    const DaemonOptions usual = read({"--socket", "/s/x"})->daemon;
    EXPECT_EQ(usual.job_end_ns, 1'800'000'000 * second);
    EXPECT_EQ(usual.job_margin_ns, 60 * second);
    UserSettings settings;
    ASSERT_TRUE(settings.set(Setting::pool_job_end, "1900000000"));
    ASSERT_TRUE(settings.set(Setting::pool_deadline, "300"));
    const DaemonOptions told = read({"--socket", "/s/x"}, settings)->daemon;
    EXPECT_EQ(told.job_end_ns, 1'900'000'000 * second);
    EXPECT_EQ(told.job_margin_ns, 300 * second);
    ASSERT_TRUE(settings.set(Setting::pool_deadline, "0"));
    EXPECT_EQ(read({"--socket", "/s/x"}, settings)->daemon.job_end_ns, pool::DrainDeadline::never);
}

TEST(ServerOptions, TheJournalIsOfItsNode) {
    const auto journal = [](const char* folder) {
        UserSettings settings;
        EXPECT_TRUE(settings.set(Setting::pool_journal, folder));
        return read({"--socket", "/s/x", "--node", "3", "--nodes", "4"}, settings)
            ->daemon.journal.folder;
    };
    EXPECT_EQ(journal("/j"), "/j");
    EXPECT_EQ(journal("j-%n/%n"), "/w/j-3/3");
    EXPECT_EQ(journal("/j-%h-%n%h"), "/j-n%n-3n%n");
    EXPECT_EQ(journal("/100%/j"), "/100%/j");
    EXPECT_FALSE(probe_node().host.empty());
}

TEST(ServerOptions, TheJournalWritesBelowThePathsOfThePool) {
    UserSettings settings;
    ASSERT_TRUE(settings.set(Setting::pool_journal, "/j"));
    EXPECT_THAT(read({"--socket", "/s/x"}, settings)->daemon.journal.below, testing::IsEmpty());
    ASSERT_TRUE(settings.set(Setting::pool_paths, "/nowhere/a,b"));
    EXPECT_THAT(read({"--socket", "/s/x"}, settings)->daemon.journal.below,
                testing::ElementsAre("/nowhere/a", "/w/b"));
}

TEST(ServerOptions, RescueFoldersAreTheCommandLinesThenTheSettingsThenUsual) {
    EXPECT_THAT(read({"--socket", "/s/x"})->rescue_folders, ElementsAre("/w", "/t"));
    UserSettings settings;
    ASSERT_TRUE(settings.set(Setting::pool_rescue, "/a,b"));
    EXPECT_THAT(read({"--socket", "/s/x"}, settings)->rescue_folders, ElementsAre("/a", "/w/b"));
    EXPECT_THAT(
        read({"--rescue", "/c", "--socket", "/s/x", "--rescue", "d"}, settings)->rescue_folders,
        ElementsAre("/c", "/w/d"));
}

TEST(ServerOptions, SamplesAreTakenWhereTheyAreAskedFor) {
    EXPECT_EQ(read({"--socket", "/s/x"})->daemon.samples_max, 0U);
    EXPECT_EQ(read({"--samples", "400", "--socket", "/s/x"})->daemon.samples_max, 400U);
}

TEST(ServerOptions, SayWhatIsWrong) {
    EXPECT_THAT(read({}).error().message, HasSubstr("names no socket"));
    EXPECT_THAT(read({"--sockets", "x"}).error().message, HasSubstr("--sockets"));
    EXPECT_THAT(read({"--socket"}).error().message, HasSubstr("no value"));
    EXPECT_THAT(read({"--socket", "/s/x", "--samples", "1001"}).error().message,
                HasSubstr("no number that makes sense"));
}

}  // namespace
}  // namespace forebay::daemon
