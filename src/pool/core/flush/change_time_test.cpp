// Tests which st_ctime programs are shown: the pool's own changes of a file do not count.
#include "pool/core/flush/change_time.hpp"

#include "pool/core/tests/pool_check.hpp"

#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

constexpr std::int64_t never = 1'000'000'000'000'000;
const PoolOptions patient{.age_max_ns = never, .quiet_ns = never};

std::vector<std::byte> some_bytes() { return std::vector<std::byte>(100, std::byte{7}); }

TEST(ChangeTime, WhatThePoolDoesStandsForTheLastWrite) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile file;
    node.facts(file).touched = [&] { node.changed_ns[&file] = 5000; };  // as setting st_mtime does
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const FileSlot& slot = node.directory().files[id.slot];
        EXPECT_EQ(self.write(id, file, 0, some_bytes()).error, 0);
        EXPECT_EQ(self.ask(id, {}), 0);
        EXPECT_EQ(slot.stamped_ns, 5000);
        EXPECT_EQ(slot.changed_ns, node.facts(file).modified_ns);
        EXPECT_NE(slot.changed_ns, 0);
        // Another write, which is then drained.
        EXPECT_EQ(self.write(id, file, 0, some_bytes()).error, 0);
        node.facts(file).touched = [&] {
            EXPECT_EQ(slot.stamped_ns, ChangeTime::unsettled);
            node.changed_ns[&file] = 6000;
        };
        EXPECT_EQ(self.ask(id, {}), 0);
        EXPECT_EQ(slot.stamped_ns, 6000);
        EXPECT_EQ(slot.changed_ns, node.facts(file).modified_ns);
    });
}

TEST(ChangeTime, WhoAsksBeforeAChangeOfItsOwnSeesThat) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile file;
    node.facts(file).touched = [&] { node.changed_ns[&file] = 5000; };
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, some_bytes()).error, 0);
        EXPECT_EQ(self.ask(id, {.changes = true}), 0);
        EXPECT_EQ(file.size().bytes(), 100);
        EXPECT_EQ(node.directory().files[id.slot].stamped_ns, 0);
    });
}

TEST(ChangeTime, IsRememberedOfFilesThatAreForgotten) {
    Node node{{.seed = 1}, patient};
    adapters::MemoryFile file;
    node.facts(file).touched = [&] { node.changed_ns[&file] = 5000; };
    std::int64_t changed_ns = 0;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, some_bytes()).error, 0);
        EXPECT_EQ(self.ask(id, {}), 0);
        changed_ns = node.directory().files[id.slot].changed_ns;
    });
    // The file has been closed and forgotten.
    const ports::FileIdentity identity = file.identity();
    FileSlot again{};
    again.device = identity.device;
    again.inode = identity.inode;
    recall_change_time(node.directory(), again);
    EXPECT_EQ(again.stamped_ns, 5000);
    EXPECT_EQ(again.changed_ns, changed_ns);
    // Another file with the same index in the table.
    again.inode = identity.inode + change_times_max;
    recall_change_time(node.directory(), again);
    EXPECT_EQ(again.stamped_ns, 0);
    again.stamped_ns = 7;
    again.changed_ns = 6;
    remember_change_time(node.directory(), again);
    again.inode = identity.inode;
    recall_change_time(node.directory(), again);
    EXPECT_EQ(again.stamped_ns, 0) << "it was displaced";
    EXPECT_EQ(again.changed_ns, 0);
}

}  // namespace
}  // namespace forebay::pool
