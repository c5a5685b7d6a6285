// The contract of FileStorage on files in memory, without faults and with every fault that a caller
// must overcome by resubmitting.
#include "worlds/memory/storage.hpp"

#include "foundation/ports/storage_contract.hpp"
#include "worlds/memory/world_storage.hpp"

namespace forebay::adapters {

namespace {

using ports::extent;
using ports::StorageContract;

class FileAlone final : public ports::StorageWorld {
public:
    explicit FileAlone(StorageFaults faults) : file_{faults} {}
    Result<std::unique_ptr<ports::FileStorage>> open(IoDirection direction) override {
        return open_memory(file_, direction);
    }
    ports::Bytes contents(const Extent& extent) override { return file_.get(extent); }
    std::int64_t size() override { return file_.size().bytes(); }

private:
    MemoryFile file_;
};

ports::StorageWorldMaker world(const std::string& name, StorageFaults faults) {
    return {name, [faults] { return std::make_unique<FileAlone>(faults); }};
}

StorageFaults slow() {
    StorageFaults faults;
    faults.delay_polls_max = 9;
    faults.slow_target = SlowTargetFault{1 << 18, 3, 1, 20};
    return faults;
}

StorageFaults nasty(std::uint64_t seed) {
    StorageFaults faults = slow();
    faults.seed = seed;
    faults.short_percent = 50;
    faults.interrupted_percent = 20;
    faults.again_percent = 20;
    return faults;
}

INSTANTIATE_TEST_SUITE_P(Memory, StorageContract,
                         testing::Values(world("Healthy", {}), world("Slow", slow()),
                                         world("Nasty1", nasty(1)), world("Nasty2", nasty(2))),
                         ports::world_name);

class FileInAWorld final : public ports::StorageWorld {
public:
    FileInAWorld(std::uint64_t seed, const StorageFaults& faults)
        : world_{{.seed = seed}}, file_{faults} {}
    Result<std::unique_ptr<ports::FileStorage>> open(IoDirection direction) override {
        return open_memory(world_, file_, direction);
    }
    ports::Bytes contents(const Extent& extent) override { return file_.get(extent); }
    std::int64_t size() override { return file_.size().bytes(); }

private:
    MemoryWorld world_;
    MemoryFile file_;
};

ports::StorageWorldMaker imagined(const std::string& name, const StorageFaults& faults) {
    return {name, [faults] { return std::make_unique<FileInAWorld>(7, faults); }, false};
}

INSTANTIATE_TEST_SUITE_P(ImaginedTime, StorageContract,
                         testing::Values(imagined("Healthy", {}), imagined("Slow", slow()),
                                         imagined("Nasty1", nasty(1))),
                         ports::world_name);

ports::RequestCompletion write_all(MemoryFile& file, const std::vector<Extent>& extents) {
    const ports::Batch batch{extents};
    const auto storage = open_memory(file, IoDirection::write);
    return ports::finish(**storage, IoDirection::write, batch.pieces());
}

TEST(MemoryFile, ADiskFullAtByteNTakesTheBytesBeforeIt) {
    StorageFaults faults;
    faults.full_at = Offset{1000};
    MemoryFile file{faults};
    const auto done = write_all(file, {extent(900, 50), extent(960, 100), extent(2000, 10)});
    EXPECT_EQ(done.system, ENOSPC);
    EXPECT_EQ(done.bytes.bytes(), 90);
    EXPECT_EQ(file.size().bytes(), 1000);
    EXPECT_EQ(write_all(file, {extent(5000, 1)}).system, ENOSPC);
    EXPECT_EQ(write_all(file, {extent(0, 1000)}).system, 0);
}

TEST(MemoryFile, ADiskWithRoomForNBytesGivesItToWhoComesFirst) {
    StorageFaults faults;
    faults.room = 100;
    MemoryFile file{faults};
    EXPECT_EQ(write_all(file, {extent(5000, 70)}).system, 0);
    const auto done = write_all(file, {extent(0, 50)});
    EXPECT_EQ(done.system, ENOSPC);
    EXPECT_EQ(done.bytes.bytes(), 30);
    EXPECT_EQ(file.size().bytes(), 5070);
}

TEST(MemoryFile, AnErrorAtAByteStopsThere) {
    StorageFaults faults;
    faults.error_at = Offset{25};
    faults.full_at = Offset{100};
    MemoryFile file{faults};
    const auto done = write_all(file, {extent(0, 10), extent(20, 10)});
    EXPECT_EQ(done.system, EIO);
    EXPECT_EQ(done.bytes.bytes(), 15);
    EXPECT_EQ(write_all(file, {extent(26, 10)}).system, 0);
    EXPECT_EQ(write_all(file, {extent(26, 100)}).system, ENOSPC);
}

TEST(MemoryFile, AnErrorAtTheNthRequestStopsThatOneOnly) {
    StorageFaults faults;
    faults.error_at_request = 1;
    MemoryFile file{faults};
    EXPECT_EQ(write_all(file, {extent(0, 10)}).system, 0);
    EXPECT_EQ(write_all(file, {extent(10, 10)}).system, EIO);
    EXPECT_EQ(write_all(file, {extent(10, 10)}).system, 0);
}

TEST(MemoryFile, LogsTheContiguousRunsOfEachRequest) {
    MemoryFile file;
    static_cast<void>(write_all(file, {extent(0, 10), extent(10, 10), extent(30, 5)}));
    static_cast<void>(write_all(file, {extent(35, 5)}));
    EXPECT_EQ(file.log(IoDirection::write),
              (std::vector{extent(0, 20), extent(30, 5), extent(35, 5)}));
    EXPECT_TRUE(file.log(IoDirection::read).empty());
}

TEST(MemoryFile, TheSameSeedGivesTheSameFate) {
    const auto fate = [](std::uint64_t seed) {
        MemoryFile file{nasty(seed)};
        const auto storage = open_memory(file, IoDirection::write);
        std::vector<std::int64_t> moved;
        for (std::int64_t i = 0; i < 50; ++i) {
            const ports::Batch batch{{extent(i * 100, 100)}};
            (*storage)->submit({IoDirection::write, 0, batch.pieces()});
            const ports::RequestCompletion done = ports::wait_one(**storage);
            moved.push_back(done.bytes.bytes() * 1000 + done.system);
        }
        return moved;
    };
    EXPECT_EQ(fate(5), fate(5));
    EXPECT_NE(fate(5), fate(6));
}

TEST(MemoryStorage, AReorderedHandleCompletesOutOfOrder) {
    MemoryFile file{slow()};
    const auto storage = open_memory(file, IoDirection::write);
    const ports::Batch batch{{extent(0, 1)}};
    for (std::uint64_t ticket = 0; ticket < 20; ++ticket) {
        (*storage)->submit({IoDirection::write, ticket, batch.pieces()});
    }
    std::vector<std::uint64_t> order;
    while (order.size() < 20) {
        order.push_back(ports::wait_one(**storage).ticket);
    }
    EXPECT_FALSE(std::ranges::is_sorted(order));
}

TEST(MemoryStorage, RefusesToOpenSyncAndCloseWhenTold) {
    StorageFaults faults;
    faults.sync_error = EIO;
    faults.close_error = EDQUOT;
    MemoryFile file{faults};
    auto storage = open_memory(file, IoDirection::write);
    ASSERT_TRUE(storage.has_value());
    EXPECT_EQ((*storage)->sync().error().system, EIO);
    EXPECT_EQ((*storage)->close().error().code, ErrorCode::quota);
    faults.open_error = EACCES;
    MemoryFile refused{faults};
    EXPECT_EQ(open_memory(refused, IoDirection::read).error().code, ErrorCode::access);
}

}  // namespace

}  // namespace forebay::adapters
