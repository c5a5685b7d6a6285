// The contract of a Communicator under a real MPI, and what only a real one can get wrong. Every
// rank of the launcher runs this program; a hang ends by SIGALRM.
//
//   mpiexec -n 4 adapters_mpi_test_mpich
#include "collective/mpi/communicator/communicator.hpp"

#include "foundation/base/test_time.hpp"
#include "foundation/ports/communicator_contract.hpp"

#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace forebay::adapters {

namespace {

using ports::CommunicatorContract;

constexpr std::size_t node_bytes = 2 << 20;
bool all_gather_fails = false;  // on this rank, from now on

int rank_of(MPI_Comm communicator) {
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    return rank;
}

int size_of(MPI_Comm communicator) {
    int size = 0;
    PMPI_Comm_size(communicator, &size);
    return size;
}

std::unique_ptr<MpiCommunicator> group_of(MPI_Comm user, std::int32_t ranks_per_node = 0) {
    auto group = MpiCommunicator::create(user, {node_bytes, ranks_per_node});
    EXPECT_TRUE(group.has_value());
    return group ? std::move(*group) : nullptr;
}

ports::CommunicatorWorld world(const std::string& name, std::int32_t ranks_per_node) {
    return {name, [ranks_per_node](const std::function<void(ports::Communicator&)>& body) {
                const auto group = group_of(MPI_COMM_WORLD, ranks_per_node);
                body(*group);
            }};
}

// Ranks in reverse order: rank numbers are those of the user's communicator, not of the world.
ports::CommunicatorWorld reversed_world() {
    return {"Reversed", [](const std::function<void(ports::Communicator&)>& body) {
                MPI_Comm reversed = MPI_COMM_NULL;
                PMPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of(MPI_COMM_WORLD), &reversed);
                const auto group = group_of(reversed, 2);
                EXPECT_EQ(group->place().rank.value(), rank_of(reversed));
                PMPI_Comm_free(&reversed);
                body(*group);
            }};
}

INSTANTIATE_TEST_SUITE_P(Mpi, CommunicatorContract,
                         testing::Values(world("AsItIs", 0), world("NodesOfOne", 1),
                                         world("NodesOfTwo", 2), world("NodesOfThree", 3),
                                         reversed_world()),
                         ports::communicator_world_name);

TEST(MpiCommunicator, MatchesTheSameRanksInTheSameOrderOnly) {
    const auto group = group_of(MPI_COMM_WORLD);
    EXPECT_TRUE(group->matches(MPI_COMM_WORLD));
    MPI_Comm again = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &again);
    EXPECT_TRUE(group->matches(again));
    PMPI_Comm_free(&again);
    EXPECT_EQ(group->matches(MPI_COMM_SELF), size_of(MPI_COMM_WORLD) == 1);
    MPI_Comm reversed = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_WORLD, 0, -rank_of(MPI_COMM_WORLD), &reversed);
    EXPECT_EQ(group->matches(reversed), size_of(MPI_COMM_WORLD) == 1);
    PMPI_Comm_free(&reversed);
}

TEST(MpiCommunicator, LivesBesideAnotherOfOtherRanks) {
    MPI_Comm half = MPI_COMM_NULL;
    PMPI_Comm_split(MPI_COMM_WORLD, rank_of(MPI_COMM_WORLD) % 2, 0, &half);
    const auto some = group_of(half);
    const auto all = group_of(MPI_COMM_WORLD, 2);
    ports::meet(*some);
    ports::meet(*all);
    ports::meet(*some);
    EXPECT_EQ(some->place().ranks, size_of(half));
    PMPI_Comm_free(&half);
}

TEST(MpiCommunicator, TellsEveryoneWhatTheFirstRankKnows) {
    for (const int ranks_per_node : {0, 2}) {
        const auto group = group_of(MPI_COMM_WORLD, ranks_per_node);
        for (int round = 0; round < 50; ++round) {
            std::array<int, 100> numbers{};
            numbers.fill(rank_of(MPI_COMM_WORLD) == 0 ? round + 7 : -1);
            group->broadcast(std::as_writable_bytes(std::span{numbers}));
            EXPECT_EQ(std::ranges::count(numbers, round + 7), 100);
        }
    }
}

// The first rank cannot create its node's memory: no rank gets a communicator, and none hangs.
TEST(MpiCommunicator, AFailureOfOneRankIsEveryones) {
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    if (rank_of(MPI_COMM_WORLD) == 0) {
        const rlimit small{1 << 20, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
    }
    const auto group = MpiCommunicator::create(MPI_COMM_WORLD, {node_bytes, 1});
    ::setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(group.has_value());
    EXPECT_EQ(group.error().system, EFBIG);
    EXPECT_FALSE(group.error().message.empty());
    ports::meet(*group_of(MPI_COMM_WORLD));
}

std::ptrdiff_t open_descriptors() {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return std::distance(begin(all), end(all));
}

TEST(MpiCommunicator, LeavesNoDescriptorAndNoCommunicatorBehind) {
    group_of(MPI_COMM_WORLD, 1).reset();
    const std::ptrdiff_t before = open_descriptors();
    // MPICH has 2048 communicators at most; with more ranks than cores that would take too long.
    const int times = size_of(MPI_COMM_WORLD) == 1 ? 2200 : 10;
    for (int i = 0; i < times; ++i) {
        const auto group = group_of(MPI_COMM_WORLD, 1);
        ASSERT_NE(group, nullptr);
    }
    const auto group = group_of(MPI_COMM_WORLD, 1);
    EXPECT_EQ(open_descriptors(), before);
    ports::meet(*group);
}

// Rank 1 is still inside a large send of its own to rank 0, which already waits for rank 1 in our
// call, by `wait`. The send ends only if rank 0's wait lets the MPI progress.
template <class Wait>
void wait_for_a_sender(std::size_t length, Wait wait) {
    const auto group = group_of(MPI_COMM_WORLD);
    ports::Board& board = ports::board_of(*group);
    std::vector<std::byte> bytes(length);
    if (size_of(MPI_COMM_WORLD) > 1 && group->place().rank.value() == 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        PMPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 1, 9, MPI_COMM_WORLD,
                   &request);
        wait(*group, board.ping);
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_EQ(bytes.back(), std::byte{77});
    }
    if (group->place().rank.value() == 1) {
        bytes.back() = std::byte{77};
        PMPI_Ssend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, 9, MPI_COMM_WORLD);
        board.ping.store(1, std::memory_order_release);
        group->wake(board.ping);
    }
    ports::meet(*group);
}

TEST(MpiCommunicator, AWaitingRankServesASendOfTheProgramsOwn) {
    wait_for_a_sender(32 << 20, [](auto& group, auto& word) { group.wait(word, 0); });
}

TEST(MpiCommunicator, ABriefWaitServesASendOfTheProgramsOwn) {
    wait_for_a_sender(4 << 20, [](auto& group, auto& word) {
        while (word.load(std::memory_order_acquire) == 0) {
            group.wait_briefly(word, 0);
        }
    });
}

// A rank that dies is noticed by ranks that wait for it, whatever the launcher does. With
// `--die-one` the last rank kills itself, and the others must end by MPI_Abort.
[[noreturn]] void die_one() {
    const auto group = group_of(MPI_COMM_WORLD);
    ports::meet(*group);
    if (rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1) {
        ::kill(::getpid(), SIGKILL);
    }
    ports::Board& board = ports::board_of(*group);
    group->wait(board.pong, 0);
    ::_exit(0);
}

// An all-gather that fails on one rank only leaves the others with a result, so that they go on
// and wait for that rank. With `--lose-gather` this happens to the last rank, and the job must end
// by MPI_Abort.
[[noreturn]] void lose_gather() {
    const auto group = group_of(MPI_COMM_WORLD, 1);
    ports::meet(*group);
    const bool last = rank_of(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
    all_gather_fails = last;
    const std::byte mine{1};
    std::vector<std::byte> all(static_cast<std::size_t>(group->place().nodes));
    group->all_gather({&mine, 1}, all);
    const ports::Word never{0};
    while (!last) {
        group->wait(never, 0);
    }
    ::_exit(0);
}

}  // namespace

}  // namespace forebay::adapters

// Stands before the MPI's own function, which it calls unless it is to fail.
extern "C" int PMPI_Allgather(const void* mine, int count, MPI_Datatype type, void* all,
                              int all_count, MPI_Datatype all_type, MPI_Comm communicator) {
    if (forebay::adapters::all_gather_fails) {
        return MPI_ERR_OTHER;
    }
    static const auto real =
        reinterpret_cast<decltype(&PMPI_Allgather)>(::dlsym(RTLD_NEXT, "PMPI_Allgather"));
    return real(mine, count, type, all, all_count, all_type, communicator);
}

int main(int argc, char** argv) {
    ::alarm(forebay::test_seconds(580));
    MPI_Init(&argc, &argv);
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1 && std::string{argv[1]} == "--die-one") {
        forebay::adapters::die_one();
    }
    if (argc > 1 && std::string{argv[1]} == "--lose-gather") {
        forebay::adapters::lose_gather();
    }
    const int status = RUN_ALL_TESTS();
    MPI_Finalize();
    return status;
}
