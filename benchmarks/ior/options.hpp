// All that an IOR command line, script or directive can set, as one value. Names are those of IOR's
// directives where possible; sizes in bytes, times in seconds.
#pragma once

#include "benchmarks/command_line/limits.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace forebay::ior {

enum class PacketType { timestamp, offset, incompressible, random };

struct PosixOptions {
    bool odirect = false;
    bool rangelocks = false;
    std::int64_t stripe_count = 0;
    std::int64_t stripe_bytes = 0;
    std::int64_t start_ost = -1;
    std::string pool;
    bool ignore_locks = false;
};

struct MpiioOptions {
    std::string hints_file;
    bool show_hints = false;
    bool preallocate = false;
    bool strided_datatype = false;
    bool file_view = false;
};

struct Hdf5Options {
    bool collective_metadata = false;
    std::int64_t alignment = 1;
    bool no_fill = false;
    std::int64_t chunk_elements = 0;
};

struct DummyOptions {
    std::int64_t delay_create_us = 0;
    std::int64_t delay_close_us = 0;
    std::int64_t delay_sync_us = 0;
    std::int64_t delay_transfer_us = 0;
    bool only_rank0 = false;
};

struct MmapOptions {
    bool dont_need = false;
    bool pattern = false;
};

// Options that IOR lacks.
struct OwnOptions {
    bool dry_run = false;
    bool ior_compat = false;  // compute columns as IOR does
    bool live = false;        // print the live line even if standard error is no terminal
    bool no_live = false;
    std::string json_file;
    std::string csv_file;
    command_line::RunLimits limits{.budget = {}, .stall_seconds = 300};
    // Named as in fio and elbencho: the number of transfers in flight, the percentage of reads in
    // the write phase, and the rates of each rank in bytes per second; 0: no limit.
    std::int64_t queue_depth = 1;
    std::int64_t read_percent = 0;
    std::int64_t write_rate_max = 0;
    std::int64_t read_rate_max = 0;
};

struct IorOptions {
    std::string api = "POSIX";
    std::int64_t reference_number = 0;
    std::int64_t block_bytes = 1'048'576;
    std::int64_t transfer_bytes = 262'144;
    std::int64_t segments = 1;
    std::int64_t repetitions = 1;
    std::int64_t tasks = -1;  // -1: all ranks
    std::string test_file = "testFile";
    std::string script_file;

    bool write = false;
    bool read = false;
    bool check_write = false;
    bool check_read = false;
    bool file_per_process = false;
    bool unique_directory = false;
    bool multi_file = false;
    bool collective = false;
    bool keep_file = false;
    bool keep_file_with_error = false;
    bool use_existing = false;
    bool fsync = false;
    bool fsync_per_write = false;
    bool barriers = false;
    bool single_attempt = false;
    bool dual_mount = false;
    bool quit_on_error = false;
    bool warnings_are_errors = false;

    bool reorder_constant = false;
    std::int64_t reorder_random = 0;  // 1 random, 2 a permutation
    std::int64_t reorder_seed = 0;
    std::int64_t task_per_node_offset = 1;
    std::int64_t random_offset = 0;  // 1 shuffled, 2 random with overlaps
    std::int64_t random_offset_seed = -1;
    std::int64_t random_prefill = 0;

    std::string packet_type;
    std::int64_t signature = 0;
    std::string memory_per_node;
    std::string memory_per_task;

    std::int64_t delay_between_tests = 0;
    std::int64_t delay_between_transfers_us = 0;
    std::int64_t stonewall_seconds = 0;
    bool wear_out = false;
    std::int64_t wear_out_iterations = 0;
    std::string stonewall_status_file;
    std::int64_t duration_min_seconds = 0;
    std::int64_t duration_max_minutes = 0;
    std::int64_t outlier_seconds = 0;

    std::int64_t verbose = 0;
    std::string summary_file;
    std::string summary_format = "default";
    std::string rank_details_file;
    std::string operations_prefix;

    std::string ignored_text;  // values of options that are accepted without effect
    std::int64_t ignored_number = 0;
    bool ignored_flag = false;
    std::int64_t show_help = 0;

    PosixOptions posix;
    MpiioOptions mpiio;
    Hdf5Options hdf5;
    DummyOptions dummy;
    MmapOptions mmap;
    OwnOptions own;

    [[nodiscard]] PacketType packet() const noexcept;
    // IOR's rules for -w -r -W -R: without any of them, -w and -r.
    [[nodiscard]] bool writes() const noexcept;
    [[nodiscard]] bool reads() const noexcept;
    [[nodiscard]] bool dry() const noexcept { return own.dry_run; }
    [[nodiscard]] std::int64_t transfers_of_block() const noexcept {
        return block_bytes / transfer_bytes;
    }
};

}  // namespace forebay::ior
