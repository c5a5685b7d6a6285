// Writes rescue files: a header as JSON, then each run of bytes with its offset and checksum.
#include "pool/daemon/rescue/rescue.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "foundation/base/own_fd.hpp"
#include "foundation/base/printable.hpp"
#include "foundation/kernel/calls.hpp"
#include "foundation/kernel/own_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unistd.h>

namespace forebay::daemon {

namespace {

constexpr std::string_view rescue_schema = "forebay.rescue/1";
// How many directory names are tried.
constexpr int names_max = 1000;

struct RunHeader {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint32_t checksum = 0;  // crc32 of the bytes
    std::uint32_t zero = 0;
};
static_assert(sizeof(RunHeader) == 24);

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t rest = i;
        for (int bit = 0; bit < 8; ++bit) {
            rest = (rest & 1U) != 0 ? rest >> 1U ^ 0xEDB88320U : rest >> 1U;
        }
        table.at(i) = rest;
    }
    return table;
}

Result<void> write_all(int fd, std::span<const std::byte> bytes, const std::string& path) {
    while (!bytes.empty()) {
        const ssize_t got = kernel::write(fd, bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return failure(system_error(got < 0 ? errno : ENOSPC, "write " + path));
        }
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

std::string header_of(const RescueTarget& file, std::span<const RescueRun> runs,
                      std::int64_t kept_ns) {
    std::uint64_t bytes = 0;
    for (const RescueRun& run : runs) {
        bytes += run.bytes.size();
    }
    const nlohmann::ordered_json header = {{"path", file.path},   {"device", file.device},
                                           {"inode", file.inode}, {"error", file.error},
                                           {"runs", runs.size()}, {"bytes", bytes},
                                           {"kept_ns", kept_ns}};
    return fmt::format("{}\n{}\n", rescue_schema,
                       header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

struct NewFile {
    int folder = -1;
    std::string name;  // in the folder
    std::string path;
};

Result<void> write_file(const NewFile& file, const std::string& header,
                        std::span<const RescueRun> runs) {
    constexpr mode_t user_only = 0600;
    const std::string& path = file.path;
    OwnFd fd{kernel::openat(file.folder, file.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                            user_only)};
    if (!fd.valid()) {
        return failure(system_error(errno, "make " + path));
    }
    Result<void> done = write_all(fd.get(), std::as_bytes(std::span{header}), path);
    for (const RescueRun& run : runs) {
        const RunHeader one{static_cast<std::uint64_t>(run.offset), run.bytes.size(),
                            crc32(run.bytes)};
        done = done ? write_all(fd.get(), std::as_bytes(std::span{&one, 1}), path) : done;
        done = done ? write_all(fd.get(), run.bytes, path) : done;
    }
    if (done && kernel::fsync(fd.get()) != 0) {
        done = failure(system_error(errno, "make durable " + path));
    }
    Result<void> closed = fd.close(path);
    done = done ? closed : done;
    if (!done) {
        ::unlinkat(file.folder, file.name.c_str(), 0);
    }
    return done;
}

// The last part of a path, with anything that a terminal or a shell would interpret replaced by
// `_`, since the name appears in a command that users copy.
std::string last_part(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    constexpr std::size_t bytes_max = 200;  // a name may have 255
    std::string_view rest = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    std::string name;
    while (!rest.empty() && name.size() < bytes_max) {
        const std::size_t shown = shown_in_front(rest);
        if (shown == 0) {
            name += '_';
        } else {
            name += rest.substr(0, shown);
        }
        rest.remove_prefix(std::max<std::size_t>(shown, 1));
    }
    return name;
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes, std::uint32_t before) noexcept {
    static constexpr std::array<std::uint32_t, 256> table = make_table();
    std::uint32_t sum = ~before;
    for (const std::byte one : bytes) {
        sum = table[(sum ^ std::to_integer<std::uint32_t>(one)) & 0xFFU] ^ sum >> 8U;
    }
    return ~sum;
}

std::vector<RescueRun> bytes_of(const pool::Directory& directory, const SharedLogMemory& memory,
                                std::span<const pool::Deposit> deposits) {
    std::vector<RescueRun> runs;
    for (const pool::Deposit& one : deposits) {
        const std::size_t within = one.position % pool::block_bytes;
        if (one.client >= pool::clients_max || !memory.segment(one.client).made() ||
            within + one.extent.length.size() > pool::block_bytes) {
            continue;
        }
        const std::uint64_t number = one.position / pool::block_bytes % pool::blocks_max;
        const std::uint32_t block =
            pool::block_of(directory.leases[one.client][number].load(relaxed));
        const pool::Log log{memory.segment(one.client).base()};
        const std::byte* const at = log.block(block) + within;
        runs.push_back({one.extent.begin.bytes(), {at, one.extent.length.size()}});
    }
    return runs;
}

// The directory is kept open and used by its descriptor: in a candidate that other users may write
// to, its name could be given to another directory.
Result<void> RescueFolder::make_folder_in(const std::string& candidate) {
    constexpr mode_t user_only = 0700;
    for (int number = 1; number < names_max; ++number) {
        std::string path = fmt::format("{}/forebay-rescue-{}-{}", candidate, ::getpid(), number);
        if (kernel::mkdir(path.c_str(), user_only) == 0) {
            OwnFd folder{kernel::open_own_folder(path.c_str())};
            if (!folder.valid()) {
                return failure(system_error(errno, "open " + path));
            }
            in_ = candidate;
            path_ = std::move(path);
            folder_ = std::move(folder);
            return {};
        }
        if (errno != EEXIST) {
            return failure(system_error(errno, "make " + path));
        }
    }
    return failure(system_error(EEXIST, "make a rescue folder in " + candidate));
}

RescueTarget rescue_of(const pool::FileSlot& file) {
    return {.path = std::string{file.path.data()},
            .device = file.device.load(relaxed),
            .inode = file.inode.load(relaxed),
            .error = file.error.load(relaxed)};
}

RescuedFile RescueFolder::keep(const RescueTarget& file, std::span<const RescueRun> runs) {
    RescuedFile rescued{.path = file.path, .error = file.error};
    for (const RescueRun& run : runs) {
        rescued.bytes += static_cast<std::int64_t>(run.bytes.size());
    }
    ++files_;
    const std::string header = header_of(file, runs, now_ns_);
    for (const std::string& candidate : candidates_) {
        const Result<void> made = in_ == candidate ? Result<void>{} : make_folder_in(candidate);
        if (!made) {
            rescued.problem = made.error().message;
            continue;
        }
        invariant(folder_.valid() && !path_.empty(), "the folder that files are kept in is held");
        NewFile kept{.folder = folder_.get(),
                     .name = fmt::format("{}-{}", files_, last_part(rescued.path)),
                     .path = {}};
        kept.path = path_ + "/" + kept.name;
        if (const Result<void> done = write_file(kept, header, runs); !done) {
            rescued.problem = done.error().message;
            continue;
        }
        rescued.file = kept.path;
        rescued.problem.clear();
        return rescued;
    }
    return rescued;
}

}  // namespace forebay::daemon
