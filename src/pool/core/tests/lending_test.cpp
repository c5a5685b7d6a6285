// Tests loans of log memory: bytes committed from a loan arrive as if they had been copied, the
// rest of the loan is given back, and the client may die at any step.
#include "pool/core/tests/pool_check.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace forebay::pool {
namespace {

constexpr PoolOptions roomy{.cap_bytes = 256 << 20};

LogReservation part_of(const LogReservation& loan, std::size_t begin, std::size_t bytes) {
    return {loan.position + begin, loan.place + begin, loan.bytes.subspan(begin, bytes)};
}

// Waits for the loan, since credit comes a moment after a file was opened.
LogReservation lent(Node& node, NodeClient& self, FileId file, std::size_t bytes) {
    for (;;) {
        if (const auto loan = self.log_writer().lend(file, bytes)) {
            return *loan;
        }
        node.world().sleep(100'000);
    }
}

void fill(const LogReservation& loan, int value) {
    std::memset(loan.bytes.data(), value, loan.bytes.size());
}

std::vector<std::byte> run_of(std::size_t count, int value) {
    return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

std::vector<std::byte> at(const adapters::MemoryFile& file, std::int64_t begin,
                          std::int64_t bytes) {
    return file.get({Offset{begin}, Length{bytes}});
}

TEST(LentMemory, WhatIsCommittedFromALoanArrivesAndTheRestIsGivenBack) {
    Node node{{.seed = 1}, roomy};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const LogReservation loan = lent(node, self, id, 1000);
        EXPECT_EQ(self.log().base() + loan.place, loan.bytes.data());
        fill(loan, 7);
        const WriteResult first = self.log_writer().append_lent(id, 5000, part_of(loan, 100, 300));
        EXPECT_EQ(first.taken, 300U);
        EXPECT_EQ(self.log_writer().append_lent(id, 100, part_of(loan, 600, 400)).taken, 400U);
        self.log_writer().give_back(part_of(loan, 0, 100));
        self.log_writer().give_back(part_of(loan, 400, 200));
        EXPECT_EQ(self.write(id, file, 5100, run_of(10, 9)).taken, 10U) << "the later one wins";
        self.close(id);
    });
    EXPECT_EQ(at(file, 5000, 100), run_of(100, 7));
    EXPECT_EQ(at(file, 5100, 10), run_of(10, 9));
    EXPECT_EQ(at(file, 5110, 190), run_of(190, 7));
    EXPECT_EQ(at(file, 100, 400), run_of(400, 7));
    EXPECT_EQ(file.size().bytes(), 5300);
    EXPECT_EQ(node.provided(), 0) << "blocks return";
    EXPECT_EQ(node.pool().counts().refused, 0U);
}

TEST(LentMemory, ALoanLiesInOneBlock) {
    Node node{{.seed = 2}, roomy};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, file, 0, run_of(1000, 1)).taken, 1000U);
        for (int i = 0; i < 3; ++i) {
            const LogReservation loan = lent(node, self, id, block_bytes);
            EXPECT_EQ(loan.position % block_bytes, 0U);
            fill(loan, 2 + i);
            const std::int64_t offset = 1000 + i * static_cast<std::int64_t>(block_bytes);
            EXPECT_EQ(self.log_writer().append_lent(id, offset, loan).taken, block_bytes);
        }
        self.close(id);
    });
    EXPECT_EQ(at(file, 0, 1000), run_of(1000, 1));
    for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(same(at(file, 1000 + i * static_cast<std::int64_t>(block_bytes), block_bytes),
                         run_of(block_bytes, 2 + i)));
    }
    EXPECT_EQ(node.provided(), 0);
}

TEST(LentMemory, NothingIsLentWhereItCouldNotBeCommitted) {
    Node node{{.seed = 3}, roomy};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const LogReservation loan = lent(node, self, id, 10);
        EXPECT_FALSE(self.log_writer().lend(id, 0));
        EXPECT_FALSE(self.log_writer().lend(id, block_bytes + 1));
        EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
        EXPECT_FALSE(self.log_writer().lend(id, 10)) << "the file is not pooled any more";
        self.log_writer().give_back(loan);
        self.close(id);
    });
    Node small{{.seed = 4}, {.cap_bytes = 64 << 20}};
    adapters::MemoryFile other;
    run_client(small, other, AccessMode::write, [&](NodeClient& self, FileId id) {
        EXPECT_EQ(self.write(id, other, 0, run_of(10, 1)).taken, 10U);
        EXPECT_FALSE(self.log_writer().lend(id, 10));
        self.close(id);
    });
}

TEST(LentMemory, BytesOfAFileThatLeftStayForWhoWritesThemToIt) {
    Node node{{.seed = 5}, roomy};
    adapters::MemoryFile file;
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        const LogReservation loan = lent(node, self, id, block_bytes);
        fill(loan, 5);
        EXPECT_EQ(self.ask(id, {FileTask::Kind::leave, ThroughReason::mapped}), 0);
        const WriteResult written = self.log_writer().append_lent(id, 0, loan);
        EXPECT_EQ(written.rest, WriteResult::Rest::through);
        EXPECT_EQ(written.taken, 0U);
        node.world().sleep(50'000'000);  // until the daemon has seen the entry
        EXPECT_TRUE(same({loan.bytes.begin(), loan.bytes.end()}, run_of(block_bytes, 5)));
        self.log_writer().give_back(loan);
        self.close(id);
    });
    EXPECT_EQ(node.provided(), 0);
    EXPECT_EQ(node.pool().counts().refused, 0U);
}

// Makes three loans and commits two parts of each. Returns false if the client ended before it was
// killed.
bool killed_at(std::int64_t step) {
    Node node{{.seed = 1 + static_cast<std::uint64_t>(step)}, roomy};
    adapters::MemoryFile file;
    constexpr std::int64_t half = 300'000;
    int acknowledged = 0;
    bool ended = false;
    node.world().kill("client", step);
    run_client(node, file, AccessMode::write, [&](NodeClient& self, FileId id) {
        for (int i = 0; i < 6; i += 2) {
            const LogReservation loan = lent(node, self, id, 2 * half + 10);
            for (int part = i; part < i + 2; ++part) {
                const LogReservation one =
                    part_of(loan, static_cast<std::size_t>(part % 2 * half), half);
                fill(one, part + 1);
                node.world().step({"between filling and committing"});
                EXPECT_EQ(self.log_writer().append_lent(id, part * half, one).rest,
                          WriteResult::Rest::none);
                acknowledged = part + 1;
            }
            self.log_writer().give_back(part_of(loan, 2 * half, 10));
        }
        self.close(id);
        ended = true;
    });
    for (int i = 0; i < acknowledged; ++i) {
        EXPECT_TRUE(same(at(file, i * half, half), run_of(half, i + 1)))
            << "part " << i << " of " << acknowledged << ", killed at step " << step;
    }
    EXPECT_EQ(node.provided(), 0) << "killed at step " << step;
    EXPECT_EQ(node.pool().counts().refused, 0U);
    return !ended;
}

TEST(LentMemory, ItsClientMayDieAtAnyStep) {
    std::int64_t step = 0;
    while (step < 1000 && killed_at(step) && !testing::Test::HasFailure()) {
        ++step;
    }
    EXPECT_GT(step, 15);
    EXPECT_LT(step, 1000);
}

}  // namespace
}  // namespace forebay::pool
