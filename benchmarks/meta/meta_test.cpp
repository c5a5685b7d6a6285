// mdtest's command lines, trees, names and table; the storm's ramp.
#include "benchmarks/meta/command.hpp"

#include "benchmarks/command_line/options.hpp"
#include "benchmarks/meta/table.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace forebay::meta {
namespace {

Result<MetaCommand> parse(const std::string& line) {
    return parse_command(command_line::split(line, ' '));
}

TEST(DirectoryTree, CountsAndPaths) {
    const DirectoryTree tree{.branches = 3, .depth = 2};
    EXPECT_EQ(tree.directories(), 13);
    EXPECT_EQ(tree.leaves(), 9);
    EXPECT_EQ(tree.path("/b", 5, 0), "/b/mdtest_tree.5.0");
    EXPECT_EQ(tree.path("/b", 5, 7), "/b/mdtest_tree.5.0/mdtest_tree.5.2/mdtest_tree.5.7");
    EXPECT_EQ((DirectoryTree{.branches = 1, .depth = 4}.directories()), 5);
    std::set<std::string> all;
    for (std::int64_t number = 0; number < tree.directories(); ++number) {
        all.insert(tree.path("", std::nullopt, number));
    }
    EXPECT_EQ(all.size(), 13U);
    EXPECT_FALSE(checked({.branches = 0}));
    EXPECT_FALSE(checked({.branches = 10, .depth = 30}));
    EXPECT_FALSE(checked({.branches = 1, .depth = 1'000'000'000}));
}

// Regression: files of mdtest, or of a run with another number of ranks, could not be read, because
// ours were in test-dir.0-<tasks>/mdtest_tree.0.0.
TEST(DirectoryTree, NamesAreThoseOfMdtest) {
    const DirectoryTree tree{.branches = 3, .depth = 2};
    EXPECT_EQ(base_name(2), "test-dir.2-0");
    EXPECT_EQ(tree.path("/b", std::nullopt, 0), "/b/mdtest_tree.0");
    EXPECT_EQ(tree.path("/b", std::nullopt, 7), "/b/mdtest_tree.0/mdtest_tree.2/mdtest_tree.7");
    EXPECT_EQ(item_name(ItemKind::file, 3, 17), "file.mdtest.3.17");
    EXPECT_EQ(item_name(ItemKind::directory, 0, 0), "dir.mdtest.0.0");
    EXPECT_EQ(item_name(ItemKind::file, std::nullopt, 4), "file.mdtest.shared.4");
    EXPECT_EQ(tree.named(34, 5), 34);
    // With -L, four inner directories of five items each would precede the first leaf.
    const DirectoryTree leaves{.branches = 3, .depth = 2, .items_at = ItemLevel::leaves};
    EXPECT_EQ(leaves.named(0, 5), 20);
    EXPECT_EQ(leaves.holder_of(0, 5), 4);
    EXPECT_EQ(leaves.named(44, 5), 64);
    EXPECT_EQ(leaves.holder_of(44, 5), 12);
}

TEST(DirectoryTree, ItemsAreSpreadOverHolders) {
    const DirectoryTree leaves{.branches = 2, .depth = 2, .items_at = ItemLevel::leaves};
    EXPECT_EQ(leaves.holder_of(0, 5), 3);
    EXPECT_EQ(leaves.holder_of(19, 5), 6);
    const DirectoryTree every{.branches = 2, .depth = 2};
    EXPECT_EQ(every.holder_of(0, 5), 0);
    EXPECT_EQ(every.holder_of(34, 5), 6);
}

TEST(DirectoryTree, StridesGoToTheNextNode) {
    using Nodes = std::vector<std::int32_t>;
    EXPECT_EQ(shift_of(1, Nodes{0}, 1), 0);
    EXPECT_EQ(shift_of(1, Nodes{0, 0, 0}, 3), 1);
    EXPECT_EQ(shift_of(5, Nodes{0, 0, 0}, 3), 2);
    EXPECT_EQ(shift_of(1, Nodes{0, 0, 2, 2, 4, 4}, 6), 2);  // by block
    EXPECT_EQ(shift_of(1, Nodes{0, 1, 0, 1}, 4), 1);        // round robin
    // Three nodes of five ranks are 15 ranks, and 15 mod 4 tasks is 3.
    EXPECT_EQ(shift_of(3, Nodes{0, 0, 0, 0, 0, 5}, 4), 3);
    EXPECT_EQ(shift_of(std::numeric_limits<std::int64_t>::max(), Nodes{0, 0, 2, 2}, 4), 2);
}

TEST(MetaCommand, TheReferencesLine) {
    const MetaCommand request = parse("-n 200 -d ./md -i 3 -u").value();
    EXPECT_EQ(request.items, 200);
    EXPECT_EQ(request.directories, std::vector<std::string>{"./md"});
    EXPECT_TRUE(request.unique_tree);
    EXPECT_TRUE(request.creates && request.stats && request.reads && request.removes);
}

TEST(MetaCommand, LinesOfIo500) {
    const MetaCommand easy =
        parse("-n 1000000 -u -L -F -P -N 1 -d ./d@./e -x ./x.stonewall -C -Y -W 300 -a POSIX")
            .value();
    EXPECT_TRUE(easy.creates);
    EXPECT_FALSE(easy.stats || easy.reads || easy.removes || easy.folders);
    EXPECT_EQ(easy.stonewall_seconds, 300);
    EXPECT_EQ(easy.directories.size(), 2U);
    const MetaCommand hard =
        parse("-n=10 -t -w=3901 -e=3901 -P -G=-1384958602 -N=1 -F -X -E").value();
    EXPECT_EQ(hard.write_bytes, 3901);
    EXPECT_TRUE(hard.verify_read && hard.reads);
    EXPECT_FALSE(hard.creates);
}

TEST(MetaCommand, AFlagBehindTwoDashesIsTaken) {
    EXPECT_TRUE(parse("-n 4 -- -u").value().unique_tree);
}

TEST(MetaCommand, OldSpellings) {
    EXPECT_FALSE(parse("-n 10 -B -C").value().barriers);
    EXPECT_FALSE(parse("-n 10 -B").value().barriers);
    EXPECT_TRUE(parse("-n 10 -B=0").value().barriers);
    EXPECT_EQ(parse("-n 10 -R 7").value().seed, 7U);
    EXPECT_TRUE(parse("-n 10 -R7 -T").value().random_stat);
    EXPECT_TRUE(parse("-n 10 -RT").value().random_stat);
    EXPECT_EQ(parse("-n 10 -g --posix.odirect --dummy.delay-xfer=5").value().advice.size(), 3U);
}

TEST(MetaCommand, OptionsOfBackEndsAreNoNonsense) {
    EXPECT_EQ(parse("-n 4 --mpiio.showHints --mpiio.hintsFileName h -F").value().advice.size(), 2U);
    const auto refused = parse("-a DFS --dfs.pool=x --dfs.cont y -n 4");
    EXPECT_NE(refused.error().message.find("not built: DFS ("), std::string::npos);
    EXPECT_FALSE(parse("-n 4 --possix.odirect"));
    EXPECT_EQ(parse("-n 4 -W 300s").value().stonewall_seconds, 300);
}

TEST(MetaCommand, ItemsOfATree) {
    EXPECT_EQ(parse("-n 100 -b 3 -z 2").value().items, 91);
    EXPECT_EQ(parse("-I 10 -b 3 -z 2").value().items, 130);
    EXPECT_EQ(parse("-I 10 -b 3 -z 2 -L").value().items, 90);
    EXPECT_EQ(parse("-n 90 -I 10 -b 3 -z 2 -L").value().items, 90);
}

TEST(MetaCommand, NonsenseIsNamed) {
    for (const char* bad :
         {"", "-n 0", "-n 1 -b 3 -z 2", "-n 4 -D -F", "-n 4 -S", "-n 4 -a DFS", "-n 4 -w 1 -e 2",
          "-n 4 --storm nothing", "-n x", "-n 4 word", "--storm all --ranks 0", "-n 4 -q",
          "-n 4 -k -w 1", "-n 4 -k -E -e 1", "-n 100 -I 10", "-n 4 -d=", "-n 4 -d md@"}) {
        const auto request = parse(bad);
        ASSERT_FALSE(request) << bad;
        EXPECT_GT(request.error().message.size(), 10U);
    }
    EXPECT_NE(parse("-n 4 -a DFS").error().message.find("not built: DFS"), std::string::npos);
}

TEST(MetaCommand, RampAndEstimate) {
    using Ramp = std::vector<std::int64_t>;
    EXPECT_EQ(ramp_of(parse("--storm all").value(), 7).value(), (Ramp{1, 2, 4, 7}));
    EXPECT_EQ(ramp_of(parse("--storm all").value(), 1).value(), (Ramp{1}));
    EXPECT_EQ(ramp_of(parse("--storm all --ranks 1,3").value(), 4).value(), (Ramp{1, 3}));
    EXPECT_FALSE(ramp_of(parse("--storm all --ranks 5").value(), 4));
    EXPECT_EQ(ramp_of(parse("-n 1 -l 3").value(), 4).value(), (Ramp{1, 2, 3}));
    EXPECT_EQ(ramp_of(parse("-n 1 -f 3").value(), 4).value(), (Ramp{3, 4}));
    EXPECT_EQ(ramp_of(parse("-n 1 -f 1 -l 4 -s 2").value(), 4).value(), (Ramp{1, 3}));
    const auto files = estimate(parse("-n 10 -i 2 -w 100").value(), 4).value();
    EXPECT_EQ(files.files, 2 * (80 + 1));
    EXPECT_EQ(files.bytes_written, 2 * 40 * 100);
    // A shared tree exists in each directory of -d that a rank uses.
    EXPECT_EQ(estimate(parse("-n 10 -d a@b@c").value(), 2).value().files, 2 * 20 + 2);
}

TEST(MetaCommand, SharedFilesAreCountedOnce) {
    // Regression: they were counted for each rank, although the help speaks of one file.
    const auto shared = estimate(parse("-S -F -n 10 -w 4096 -e 4096").value(), 4).value();
    EXPECT_EQ(shared.files, 10 + 1);
    EXPECT_EQ(shared.bytes_written, 4 * 10 * 4096);
    EXPECT_EQ(shared.bytes_read, 4 * 10 * 4096);
    EXPECT_EQ(shared.bytes_kept_max, 10 * 4096 + 11 * 4096);
    EXPECT_EQ(estimate(parse("-S -F -n 10 -d a@b@c").value(), 2).value().files, 2 * (10 + 1));
    EXPECT_EQ(estimate(parse("-S -F -n 10 -u").value(), 4).value().files, 4 * (10 + 1));
    EXPECT_NE(help_text().find("files that all ranks open"), std::string::npos);
}

TEST(MetaCommand, HelpNamesTheDefaultLimits) {
    EXPECT_NE(help_text().find("10% [50%]\n"), std::string::npos);
    EXPECT_NE(help_text().find("call takes longer [600s]\n"), std::string::npos);
}

TEST(MetaCommand, EstimateOfNonsenseDoesNotWrap) {
    constexpr auto most = std::numeric_limits<std::int64_t>::max();
    for (const char* line : {"-n 9000000000000000000", "-n 9000000000000000000 --storm all"}) {
        const auto request = parse(line).value();
        const auto total = estimate(request, 4).value();
        EXPECT_EQ(total.files, most) << line;
        EXPECT_EQ(total.bytes_kept_max, most) << line;
        EXPECT_FALSE(measure::allowed(total, request.limits.budget, std::int64_t{1} << 40)) << line;
    }
    EXPECT_FALSE(parse("-I 9000000000000000000 -b 3 -z 2"));
}

TEST(Table, IsMdtests) {
    // The row of 40-mdtest.txt: three rates whose mean and deviation are known.
    const std::string text = summary_table({{"Directory creation", {7434.501, 6254.974, 7141.580}}},
                                           TableUnit::operations_per_second);
    EXPECT_EQ(text.substr(0, text.find("614.16")),
              "SUMMARY rate (in ops/sec): (of 3 iterations)\n"
              "   Operation                     Max            Min           Mean        Std Dev\n"
              "   ---------                     ---            ---           ----        -------\n"
              "   Directory creation           7434.501       6254.974       6943.685        ");
    EXPECT_EQ(summary_table({}, TableUnit::seconds).substr(0, 40),
              "SUMMARY time (in ms/op): (of 0 iteration");
}

}  // namespace
}  // namespace forebay::meta
