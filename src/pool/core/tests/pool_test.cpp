// Tests the way of one large write through the pool to the file.
#include "pool/core/tests/pool_check.hpp"

#include <gtest/gtest.h>

namespace forebay::pool {
namespace {

TEST(Pool, WhatIsWrittenArrives) {
    Node node{{.seed = 1}};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const std::vector<std::byte> bytes(3'000'000, std::byte{7});
        const WriteResult written = self.log_writer().write(id, 100, bytes);
        EXPECT_EQ(written.taken, bytes.size());
        std::vector<std::byte> read(bytes.size());
        EXPECT_EQ(self.read(id, file, 100, read), 3'000'000);
        EXPECT_EQ(read, bytes);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::sync}), 0);
        EXPECT_EQ(file.get({Offset{100}, Length{3'000'000}}), bytes);
        self.close(id);
    });
}

}  // namespace
}  // namespace forebay::pool
