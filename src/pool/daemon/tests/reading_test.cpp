// From clients' reads to the file, through the whole daemon: a block that was read ahead for one
// client serves all.
#include "pool/client/log_writer.hpp"
#include "pool/client/reader.hpp"
#include "pool/daemon/tests/server_check.hpp"
#include "storage/posix/clock.hpp"
#include "storage/posix/futex.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace forebay::daemon {
namespace {

constexpr std::size_t piece = std::size_t{256} << 10;
constexpr std::int64_t file_bytes = 24 << 20;

std::byte byte_at(std::int64_t at) {
    return static_cast<std::byte>((static_cast<std::uint64_t>(at) * 2654435761U) >> 13U);
}

void make_file(const std::string& path) {
    std::vector<char> bytes(static_cast<std::size_t>(file_bytes));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>(byte_at(static_cast<std::int64_t>(i)));
    }
    std::ofstream{path, std::ios::binary}.write(bytes.data(), file_bytes);
}

// A client that reads one file as the capture in an unmodified program does.
class Reading final : private pool::Daemon {
public:
    Reading(check::World& world, const std::string& path)
        : greeted_{world},
          fd_{check::open_file(path, O_RDONLY)},
          log_writer_{greeted_.directory(), greeted_.log(), greeted_.client, *this} {
        const auto told = world.ask(greeted_.socket, check::question_to_open(path, 0),
                                    check::one(check::open_file(path, O_RDONLY)));
        EXPECT_TRUE(told && told->reply.error == 0);
        file_ = told ? pool::FileId{told->reply.slot, told->reply.generation} : pool::FileId{};
        const std::size_t blocks = greeted_.directory().header.clean_blocks.load();
        clean_ = ::mmap(nullptr, blocks * pool::block_bytes, PROT_READ, MAP_SHARED,
                        greeted_.clean_fd.get(), 0);
        EXPECT_NE(clean_, MAP_FAILED);
        clean_bytes_ = blocks * pool::block_bytes;
        guess_.found();  // the page cache of this machine is faster than any disk
    }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() { ::munmap(clean_, clean_bytes_); }

    // How many bytes were read wrong.
    [[nodiscard]] std::int64_t read_all() {
        struct File final : pool::BackingFile {
            explicit File(int descriptor) : fd{descriptor} {}
            ~File() = default;
            std::int64_t read(std::int64_t at, std::span<std::byte> to) noexcept override {
                const ssize_t got = ::pread(fd, to.data(), to.size(), at);
                direct += std::max<ssize_t>(got, 0);
                return got;
            }
            int fd;
            std::int64_t direct = 0;
        };
        File backing{fd_.get()};
        pool::PoolReader reader{greeted_.directory(),
                                *this,
                                {.hint_writer = &log_writer_,
                                 .client = greeted_.client,
                                 .blocks = static_cast<const std::byte*>(clean_)}};
        std::vector<std::byte> bytes(piece);
        std::int64_t wrong = 0;
        for (std::int64_t at = 0; at < file_bytes; at += static_cast<std::int64_t>(piece)) {
            const std::int64_t got = reader.read(file_, backing, &guess_, at, bytes);
            wrong += static_cast<std::int64_t>(piece) - got;
            for (std::int64_t i = 0; i < got; ++i) {
                wrong += bytes[static_cast<std::size_t>(i)] == byte_at(at + i) ? 0 : 1;
            }
        }
        direct = backing.direct;
        return wrong;
    }
    [[nodiscard]] const pool::Directory& directory() const { return greeted_.directory(); }
    [[nodiscard]] void* clean() const { return clean_; }
    [[nodiscard]] const OwnFd& clean_fd() const { return greeted_.clean_fd; }

    std::int64_t direct = 0;

private:
    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return clock_.now_ns(); }
    void kick() noexcept override {
        constexpr std::uint64_t once = 1;
        static_cast<void>(::write(greeted_.bell.get(), &once, sizeof once));
    }
    void wait(const pool::Word& word, std::uint32_t seen) noexcept override {
        adapters::futex_wait_for(word, seen, check::milliseconds{5});
    }
    [[nodiscard]] pool::Log log_of(std::uint32_t client) noexcept override {
        return client == greeted_.client ? greeted_.log() : pool::Log{};
    }
    void prepare(std::byte*, std::size_t) noexcept override {}

    check::Greeted greeted_;
    OwnFd fd_;
    adapters::SteadyClock clock_;
    pool::LogWriter log_writer_;
    pool::FileId file_;
    pool::ReadAheadPolicy guess_;
    void* clean_ = nullptr;
    std::size_t clean_bytes_ = 0;
};

TEST(Reading, TwoClientsOfOneFileHaveItReadOnce) {
    check::World world;
    const std::string path = world.folder.path("file");
    make_file(path);
    Reading one{world, path};
    Reading other{world, path};
    std::thread daemon{[&] { world.server().run(); }};
    std::thread beside{[&] { EXPECT_EQ(other.read_all(), 0); }};
    EXPECT_EQ(one.read_all(), 0);
    beside.join();
    const std::int64_t fetched = one.directory().header.fetched_bytes.load();
    const OwnFd stop = world.connect();
    EXPECT_TRUE(check::send(stop, check::question(protocol::QuestionKind::stop)));
    daemon.join();
    EXPECT_LE(fetched, file_bytes);
    EXPECT_GE(fetched, file_bytes - 2 * static_cast<std::int64_t>(piece));
    EXPECT_LE(one.direct + other.direct, 4 * static_cast<std::int64_t>(piece));
}

TEST(Reading, NoClientCanWriteToCleanBlocks) {
    check::World world;
    const std::string path = world.folder.path("file");
    make_file(path);
    const Reading one{world, path};
    EXPECT_EQ(::fcntl(one.clean_fd().get(), F_GETFL) & O_ACCMODE, O_RDONLY);
    EXPECT_NE(::mprotect(one.clean(), pool::block_bytes, PROT_READ | PROT_WRITE), 0);
    struct stat found{};
    EXPECT_EQ(::fstat(one.clean_fd().get(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777U, 0400U);
    const std::string again = "/proc/self/fd/" + std::to_string(one.clean_fd().get());
    const OwnFd writing{::open(again.c_str(), O_RDWR | O_CLOEXEC)};
    EXPECT_EQ(writing.valid(), ::geteuid() == 0) << "the mode holds for all but root";
    EXPECT_EQ(::ftruncate(writing.get(), 0), -1);
}

}  // namespace
}  // namespace forebay::daemon
