// See option_table.hpp. A row is an option; to add one, add a row (and a member to Options).
#include "benchmarks/ior/option_table.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace forebay::ior {

namespace {

// The member that a row sets.
template <auto outer>
auto& at(Options& options) noexcept {
    return options.*outer;
}
template <auto outer, auto inner>
auto& in(Options& options) noexcept {
    return options.*outer.*inner;
}

constexpr auto posix = &Options::posix;
constexpr auto mpiio = &Options::mpiio;
constexpr auto hdf5 = &Options::hdf5;
constexpr auto dummy = &Options::dummy;
constexpr auto mmap = &Options::mmap;
constexpr auto own = &Options::own;

constexpr Spec limit(std::size_t which) noexcept {
    const command_line::Option& option = command_line::limit_options.at(which);
    return {'\0', option.name, Kind::limit, Limit{which}, option.meaning, ""};
}

constexpr std::array<Spec, 145> table{{
    {'a', "api", Kind::text, Text{at<&Options::api>},
     "back end: POSIX, MPIIO, HDF5, NCMPI, MMAP or DUMMY", ""},
    {'A', "refNum", Kind::number, Number{at<&Options::reference_number>},
     "number shown in the summary", ""},
    {'b', "blockSize", Kind::size, Number{at<&Options::block_bytes>},
     "contiguous bytes of a task in a segment", ""},
    {'c', "collective", Kind::flag, Flag{at<&Options::collective>}, "collective I/O", ""},
    {'C', "reorderTasksConstant", Kind::flag, Flag{at<&Options::reorder_constant>},
     "read what another task wrote: -Q nodes further", ""},
    {'\0', "reorderTasks", Kind::flag, Flag{at<&Options::reorder_constant>}, "", ""},
    {'d', "interTestDelay", Kind::number, Number{at<&Options::delay_between_tests>},
     "seconds between phases", ""},
    {'D', "deadlineForStonewalling", Kind::number, Number{at<&Options::stonewall_seconds>},
     "seconds after which a phase stops", ""},
    {'e', "fsync", Kind::flag, Flag{at<&Options::fsync>}, "fsync before close", ""},
    {'E', "useExistingTestFile", Kind::flag, Flag{at<&Options::use_existing>},
     "do not remove the file before writing", ""},
    {'f', "scriptFile", Kind::text, Text{at<&Options::script_file>},
     "script of directives: IOR START … RUN … IOR STOP", ""},
    {'F', "filePerProc", Kind::flag, Flag{at<&Options::file_per_process>},
     "a file of its own for each task", ""},
    {'g', "intraTestBarriers", Kind::flag, Flag{at<&Options::barriers>},
     "barriers between open, transfers and close", ""},
    {'G', "setTimeStampSignature", Kind::number, Number{at<&Options::signature>},
     "seed of the data; needed to check what another run wrote", ""},
    {'i', "repetitions", Kind::number, Number{at<&Options::repetitions>}, "how often the test runs",
     ""},
    {'j', "outlierThreshold", Kind::number, Number{at<&Options::outlier_seconds>},
     "warn of ranks more than so many seconds from the mean", ""},
    {'k', "keepFile", Kind::flag, Flag{at<&Options::keep_file>}, "keep the files", ""},
    {'K', "keepFileWithError", Kind::flag, Flag{at<&Options::keep_file_with_error>},
     "keep files in which wrong data was found", ""},
    {'l', "dataPacketType", Kind::text, Text{at<&Options::packet_type>},
     "timestamp, offset, incompressible or random", ""},
    {'m', "multiFile", Kind::flag, Flag{at<&Options::multi_file>},
     "a file of its own for each repetition", ""},
    {'M', "memoryPerNode", Kind::text, Text{at<&Options::memory_per_node>},
     "memory to occupy on each node: 2g or 75%", ""},
    {'\0', "memoryPerTask", Kind::text, Text{at<&Options::memory_per_task>},
     "memory to occupy in each task", ""},
    {'N', "numTasks", Kind::number, Number{at<&Options::tasks>}, "tasks that take part", ""},
    {'o', "testFile", Kind::text, Text{at<&Options::test_file>}, "file name; a@b@c takes turns",
     ""},
    {'Q', "taskPerNodeOffset", Kind::number, Number{at<&Options::task_per_node_offset>},
     "nodes between writer and reader for -C and -Z", ""},
    {'r', "readFile", Kind::flag, Flag{at<&Options::read>}, "read", ""},
    {'R', "checkRead", Kind::flag, Flag{at<&Options::check_read>}, "check the data while reading",
     ""},
    {'s', "segmentCount", Kind::number, Number{at<&Options::segments>}, "number of segments", ""},
    {'t', "transferSize", Kind::size, Number{at<&Options::transfer_bytes>}, "bytes of one transfer",
     ""},
    {'T', "maxTimeDuration", Kind::number, Number{at<&Options::duration_max_minutes>},
     "minutes after which no further phase begins", ""},
    {'u', "uniqueDir", Kind::flag, Flag{at<&Options::unique_directory>},
     "a directory of its own for each file of -F", ""},
    {'v', "verbose", Kind::count, Number{at<&Options::verbose>}, "say more; repeat", ""},
    {'w', "writeFile", Kind::flag, Flag{at<&Options::write>}, "write", ""},
    {'W', "checkWrite", Kind::flag, Flag{at<&Options::check_write>},
     "read back and check after writing", ""},
    {'x', "singleXferAttempt", Kind::flag, Flag{at<&Options::single_attempt>},
     "take a short transfer for an error", ""},
    {'X', "reorderTasksRandomSeed", Kind::number, Number{at<&Options::reorder_seed>},
     "seed of -Z; negative: another for each repetition", ""},
    {'y', "dualMount", Kind::flag, Flag{at<&Options::dual_mount>},
     "two mount points, chosen by node parity", ""},
    {'Y', "fsyncPerWrite", Kind::flag, Flag{at<&Options::fsync_per_write>},
     "fsync after each write", ""},
    {'z', "randomOffset", Kind::count, Number{at<&Options::random_offset>},
     "offsets in shuffled order; twice: random, may overlap", ""},
    {'Z', "reorderTasksRandom", Kind::count, Number{at<&Options::reorder_random>},
     "read what a random task wrote; twice: a permutation", ""},
    {'h', "showHelp", Kind::count, Number{at<&Options::show_help>}, "this text", ""},
    {'\0', "help", Kind::count, Number{at<&Options::show_help>}, "", ""},
    {'\0', "randomPrefill", Kind::size, Number{at<&Options::random_prefill>},
     "write the file in such pieces before random writes", ""},
    {'\0', "random-offset-seed", Kind::number, Number{at<&Options::random_offset_seed>},
     "seed of -z", ""},
    {'\0', "randomOffsetSeed", Kind::number, Number{at<&Options::random_offset_seed>}, "", ""},
    {'\0', "warningAsErrors", Kind::flag, Flag{at<&Options::warnings_are_errors>},
     "take any warning for an error", ""},
    {'\0', "dryRun", Kind::flag, Flag{in<own, &OwnOptions::dry_run>},
     "do nothing but parse, estimate and say", ""},
    {'\0', "dry-run", Kind::flag, Flag{in<own, &OwnOptions::dry_run>}, "", ""},
    {'\0', "stoneWallingWearOut", Kind::flag, Flag{at<&Options::wear_out>},
     "after -D, every task goes on to what the fastest did", ""},
    {'\0', "stoneWallingWearOutIterations", Kind::number, Number{at<&Options::wear_out_iterations>},
     "transfers of each task with wear-out", ""},
    {'\0', "stoneWallingStatusFile", Kind::text, Text{at<&Options::stonewall_status_file>},
     "keeps the number of transfers for a later read", ""},
    {'\0', "minTimeDuration", Kind::number, Number{at<&Options::duration_min_seconds>},
     "repeat from the beginning of the file for so long", ""},
    {'\0', "summaryFile", Kind::text, Text{at<&Options::summary_file>}, "where the summary goes",
     ""},
    {'\0', "summaryFormat", Kind::text, Text{at<&Options::summary_format>}, "default, JSON or CSV",
     ""},
    {'\0', "summaryAlways", Kind::flag, Flag{at<&Options::ignored_flag>}, "", ""},
    {'\0', "saveRankPerformanceDetailsCSV", Kind::text, Text{at<&Options::rank_details_file>},
     "a line for each rank and phase", ""},
    {'\0', "savePerOpDataCSV", Kind::text, Text{at<&Options::operations_prefix>},
     "a line for each transfer, in FILE-rank", ""},
    {'\0', "interIODelay", Kind::number, Number{at<&Options::delay_between_transfers_us>},
     "microseconds between transfers", ""},
    {'\0', "quitOnError", Kind::flag, Flag{at<&Options::quit_on_error>},
     "stop at the first wrong data", ""},
    {'\0', "debug", Kind::text, Text{at<&Options::ignored_text>}, "", ""},
    {'\0', "platform", Kind::text, Text{at<&Options::ignored_text>}, "", ""},
    {'\0', "numNodes", Kind::number, Number{at<&Options::ignored_number>}, "",
     "it has no effect; the launcher knows"},
    {'\0', "numTasksOnNode0", Kind::number, Number{at<&Options::ignored_number>}, "",
     "it has no effect; the launcher knows"},
    {'\0', "allocateBufferOnGPU", Kind::number, Number{at<&Options::ignored_number>}, "",
     "GPU buffers are not built; memory of the CPU is used"},
    {'\0', "GPUid", Kind::number, Number{at<&Options::ignored_number>}, "",
     "GPU buffers are not built; memory of the CPU is used"},
    {'\0', "GPUDirect", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPU buffers are not built; memory of the CPU is used"},
    {'\0', "posix.odirect", Kind::flag, Flag{in<posix, &PosixOptions::odirect>},
     "open with O_DIRECT", ""},
    {'\0', "posix.rangelocks", Kind::flag, Flag{in<posix, &PosixOptions::rangelocks>},
     "lock the range of each transfer", ""},
    {'\0', "posix.lustre.stripecount", Kind::number, Number{in<posix, &PosixOptions::stripe_count>},
     "stripe count of new files (Lustre)", ""},
    {'\0', "posix.lustre.stripesize", Kind::size, Number{in<posix, &PosixOptions::stripe_bytes>},
     "stripe size of new files (Lustre)", ""},
    {'\0', "posix.lustre.startost", Kind::number, Number{in<posix, &PosixOptions::start_ost>},
     "first OST of new files (Lustre)", ""},
    {'\0', "posix.lustre.pool", Kind::text, Text{in<posix, &PosixOptions::pool>},
     "pool of new files (Lustre)", ""},
    {'\0', "posix.lustre.ignorelocks", Kind::flag, Flag{in<posix, &PosixOptions::ignore_locks>},
     "without Lustre's locks", ""},
    {'\0', "posix.gpfs.hintaccess", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "posix.gpfs.releasetoken", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "posix.gpfs.finegrainwritesharing", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "posix.gpfs.finegrainreadsharing", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "posix.gpfs.createsharing", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "posix.beegfs.NumTargets", Kind::number, Number{at<&Options::ignored_number>}, "",
     "BeeGFS is not built; set the stripe count with beegfs-ctl"},
    {'\0', "posix.beegfs.ChunkSize", Kind::size, Number{at<&Options::ignored_number>}, "",
     "BeeGFS is not built; set the chunk size with beegfs-ctl"},
    {'\0', "mpiio.hintsFileName", Kind::text, Text{in<mpiio, &MpiioOptions::hints_file>},
     "file of MPI hints, IOR_HINT__MPI__name=value", ""},
    {'\0', "mpiio.showHints", Kind::flag, Flag{in<mpiio, &MpiioOptions::show_hints>},
     "print the hints in effect", ""},
    {'\0', "mpiio.preallocate", Kind::flag, Flag{in<mpiio, &MpiioOptions::preallocate>},
     "preallocate the file", ""},
    {'\0', "mpiio.useStridedDatatype", Kind::flag, Flag{in<mpiio, &MpiioOptions::strided_datatype>},
     "all segments in one call by a datatype", ""},
    {'\0', "mpiio.useFileView", Kind::flag, Flag{in<mpiio, &MpiioOptions::file_view>},
     "transfers through a file view", ""},
    {'\0', "ncmpi.hintsFileName", Kind::text, Text{in<mpiio, &MpiioOptions::hints_file>}, "", ""},
    {'\0', "ncmpi.showHints", Kind::flag, Flag{in<mpiio, &MpiioOptions::show_hints>}, "", ""},
    {'\0', "ncmpi.preallocate", Kind::flag, Flag{in<mpiio, &MpiioOptions::preallocate>}, "", ""},
    {'\0', "ncmpi.useStridedDatatype", Kind::flag, Flag{in<mpiio, &MpiioOptions::strided_datatype>},
     "", ""},
    {'\0', "ncmpi.useFileView", Kind::flag, Flag{in<mpiio, &MpiioOptions::file_view>}, "", ""},
    {'\0', "hdf5.hintsFileName", Kind::text, Text{in<mpiio, &MpiioOptions::hints_file>}, "", ""},
    {'\0', "hdf5.showHints", Kind::flag, Flag{in<mpiio, &MpiioOptions::show_hints>}, "", ""},
    {'\0', "hdf5.collectiveMetadata", Kind::flag, Flag{in<hdf5, &Hdf5Options::collective_metadata>},
     "collective metadata", ""},
    {'\0', "hdf5.individualDataSets", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "individual data sets never worked in IOR; it has no effect"},
    {'\0', "hdf5.setAlignment", Kind::size, Number{in<hdf5, &Hdf5Options::alignment>},
     "alignment of objects in the file", ""},
    {'\0', "hdf5.noFill", Kind::flag, Flag{in<hdf5, &Hdf5Options::no_fill>},
     "do not fill data sets", ""},
    {'\0', "hdf5.chunkSize", Kind::size, Number{in<hdf5, &Hdf5Options::chunk_elements>},
     "chunk of data sets, in elements of 8 bytes", ""},
    {'\0', "dummy.delay-create", Kind::number, Number{in<dummy, &DummyOptions::delay_create_us>},
     "microseconds for each create", ""},
    {'\0', "dummy.delay-close", Kind::number, Number{in<dummy, &DummyOptions::delay_close_us>},
     "microseconds for each close", ""},
    {'\0', "dummy.delay-sync", Kind::number, Number{in<dummy, &DummyOptions::delay_sync_us>},
     "microseconds for each sync", ""},
    {'\0', "dummy.delay-xfer", Kind::number, Number{in<dummy, &DummyOptions::delay_transfer_us>},
     "microseconds for each transfer", ""},
    {'\0', "dummy.delay-only-rank0", Kind::flag, Flag{in<dummy, &DummyOptions::only_rank0>},
     "delay rank 0 only", ""},
    {'\0', "mmap.madv_dont_need", Kind::flag, Flag{in<mmap, &MmapOptions::dont_need>},
     "advise that pages are not needed again", ""},
    {'\0', "mmap.madv_pattern", Kind::flag, Flag{in<mmap, &MmapOptions::pattern>},
     "advise sequential or random access", ""},
    {'\0', "aio.max-pending", Kind::number, Number{at<&Options::ignored_number>}, "", ""},
    {'\0', "aio.granularity", Kind::number, Number{at<&Options::ignored_number>}, "", ""},
    {'\0', "ior-compat", Kind::flag, Flag{in<own, &OwnOptions::ior_compat>},
     "IOR's own data, and open(s), close(s), Latency(s), Stonewall(MiB) as IOR has them", ""},
    {'\0', "ior-compat-bugs", Kind::flag, Flag{in<own, &OwnOptions::ior_compat>}, "", ""},
    {'\0', "json", Kind::text, Text{in<own, &OwnOptions::json_file>},
     "write everything as JSON to this file too", ""},
    {'\0', "csv", Kind::text, Text{in<own, &OwnOptions::csv_file>},
     "write the results as CSV to this file too", ""},
    {'\0', "iodepth", Kind::number, Number{in<own, &OwnOptions::queue_depth>},
     "transfers under way at a time (POSIX)", ""},
    {'\0', "rwmixpct", Kind::number, Number{in<own, &OwnOptions::read_percent>},
     "percent of the write phase's transfers that are reads (POSIX)", ""},
    {'\0', "rwmixread", Kind::number, Number{in<own, &OwnOptions::read_percent>}, "", ""},
    {'\0', "limitwrite", Kind::rate, Number{in<own, &OwnOptions::write_rate_max>},
     "bytes that each rank writes a second, at most", ""},
    {'\0', "limitread", Kind::rate, Number{in<own, &OwnOptions::read_rate_max>},
     "bytes that each rank reads a second, at most", ""},
    limit(0),
    limit(1),
    limit(2),
    limit(3),
    limit(4),
    {'\0', "live", Kind::flag, Flag{in<own, &OwnOptions::live>},
     "the live line also where standard error is no terminal", ""},
    {'\0', "no-live", Kind::flag, Flag{in<own, &OwnOptions::no_live>}, "no live line", ""},
    {'B', "useO_DIRECT", Kind::flag, Flag{in<posix, &PosixOptions::odirect>}, "",
     "write --posix.odirect"},
    {'U', "hintsFileName", Kind::text, Text{in<mpiio, &MpiioOptions::hints_file>}, "",
     "write --mpiio.hintsFileName=FILE"},
    {'H', "showHints", Kind::flag, Flag{in<mpiio, &MpiioOptions::show_hints>}, "",
     "write --mpiio.showHints"},
    {'V', "useFileView", Kind::flag, Flag{in<mpiio, &MpiioOptions::file_view>}, "",
     "write --mpiio.useFileView"},
    {'p', "preallocate", Kind::flag, Flag{in<mpiio, &MpiioOptions::preallocate>}, "",
     "write --mpiio.preallocate"},
    {'S', "useStridedDatatype", Kind::flag, Flag{in<mpiio, &MpiioOptions::strided_datatype>}, "",
     "write --mpiio.useStridedDatatype"},
    {'J', "setAlignment", Kind::size, Number{in<hdf5, &Hdf5Options::alignment>}, "",
     "write --hdf5.setAlignment=SIZE"},
    {'n', "noFill", Kind::flag, Flag{in<hdf5, &Hdf5Options::no_fill>}, "", "write --hdf5.noFill"},
    {'q', "", Kind::flag, Flag{at<&Options::quit_on_error>}, "", "write -O quitOnError=1"},
    {'I', "individualDataSets", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "individual data sets never worked in IOR; it has no effect"},
    {'P', "useSharedFilePointer", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "shared file pointers are not built; it has no effect"},
    {'\0', "storeFileOffset", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "data always tells its offset; it has no effect"},
    {'\0', "lustreStripeCount", Kind::number, Number{in<posix, &PosixOptions::stripe_count>}, "",
     "write --posix.lustre.stripecount=N"},
    {'\0', "lustreStripeSize", Kind::size, Number{in<posix, &PosixOptions::stripe_bytes>}, "",
     "write --posix.lustre.stripesize=SIZE"},
    {'\0', "lustreStartOST", Kind::number, Number{in<posix, &PosixOptions::start_ost>}, "",
     "write --posix.lustre.startost=N"},
    {'\0', "lustreIgnoreLocks", Kind::flag, Flag{in<posix, &PosixOptions::ignore_locks>}, "",
     "write --posix.lustre.ignorelocks"},
    {'\0', "gpfsHintAccess", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "gpfsReleaseToken", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "gpfsFineGrainWriteSharing", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "gpfsFineGrainReadSharing", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "gpfsCreateSharing", Kind::flag, Flag{at<&Options::ignored_flag>}, "",
     "GPFS hints are not built; it has no effect"},
    {'\0', "beegfsNumTargets", Kind::number, Number{at<&Options::ignored_number>}, "",
     "BeeGFS is not built; set the stripe count with beegfs-ctl"},
    {'\0', "beegfsChunkSize", Kind::size, Number{at<&Options::ignored_number>}, "",
     "BeeGFS is not built; set the chunk size with beegfs-ctl"},
}};

}  // namespace

std::span<const Spec> specs() noexcept { return table; }

const Spec* find_letter(char letter) noexcept {
    const auto* found = std::find_if(table.begin(), table.end(), [&](const Spec& spec) {
        return letter != '\0' && spec.letter == letter;
    });
    return found == table.end() ? nullptr : found;
}

const Spec* find_name(std::string_view name) noexcept {
    const auto* found = std::find_if(table.begin(), table.end(), [&](const Spec& spec) {
        return !spec.name.empty() && command_line::same_name(spec.name, name);
    });
    return found == table.end() ? nullptr : found;
}

std::span<const std::string_view> foreign_modules() noexcept {
    static constexpr std::array<std::string_view, 18> modules{
        "dfs",   "chfs",    "finchfs", "cephfs",  "rados",  "hdfs", "ime",   "s3",   "s3-libs3",
        "s3-4c", "S3_plus", "S3_EMC",  "s3-curl", "libnfs", "nfs",  "gfarm", "pmdk", "im"};
    return modules;
}

namespace {

std::string_view value_of(Kind kind) {
    switch (kind) {
        case Kind::flag:
        case Kind::count: return "";
        case Kind::text: return "=TEXT";
        case Kind::size:
        case Kind::rate: return "=SIZE";
        case Kind::limit: return "=LIMIT";
        case Kind::number: break;
    }
    return "=N";
}

// " [300s]", or "" where there is none.
std::string initial_limit(const Spec& spec) {
    const auto limits = command_line::limit_options_of({.free_share = "", .stall = "300s"});
    const Limit* const which = std::get_if<Limit>(&spec.place);
    const std::string_view initial = which != nullptr ? limits.at(*which).initial : "";
    return initial.empty() ? "" : fmt::format(" [{}]", initial);
}

}  // namespace

std::string help_text() {
    std::string text =
        "forebay-ior: IOR's benchmark of parallel I/O. Use it as ior is used:\n"
        "  mpirun -np 4 forebay-ior -t 1m -b 16m -s 16 -F -C -e\n\n"
        "Exit status: 0 good, 1 usage, 2 I/O error, 3 data wrong, 4 time limit, 5 refused by the\n"
        "budget, 128 + n ended by the signal n.\n"
        "Sizes: 8, 4k, 2m, 1g. Without -w, -r, -W and -R both -w and -r are meant.\n\n";
    for (const Spec& spec : table) {
        if (spec.help.empty()) {
            continue;
        }
        std::string how = spec.letter != '\0' ? fmt::format("-{}, ", spec.letter) : "    ";
        const bool directive = spec.name.find_first_of(".-") == std::string_view::npos;
        how += (directive ? "-O " : "--") + std::string(spec.name);
        how += value_of(spec.kind);
        text += fmt::format("  {:<42} {}{}\n", how, spec.help, initial_limit(spec));
    }
    return text + "\nDirectives (-O a=1,b=2) may also be written as long options (--a=1).\n";
}

}  // namespace forebay::ior
