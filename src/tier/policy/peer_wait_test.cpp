#include "tier/policy/peer_wait.hpp"

#include <array>
#include <gtest/gtest.h>

namespace forebay::tier {
namespace {

constexpr PeerFile marked{.is_marked = true,
                          .generation_before = 7,
                          .generation = 7,
                          .peer = PeerState::alive,
                          .silent_ns = 5,
                          .silent_ns_max = 10};

PeerFile with(void (*change)(PeerFile&)) {
    PeerFile file = marked;
    change(file);
    return file;
}

TEST(PeerWait, AFileThatNobodyElseHasBytesOfIsOpened) {
    EXPECT_EQ(next_peer_step({}), PeerStep::proceed);
    EXPECT_EQ(next_peer_step(with([](PeerFile& file) { file.is_marked = false; })),
              PeerStep::proceed);
}

TEST(PeerWait, WhoHasBytesIsAskedOrWaitedForOrReplaced) {
    EXPECT_EQ(next_peer_step(marked), PeerStep::ask);
    EXPECT_EQ(next_peer_step(with([](PeerFile& file) { file.peer = PeerState::unseen; })),
              PeerStep::wait);
    EXPECT_EQ(next_peer_step(with([](PeerFile& file) { file.peer = PeerState::dead; })),
              PeerStep::take_over);
}

TEST(PeerWait, AReaderIsContentWithWhatWasMovedSinceItsOpenAndAWriterIsNot) {
    const auto later = [](PeerFile& file) { file.generation = 8; };
    EXPECT_EQ(next_peer_step(with(later)), PeerStep::proceed);
    EXPECT_EQ(next_peer_step(with([](PeerFile& file) {
                  file.generation = 8;
                  file.writes = true;
              })),
              PeerStep::ask);
}

TEST(PeerWait, SilenceEndsInAnErrorUnlessTheBytesAreNotWanted) {
    for (const PeerState peer : std::array{PeerState::unseen, PeerState::alive, PeerState::dead}) {
        PeerFile file = marked;
        file.peer = peer;
        file.silent_ns = 10;
        EXPECT_EQ(next_peer_step(file), PeerStep::refuse);
        file.writes = file.empties = true;
        EXPECT_EQ(next_peer_step(file), PeerStep::overwrite);
    }
}

}  // namespace
}  // namespace forebay::tier
