// Command lines, directives and scripts as in sites' documents.
#include "benchmarks/ior/parse.hpp"

#include "benchmarks/ior/option_table.hpp"

#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

namespace forebay::ior {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> split(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        words.push_back(word);
    }
    return words;
}

Result<ParsedOptions> parsed(const std::string& line) { return parse_words(split(line)); }

IorOptions options(const std::string& line) {
    const auto made = parsed(line);
    EXPECT_TRUE(made.has_value()) << line << ": " << (made ? "" : made.error().message);
    return made ? made->options : IorOptions{};
}

std::string complaint(const std::string& line) {
    auto made = parsed(line);
    if (!made) {
        return made.error().message;
    }
    const auto checked = check_options(*made);
    return checked ? "" : checked.error().message;
}

// IOR itself parses -t4k -b1m -i2 as flags, sets keepFile and multiFile and leaves files behind.
TEST(Parse, attached_values_are_values_and_not_flags) {
    const IorOptions o = options("-t4k -b1m -i2 -o tf");
    EXPECT_EQ(o.transfer_bytes, 4096);
    EXPECT_EQ(o.block_bytes, 1 << 20);
    EXPECT_EQ(o.repetitions, 2);
    EXPECT_FALSE(o.keep_file);
    EXPECT_FALSE(o.multi_file);
    EXPECT_EQ(o.test_file, "tf");
}

TEST(Parse, every_way_to_give_a_value) {
    for (const char* line : {"-t 4k", "-t4k", "-t=4k", "-Ft4k", "-F -t 4K", "-O transferSize=4k",
                             "-OtransferSize=4k", "-O=TRANSFERSIZE=4k,filePerProc=1",
                             "--transferSize=4k", "--transferSize 4k", "-t 1m -t 4kb"}) {
        EXPECT_EQ(options(line).transfer_bytes, 4096) << line;
    }
    EXPECT_EQ(options("-G -1384958602").signature, -1384958602);
    EXPECT_EQ(options("-G=-311476410").signature, -311476410);
}

TEST(Parse, flags_alone_in_groups_and_with_values) {
    const IorOptions o = options("-wr -vvv -F=1 -C=0 -z -z --posix.odirect -O checkRead=1,fsync");
    EXPECT_TRUE(o.write && o.read && o.file_per_process && o.check_read && o.fsync);
    EXPECT_FALSE(o.reorder_constant);
    EXPECT_EQ(o.verbose, 3);
    EXPECT_EQ(o.random_offset, 2);
    EXPECT_TRUE(o.posix.odirect);
    EXPECT_EQ(options("-O verbose=2 -v").verbose, 3);
    EXPECT_TRUE(options("--dryRun").own.dry_run && options("--dry-run").own.dry_run);
}

// Regression: --posix.odirect=TRUE was the only refusal among 1,355 lines of real use.
TEST(Parse, a_flag_may_be_true_or_false_in_words) {
    for (const char* yes : {"TRUE", "true", "yes", "on", "1", "2"}) {
        EXPECT_TRUE(options(std::string("--posix.odirect=") + yes).posix.odirect) << yes;
        EXPECT_TRUE(options(std::string("-O filePerProc=") + yes).file_per_process) << yes;
    }
    for (const char* no : {"FALSE", "false", "no", "off", "0"}) {
        EXPECT_FALSE(options(std::string("--posix.odirect=") + no).posix.odirect) << no;
    }
    EXPECT_THAT(complaint("--posix.odirect=maybe"), HasSubstr("maybe"));
}

TEST(Parse, a_flag_behind_two_dashes_is_taken) {
    EXPECT_TRUE(options("-a DUMMY -- -F").file_per_process);
    EXPECT_EQ(options("-a DUMMY -- --dummy.delay-xfer=1000").dummy.delay_transfer_us, 1000);
    const auto old = parsed("-a DUMMY -- --delay-xfer=1000 -F");
    ASSERT_TRUE(old.has_value());
    EXPECT_FALSE(old->options.file_per_process);
    EXPECT_THAT(old->advice, testing::ElementsAre(HasSubstr("what follows -- is ignored")));
}

TEST(Parse, queue_depth_mix_and_rates_have_the_names_of_fio_and_elbencho) {
    const IorOptions o =
        options("--iodepth=8 --rwmixpct 30 --limitwrite=100m --limitread=2GB/s -w");
    EXPECT_EQ(o.own.queue_depth, 8);
    EXPECT_EQ(o.own.read_percent, 30);
    EXPECT_EQ(o.own.write_rate_max, 100 << 20);
    EXPECT_EQ(o.own.read_rate_max, 2'000'000'000);
    EXPECT_EQ(options("--rwmixread=70").own.read_percent, 70);
    EXPECT_FALSE(options("--rwmixpct=30").reads());
    EXPECT_THAT(complaint("--rwmixpct=30 -w -r"), HasSubstr("--rwmixpct"));
    EXPECT_THAT(complaint("--rwmixpct=101"), HasSubstr("101"));
    EXPECT_THAT(complaint("--iodepth=0"), HasSubstr("--iodepth 0"));
    EXPECT_THAT(complaint("--iodepth=4 -a MPIIO"), HasSubstr("POSIX"));
    EXPECT_THAT(complaint("--iodepth=4 -Y"), HasSubstr("-Y"));
    EXPECT_THAT(complaint("--limitread=-1"), HasSubstr("--limitread"));
}

TEST(Parse, queued_transfers_of_4_GiB_are_refused) {
    // Regression: the size wrapped around to 0.
    const auto message = complaint("--iodepth=2 -t 4g -b 4g");
    EXPECT_THAT(message, HasSubstr("-t 4294967296 cannot be had with --iodepth"));
    EXPECT_EQ(options("--iodepth=2 -t 4294967288 -b 4294967288").own.queue_depth, 2);
    EXPECT_EQ(options("--iodepth=1 -t 4g -b 4g").own.queue_depth, 1);
}

TEST(Parse, what_is_not_understood_is_named) {
    EXPECT_THAT(complaint("--bogus"), HasSubstr("--bogus"));
    EXPECT_THAT(complaint("-L"), HasSubstr("-L"));
    EXPECT_THAT(complaint("file"), HasSubstr("\"file\""));
    EXPECT_THAT(complaint("-t"), HasSubstr("-t lacks its value"));
    EXPECT_THAT(complaint("-t big"), HasSubstr("big"));
    EXPECT_THAT(complaint("-O nonsense=1"), HasSubstr("nonsense"));
    EXPECT_THAT(complaint("-O testFile"), HasSubstr("testFile"));
    EXPECT_THAT(complaint("--dfsx.pool=a"), HasSubstr("--dfsx.pool"));
    EXPECT_THAT(complaint("-F1"), HasSubstr("-1 in -F1"));
}

TEST(Parse, old_spellings_work_with_one_line_of_advice) {
    const auto made = parsed(
        "-B -B -U hints -H -V -p -S -J 1m -n -q -I -P -O lustreStripeCount=4,"
        "gpfsHintAccess=1,beegfsChunkSize=1m,quitOnError=1,storeFileOffset=1");
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_TRUE(made->options.posix.odirect);
    EXPECT_EQ(made->options.mpiio.hints_file, "hints");
    EXPECT_TRUE(made->options.mpiio.show_hints && made->options.mpiio.file_view);
    EXPECT_TRUE(made->options.mpiio.preallocate && made->options.mpiio.strided_datatype);
    EXPECT_EQ(made->options.hdf5.alignment, 1 << 20);
    EXPECT_TRUE(made->options.hdf5.no_fill && made->options.quit_on_error);
    EXPECT_EQ(made->options.posix.stripe_count, 4);
    EXPECT_EQ(made->advice.size(), 15U);
    EXPECT_THAT(made->advice.front(), HasSubstr("-B is an old spelling"));
}

TEST(Parse, options_of_back_ends_that_are_not_built_are_taken) {
    const auto made = parsed("-a DFS --dfs.pool=lrz --dfs.cont cont01 -F --chfs.chunk_size=1m");
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->options.api, "DFS");
    EXPECT_TRUE(made->options.file_per_process);
    EXPECT_EQ(made->advice.size(), 3U);
}

TEST(Parse, what_of_write_and_read_is_meant) {
    EXPECT_TRUE(options("").writes() && options("").reads());
    EXPECT_FALSE(options("-r").writes());
    EXPECT_FALSE(options("-w").reads());
    EXPECT_FALSE(options("-w -W").reads());
    EXPECT_TRUE(options("-R -G 1").reads());
}

TEST(Parse, all_command_lines_of_the_sample) {
    std::ifstream in(std::string(FOREBAY_SOURCE_DIR) +
                     "/tests/reference/ior/command-lines-sample.txt");
    std::size_t count = 0;
    for (std::string line; std::getline(in, line);) {
        auto words = split(line);
        ASSERT_FALSE(words.empty());
        words.erase(words.begin());
        auto made = parse_words(words);
        ASSERT_TRUE(made.has_value()) << line << "\n" << made.error().message;
        const auto checked = check_options(*made);
        EXPECT_TRUE(checked.has_value()) << line << "\n" << checked.error().message;
        ++count;
    }
    EXPECT_EQ(count, 300U);
}

TEST(Check, nonsense_is_refused_with_its_reason) {
    EXPECT_THAT(complaint("-t 3"), HasSubstr("positive multiple of 8"));
    EXPECT_THAT(complaint("-t 0"), HasSubstr("-t 0"));
    EXPECT_THAT(complaint("-t 3m -b 4m"), HasSubstr("multiple of transfer size"));
    EXPECT_THAT(complaint("-s 0"), HasSubstr("-s 0"));
    EXPECT_THAT(complaint("-s 99999999999 -b 1t"), HasSubstr("2^63"));
    EXPECT_THAT(complaint("-C -Z"), HasSubstr("-C and -Z"));
    EXPECT_THAT(complaint("-r -R"), HasSubstr("-G"));
    EXPECT_THAT(complaint("-l zeros"), HasSubstr("zeros"));
    EXPECT_THAT(complaint("-N 0"), HasSubstr("-N 0"));
    EXPECT_THAT(complaint("-D -1"), HasSubstr("negative"));
    EXPECT_THAT(complaint("-O summaryFormat=xml"), HasSubstr("xml"));
    EXPECT_THAT(complaint("-z -t 4k -b 4k -s 10 -F -w -r"), IsEmpty());
}

TEST(Script, tests_inherit_from_the_one_before) {
    const std::string text =
        "# demo\nIOR START\n  api=POSIX\n  testFile=scr.tf\n  blockSize=1m # comment\n"
        "  transferSize=256k\n  RUN\n  filePerProc=1, reorderTasksConstant=1\n  run\n"
        "  api=MPIIO\n  filePerProc=0\n  collective=1\n  RUN\nIOR STOP\nanything\n";
    const auto defaults = parsed("-i 2 -f script");
    const auto tests = parse_script(text, "script", *defaults);
    ASSERT_TRUE(tests.has_value()) << tests.error().message;
    ASSERT_EQ(tests->size(), 3U);
    EXPECT_EQ((*tests)[0].options.repetitions, 2);
    EXPECT_FALSE((*tests)[0].options.file_per_process);
    EXPECT_TRUE((*tests)[1].options.file_per_process);
    EXPECT_EQ((*tests)[2].options.api, "MPIIO");
    EXPECT_TRUE((*tests)[2].options.reorder_constant);
    EXPECT_EQ((*tests)[2].options.block_bytes, 1 << 20);
}

TEST(Script, a_bad_line_is_shown_with_its_number) {
    const auto wrong =
        parse_script("IOR START\napi=POSIX\nbogus=3\nRUN\n", "a.ior", ParsedOptions{});
    ASSERT_FALSE(wrong.has_value());
    EXPECT_THAT(wrong.error().message, HasSubstr("a.ior, line 3: \"bogus=3\""));
    EXPECT_THAT(parse_script("api=POSIX\n", "b", ParsedOptions{}).error().message,
                HasSubstr("IOR START"));
    EXPECT_THAT(parse_script("IOR START\n# api=POSIX\n\nIOR STOP\nRUN\n", "c", ParsedOptions{})
                    .error()
                    .message,
                HasSubstr("RUN"));
}

TEST(Table, has_every_name_and_letter_once) {
    std::map<std::string, int> names;
    std::map<char, int> letters;
    for (const OptionSpec& spec : specs()) {
        if (!spec.name.empty()) {
            std::string name(spec.name);
            std::transform(name.begin(), name.end(), name.begin(), ::tolower);
            EXPECT_EQ(++names[name], 1) << name;
        }
        if (spec.letter != '\0') {
            EXPECT_EQ(++letters[spec.letter], 1) << spec.letter;
        }
    }
    EXPECT_THAT(help_text(), HasSubstr("--posix.odirect"));
}

TEST(Table, help_names_the_default_limits) {
    const command_line::RunLimits limits = IorOptions{}.own.limits;
    EXPECT_FALSE(limits.budget.free_share.has_value());
    EXPECT_THAT(help_text(), HasSubstr("free space: 10%\n"));
    EXPECT_THAT(help_text(), HasSubstr(fmt::format("call takes longer [{:.0f}s]\n",
                                                   limits.stall_seconds.value())));
}

TEST(Script, directives_after_the_last_run_make_one_more_test) {
    const auto made = parse_script(
        "IOR START\napi=POSIX\ntransferSize=10k\nRUN\n\n  api=DUMMY\n  blockSize=4m\n  ior stop\n",
        "s", {});
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->size(), 2U);
    EXPECT_EQ((*made)[0].options.api, "POSIX");
    EXPECT_EQ((*made)[1].options.api, "DUMMY");
    EXPECT_EQ((*made)[1].options.block_bytes, 4 << 20);
    EXPECT_EQ((*made)[1].options.transfer_bytes, 10 << 10);
    EXPECT_EQ((*made)[1].place, "s, line 6: \"api=DUMMY\"");
    const auto one = parse_script("IOR START\n\twriteFile =1\n", "s", {});
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_EQ(one->size(), 1U);
    EXPECT_TRUE((*one)[0].options.write);
}

TEST(Script, options_of_back_ends_may_be_spelled_as_on_the_command_line) {
    const auto made =
        parse_script("IOR START\nRUN\n--dummy.delay-create=1000\napi=dummy\n", "s", {});
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(made->size(), 2U);
    EXPECT_EQ((*made)[0].options.dummy.delay_create_us, 0);
    EXPECT_EQ((*made)[1].options.dummy.delay_create_us, 1000);
}

TEST(Values, times_may_end_in_s_and_sizes_have_a_blank) {
    const std::vector<std::string> words{"-D", "300s", "-t", "1 m", "-O", "minTimeDuration=5s"};
    const auto made = parse_words(words);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->options.stonewall_seconds, 300);
    EXPECT_EQ(made->options.duration_min_seconds, 5);
    EXPECT_EQ(made->options.transfer_bytes, 1 << 20);
    EXPECT_FALSE(parse_words(std::vector<std::string>{"-T", "300s"}));
}

TEST(Check, what_has_no_effect_is_said) {
    const std::vector<std::vector<std::string>> lines{{"-y", "-F"},
                                                      {"--posix.lustre.ignorelocks"},
                                                      {"-a", "HDF5", "-z", "--randomPrefill=64k"},
                                                      {"-a", "NCMPI", "-E"}};
    for (const auto& words : lines) {
        auto made = parse_words(words);
        ASSERT_TRUE(made && check_options(*made));
        EXPECT_EQ(made->advice.size(), 1U) << words.front();
        EXPECT_EQ(made->options.random_prefill, 0);
    }
}

}  // namespace
}  // namespace forebay::ior
