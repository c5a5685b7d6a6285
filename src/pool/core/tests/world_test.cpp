// Random programs over a pool that is too small for them and storage with faults. A seed reproduces
// a run to the step.
#include "foundation/base/bytes.hpp"
#include "pool/core/tests/crash_check.hpp"
#include "pool/core/tests/oracle_check.hpp"
#include "pool/core/tests/pool_check.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace forebay::pool {
namespace {

constexpr std::int64_t file_bytes_max = 600'000;

// The parameters of a run, drawn from its seed.
struct Drawn {
    explicit Drawn(std::uint64_t the_seed) : seed{the_seed} {
        pool.cap_bytes = (2 + draw(7)) * mib;
        pool.window_bytes = (1 + draw(8)) * mib / 2;
        pool.quiet_ns = one_of<std::int64_t>({1, 100'000, 1'000'000, 50'000'000});
        pool.request_bytes_max = one_of<std::int64_t>({20'000, 100'000, mib, 4 * mib});
        pool.requests_in_flight = static_cast<std::int32_t>(draw(5));
        pool.files_at_once = static_cast<std::int32_t>(1 + draw(4));
        if (draw(3) > 0) {
            node.stripes = {static_cast<std::int32_t>(1 + draw(4)),
                            one_of<std::int64_t>({10'000, 65'536, 262'144, mib})};
        }
        node.background_io =
            draw(2) == 0 ? NodeOptions::BackgroundIo::at_once : NodeOptions::BackgroundIo::slow;
        clients = 1 + draw(4);
        threads = 1 + draw(2);
        faults.seed = seed;
        faults.delay_polls_max = static_cast<std::int32_t>(draw(3) * 20);
        faults.short_percent = static_cast<std::int32_t>(draw(2) * 30);
        faults.interrupted_percent = static_cast<std::int32_t>(draw(2) * 10);
        faults.again_percent = static_cast<std::int32_t>(draw(2) * 10);
        if (draw(3) == 0) {
            faults.error_at_request = draw(60);
        }
        files = 1 + draw(3);
        pool.consistency = draw(3) == 0 ? CacheConsistency::paper : CacheConsistency::pool;
        journal = draw(3) == 0;
        pool.sync_to_journal = draw(2) == 0;
        pool.processors = static_cast<std::size_t>(draw(3));
        node.sees = draw(2) == 0;
    }
    std::int64_t draw(std::int64_t end) {
        return static_cast<std::int64_t>(adapters::scramble(seed, 77, ++drawn) %
                                         static_cast<std::uint64_t>(end));
    }
    template <class Value>
    Value one_of(std::initializer_list<Value> values) {
        return values.begin()[draw(std::ssize(values))];
    }

    std::uint64_t seed;
    std::uint64_t drawn = 0;
    PoolOptions pool;
    NodeOptions node;
    adapters::StorageFaults faults;
    std::int64_t clients = 1;
    std::int64_t threads = 1;  // threads of each client
    std::int64_t files = 1;
    bool journal = false;
};

struct Watched {
    explicit Watched(const adapters::StorageFaults& faults) : file{faults} {}
    adapters::MemoryFile file;
    Oracle oracle{file_bytes_max};
    std::int64_t waited_ns = 0;
};

class Play {
public:
    explicit Play(std::uint64_t seed)
        : drawn_{seed},
          node_{{.seed = seed, .quiet_ns_max = 100'000'000'000}, drawn_.pool, node_options()} {
        journal_.join(node_.world());
        for (std::int64_t i = 0; i < drawn_.files; ++i) {
            files_.push_back(std::make_unique<Watched>(drawn_.faults));
        }
    }

    adapters::WorldEnding go() {
        node_.daemon();
        for (std::int64_t i = 0; i < drawn_.clients; ++i) {
            const std::string name = "client " + std::to_string(i);
            node_.client(name, [this, name](NodeClient& self) {
                for (std::int64_t k = 1; k < drawn_.threads; ++k) {
                    node_.world().spawn(name + " too", [this, &self] { thread(self); });
                }
                thread(self);
                while (node_.world().alive(name + " too")) {
                    node_.world().sleep(100'000);
                }
            });
        }
        const adapters::WorldEnding ending = node_.run();
        for (const auto& one : files_) {
            EXPECT_TRUE(one->oracle.quiet());
            const auto all = one->file.get({Offset{0}, one->file.size()});
            EXPECT_EQ(one->oracle.judge(all), "") << "in the file";
        }
        EXPECT_EQ(node_.provided(), 0) << "blocks return";
        // A client that holds nothing gets one block, even beyond the cap.
        EXPECT_LE(node_.most_provided(), drawn_.pool.cap_bytes / mib + drawn_.clients);
        EXPECT_EQ(node_.pool().counts().refused, 0U);
        EXPECT_EQ(node_.pool().counts().distrusted, 0U);
        return ending;
    }

private:
    std::int64_t draw(std::int64_t end) { return node_.world().draw(end); }

    NodeOptions node_options() {
        NodeOptions node = drawn_.node;
        node.journal = drawn_.journal ? journal_.start() : nullptr;
        return node;
    }

    void thread(NodeClient& self) {
        std::vector<FileId> ids;
        for (const auto& one : files_) {
            ids.push_back(open(self, *one));
        }
        for (int i = 0; i < 25 && !testing::Test::HasFailure(); ++i) {
            const auto which = static_cast<std::size_t>(draw(drawn_.files));
            act(self, *files_[which], ids[which]);
        }
        for (const FileId id : ids) {
            self.close(id);
        }
    }

    void act(NodeClient& self, Watched& one, FileId& id) {
        const std::int64_t what = draw(100);
        if (what < 55) {
            write(self, one, id);
        } else if (what < 80) {
            read(self, one, id);
        } else if (what < 85) {
            sync(self, id);
        } else if (what < 90) {
            cut(self, one, id);
        } else if (what < 92) {
            const int error = self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped});
            expect_told(error);
        } else if (what < 94) {
            self.log_writer().notify_daemon(id, EntryKind::wanted, draw(file_bytes_max), 1000);
        } else if (what < 97) {
            close(self, id);
            id = open(self, one);
        } else {
            node_.world().sleep(draw(3'000'000));
        }
    }

    FileId open(NodeClient& self, Watched& one) {
        const bool leaves = drawn_.pool.consistency == CacheConsistency::paper && draw(8) == 0;
        return self.open(one.file, leaves ? AccessMode::both : AccessMode::write);
    }

    void close(NodeClient& self, FileId id) {
        if (draw(2) == 0) {
            self.close(id);
        } else {
            self.log_writer().notify_daemon(id, EntryKind::closed, 0, 0);
            self.kick();
        }
    }

    Extent some_range() {
        const std::int64_t most = draw(8) == 0 ? 300'000 : draw(2) == 0 ? 3'000 : 30'000;
        const std::int64_t length = 1 + draw(most);
        return {Offset{draw(file_bytes_max - length)}, Length{length}};
    }

    void expect_told(int error) const {
        EXPECT_TRUE(error == 0 || (error == EIO && drawn_.faults.error_at_request)) << error;
    }

    void write(NodeClient& self, Watched& one, FileId id) {
        const Extent range = some_range();
        const unsigned change = ++changes_;
        std::vector<std::byte> bytes(range.length.size());
        Oracle::fill(bytes, change, range.begin.bytes());
        const auto handle = one.oracle.begin_write(range, change);
        const NodeClient::Put put = self.write(id, one.file, range.begin.bytes(), bytes);
        one.oracle.end_write(handle, Length{static_cast<std::int64_t>(put.taken)});
        expect_told(put.error);
        EXPECT_TRUE(put.error != 0 || put.taken == bytes.size());
        if (put.error != 0) {
            sync(self, id);
        }
    }

    // An error is reported at least once; failed writes are retried.
    void sync(NodeClient& self, FileId id) {
        int error = EIO;
        for (int tries = 0; tries < 20 && error != 0; ++tries) {
            error = self.ask(id, {FileTask::Kind::sync});
            expect_told(error);
        }
        EXPECT_EQ(error, 0);
    }

    void cut(NodeClient& self, Watched& one, FileId id) {
        const Length bytes{draw(file_bytes_max)};
        const auto handle = one.oracle.begin_cut(bytes);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::truncate, {}, bytes}), 0);
        one.oracle.end_cut(handle);
    }

    void read(NodeClient& self, Watched& one, FileId id) {
        const Extent range = some_range();
        std::vector<std::byte> bytes(range.length.size());
        const auto handle = one.oracle.begin_read(range);
        const std::int64_t got = self.read(id, one.file, range.begin.bytes(), bytes);
        EXPECT_EQ(one.oracle.end_read(handle, got, bytes), "");
    }

    Drawn drawn_;
    // A group has room for the largest piece of a write.
    MemoryJournal journal_{
        {.segment_bytes = std::int64_t{1} << 20,
         .write_ns = [](adapters::MemoryWorld& world) { return 10'000 + world.draw(2'000'000); }}};
    Node node_;
    std::vector<std::unique_ptr<Watched>> files_;
    unsigned changes_ = 0;
};

class World : public testing::TestWithParam<int> {};

constexpr int seeds_at_once = 5;

TEST_P(World, EveryByteIsTheLastOneThatWasWritten) {
    for (int i = 0; i < seeds_at_once; ++i) {
        const int seed = 1 + GetParam() * seeds_at_once + i;
        Play play{static_cast<std::uint64_t>(seed)};
        const adapters::WorldEnding ending = play.go();
        ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << ending.report;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, World, testing::Range(0, 40));

TEST(Worlds, ASeedRepeatsARunToTheLastStep) {
    const auto trace = [](std::uint64_t seed) { return Play{seed}.go().trace; };
    EXPECT_EQ(trace(4), trace(4));
    EXPECT_NE(trace(4), trace(5));
}

}  // namespace
}  // namespace forebay::pool
