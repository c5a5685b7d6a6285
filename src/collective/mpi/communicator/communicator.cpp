// How a communicator is made: every rank creates shared memory, which costs nothing until it is
// touched. One all-gather tells all ranks everything (machine, process, descriptor); each node uses
// the memory of its leader; and one all-reduce agrees that this has worked everywhere. Only then
// are the descriptors closed.
#include "collective/mpi/communicator/communicator.hpp"

#include "collective/mpi/communicator/failure.hpp"
#include "storage/posix/clock.hpp"
#include "storage/posix/futex.hpp"
#include "storage/posix/host.hpp"
#include "storage/posix/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fmt/format.h>
#include <sched.h>

namespace forebay::adapters {

namespace {

constexpr std::size_t control_bytes = 4096;
// One sleep of wait(); after each, the MPI gets to progress.
constexpr std::chrono::microseconds slice{300};
constexpr std::chrono::microseconds brief_wait{100};
constexpr std::int64_t look_at_peers_every_ns = 2'000'000'000;
constexpr int spins_max = 20000;  // about 400 us, in which a neighbour copies 1 MiB
constexpr int yields_max = 100;   // about 40 us if no other process wants the core
constexpr int tag_max = 32767;    // the minimum of MPI_TAG_UB

Result<MPI_Comm> own_communicator(MPI_Comm user) {
    // MPI_Comm_dup would run the attribute callbacks of the program, and inherit its hints.
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm own = MPI_COMM_NULL;
    int code = PMPI_Comm_group(user, &group);
    if (code == MPI_SUCCESS) {
        code = PMPI_Comm_create(user, group, &own);
        PMPI_Group_free(&group);
    }
    const Result<void> result = mpi_result(code, "create a communicator");
    if (!result) {
        return failure(result.error());
    }
    PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    return own;
}

}  // namespace

// The information about itself that each rank sends to all others.
struct MpiCommunicator::Card {
    std::uint64_t host = 0;
    SharedName memory;
    std::int32_t failed = 0;  // errno of creating the memory, or 0
    std::int32_t unused = 0;
};

// The control page, which is the first page of the shared memory. It begins with the secret of
// SharedName.
struct MpiCommunicator::Control {
    std::uint64_t secret;
    std::array<std::atomic<std::uint64_t>, std::tuple_size_v<CoreSet>> cores;
    ports::Word times_told;
    ports::Word times_heard;  // summed over all ranks but rank 0
    std::array<std::byte, broadcast_bytes_max> told;
};

MpiCommunicator::MpiCommunicator(MPI_Comm own, Roster roster, Rank rank)
    : own_{own}, roster_{std::move(roster)}, place_{roster_.place_of(rank)} {}

Result<std::unique_ptr<MpiCommunicator>> MpiCommunicator::create(
    MPI_Comm user, const MpiCommunicatorOptions& options) {
    const Result<MPI_Comm> own = own_communicator(user);
    if (!own) {
        return failure(own.error());
    }
    int ranks = 0;
    int rank = 0;
    PMPI_Comm_size(*own, &ranks);
    PMPI_Comm_rank(*own, &rank);
    const Result<SharedMemory> memory = SharedMemory::create(control_bytes + options.node_bytes);
    Card mine;
    // A rank that cannot identify its machine shares memory with no other rank.
    mine.host = host_number().value_or(static_cast<std::uint64_t>(rank));
    mine.memory = memory ? memory->name() : SharedName{};
    mine.failed = memory ? 0 : memory.error().system;
    std::vector<Card> cards(static_cast<std::size_t>(ranks));
    abort_if_failed(
        PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, *own),
        *own, "gather from all ranks");
    std::vector<std::uint64_t> hosts;
    hosts.reserve(cards.size());
    for (const Card& card : cards) {
        hosts.push_back(card.host);
    }
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): the constructor is private
    std::unique_ptr<MpiCommunicator> group{
        new MpiCommunicator{*own, Roster{hosts, options.ranks_per_node}, Rank{rank}}};
    // Collective among the leaders: each of them must call this, whatever has failed before.
    Result<void> result = group->join_leaders();
    if (result) {
        result = group->attach(cards, options);
    }
    result = agree(*own, result);
    if (!result) {
        return failure(std::move(result.error()));
    }
    group->count_cores(cards);
    group->watch_peers(cards);
    return group;
}

Result<void> MpiCommunicator::attach(const std::vector<Card>& cards,
                                     const MpiCommunicatorOptions& options) {
    const Card& leader = cards[rank_at(place_.node, LocalRank{0}).position()];
    if (leader.failed != 0) {
        return failure(system_error(leader.failed, "make memory shared by the ranks of a node"));
    }
    Result<MemoryMapping> mapping =
        SharedMemory::attach(leader.memory, control_bytes + options.node_bytes);
    if (!mapping) {
        return failure(std::move(mapping.error()));
    }
    memory_ = std::move(*mapping);
    const CoreSet cores = usable_cores();
    for (std::size_t i = 0; i < cores.size(); ++i) {
        control().cores.at(i).fetch_or(cores.at(i), std::memory_order_relaxed);
    }
    return {};
}

Result<void> MpiCommunicator::join_leaders() {
    if (!place_.leader() || place_.nodes == 1) {
        return {};
    }
    std::vector<int> ranks;
    ranks.reserve(static_cast<std::size_t>(place_.nodes));
    for (std::int32_t node = 0; node < place_.nodes; ++node) {
        ranks.push_back(rank_at(NodeId{node}, LocalRank{0}).value());
    }
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    PMPI_Comm_group(own_, &all);
    PMPI_Group_incl(all, place_.nodes, ranks.data(), &some);
    const int code = PMPI_Comm_create_group(own_, some, 0, &leaders_);
    PMPI_Group_free(&some);
    PMPI_Group_free(&all);
    return mpi_result(code, "create a communicator of node leaders");
}

MpiCommunicator::Control& MpiCommunicator::control() const noexcept {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): shared memory, zero is valid
    return *reinterpret_cast<Control*>(memory_.bytes().data());
}

// Sets spins_. Ranks that are bound to cores have one each, unbound ranks share all of them; the
// union of the cores that ranks may use is right for both.
void MpiCommunicator::count_cores(const std::vector<Card>& cards) {
    int cores = 0;
    for (const auto& word : control().cores) {
        cores += std::popcount(word.load(std::memory_order_relaxed));
    }
    int neighbours = 0;
    for (const Card& card : cards) {
        neighbours += card.host == cards[place_.rank.position()].host ? 1 : 0;
    }
    spins_ = neighbours <= cores;
}

void MpiCommunicator::watch_peers(const std::vector<Card>& cards) {
    const Card& mine = cards[place_.rank.position()];
    for (const Card& card : cards) {
        const bool peer = card.host == mine.host && card.memory.process != mine.memory.process;
        if (peer && card.failed == 0 && (::kill(card.memory.process, 0) == 0 || errno == EPERM)) {
            peers_.push_back(card.memory.process);
        }
    }
    look_at_peers_ns_ = SteadyClock{}.now_ns() + look_at_peers_every_ns;
}

MpiCommunicator::~MpiCommunicator() {
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized != 0) {
        return;
    }
    if (leaders_ != MPI_COMM_NULL) {
        PMPI_Comm_free(&leaders_);
    }
    PMPI_Comm_free(&own_);
}

bool MpiCommunicator::matches(MPI_Comm user) const noexcept {
    int result = MPI_UNEQUAL;
    return PMPI_Comm_compare(user, own_, &result) == MPI_SUCCESS &&
           (result == MPI_CONGRUENT || result == MPI_IDENT);
}

std::span<std::byte> MpiCommunicator::node_memory() noexcept {
    return memory_.bytes().subspan(control_bytes);
}

void MpiCommunicator::give_back(std::size_t from) noexcept {
    memory_.give_back(control_bytes + from);
}

// On a single node, messages would cost more than polling shared memory: every rank that waits in
// the MPI spins.
void MpiCommunicator::broadcast(std::span<std::byte> bytes) noexcept {
    static_assert(sizeof(Control) <= control_bytes);
    expects(bytes.size() <= broadcast_bytes_max, "what is told fits into the control page");
    if (place_.nodes > 1) {
        const auto count = static_cast<int>(bytes.size());
        if (PMPI_Bcast(bytes.data(), count, MPI_BYTE, 0, own_) != MPI_SUCCESS) {
            abort_job(own_, "cannot tell all ranks (MPI refused). See MPI's own messages.");
        }
        return;
    }
    Control& page = control();
    const std::uint32_t before = told_++;
    if (place_.leader()) {
        const std::uint32_t heard = before * static_cast<std::uint32_t>(place_.locals - 1);
        while (page.times_heard.load(std::memory_order_acquire) != heard) {
            wait_briefly(page.times_heard, page.times_heard.load(std::memory_order_relaxed));
        }
        std::ranges::copy(bytes, page.told.begin());
        page.times_told.store(told_, std::memory_order_release);
        wake(page.times_told);
        return;
    }
    while (page.times_told.load(std::memory_order_acquire) == before) {
        wait(page.times_told, before);
    }
    std::ranges::copy(std::span{page.told}.first(bytes.size()), bytes.begin());
    page.times_heard.fetch_add(1, std::memory_order_release);
}

// Whether `word` has changed within a short wait without sleep. With a core for every rank, the
// rank that is waited for is running, so spinning is right. Otherwise that rank may be waiting for
// this core: yielding the core is cheaper than sleeping, which leaves an idle core that has to be
// woken.
bool MpiCommunicator::spin(const ports::Word& word, std::uint32_t seen) const noexcept {
    for (int i = 0; i < (spins_ ? spins_max : yields_max); ++i) {
        if (word.load(std::memory_order_acquire) != seen) {
            return true;
        }
        if (spins_) {
            relax_core();
        } else {
            ::sched_yield();
        }
    }
    return false;
}

void MpiCommunicator::wait(const ports::Word& word, std::uint32_t seen) noexcept {
    if (spin(word, seen)) {
        return;
    }
    while (true) {
        futex_wait_for(word, seen, slice);
        if (word.load(std::memory_order_acquire) != seen) {
            return;
        }
        after_timeout();
    }
}

void MpiCommunicator::wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept {
    if (word.load(std::memory_order_acquire) != seen) {
        return;
    }
    futex_wait_for(word, seen, brief_wait);
    if (word.load(std::memory_order_acquire) == seen) {
        after_timeout();
    }
}

void MpiCommunicator::wake(ports::Word& word) noexcept { futex_wake(word); }

// Lets the MPI progress, and from time to time checks that the other processes on this machine
// live. Another rank may be inside a send of the program to this rank, before it comes to the call
// in which this rank waits for it: that send ends only if this rank's MPI progresses, too. The
// probe never finds a message, since none is sent on this communicator.
void MpiCommunicator::after_timeout() noexcept {
    int found = 0;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, own_, &found, MPI_STATUS_IGNORE);
    const std::int64_t now = SteadyClock{}.now_ns();
    if (now < look_at_peers_ns_) {
        return;
    }
    look_at_peers_ns_ = now + look_at_peers_every_ns;
    for (const pid_t peer : peers_) {
        if (::kill(peer, 0) != 0 && errno == ESRCH) {
            abort_job(own_, fmt::format("process {} of this job has ended while this rank waits "
                                        "for it in a collective file call (killed, or out of "
                                        "memory?). The job is aborted; see that process's output.",
                                        peer));
        }
    }
}

void MpiCommunicator::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
    expects(place_.leader(), "leaders gather");
    expects(mine.size() <= INT_MAX, "a part fits into a message of MPI's");
    expects(all.size() == mine.size() * static_cast<std::size_t>(place_.nodes),
            "all holds one part of every node");
    if (place_.nodes == 1) {
        std::ranges::copy(mine, all.begin());
        return;
    }
    const auto count = static_cast<int>(mine.size());
    abort_if_failed(
        PMPI_Allgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, leaders_), own_,
        "gather from the leaders of all nodes");
}

MpiCommunicator::Ticket MpiCommunicator::keep(MPI_Request request) {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] == MPI_REQUEST_NULL) {
            requests_[i] = request;
            return i;
        }
    }
    requests_.push_back(request);
    return requests_.size() - 1;
}

template <class Byte, class Call>
MpiCommunicator::Ticket MpiCommunicator::begin(Call call, const Envelope& envelope,
                                               std::span<Byte> bytes) {
    expects(place_.leader() && envelope.other != place_.node,
            "leaders exchange messages with other nodes");
    expects(bytes.size() <= INT_MAX && envelope.tag >= 0 && envelope.tag <= tag_max,
            "a message fits into MPI's");
    MPI_Request request = MPI_REQUEST_NULL;
    if (call(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, envelope.other.value(),
             envelope.tag, leaders_, &request) != MPI_SUCCESS) {
        abort_job(own_, envelope.trouble);
    }
    return keep(request);
}

MpiCommunicator::Ticket MpiCommunicator::send(NodeId to, int tag,
                                              std::span<const std::byte> bytes) {
    constexpr auto trouble = "cannot send to another node (MPI refused). See MPI's own messages.";
    return begin(PMPI_Isend, {to, tag, trouble}, bytes);
}

MpiCommunicator::Ticket MpiCommunicator::receive(NodeId from, int tag, std::span<std::byte> bytes) {
    constexpr auto trouble =
        "cannot receive from another node (MPI refused). See MPI's own messages.";
    return begin(PMPI_Irecv, {from, tag, trouble}, bytes);
}

// The ranks cannot agree on the failure of a message any more, since the other side may be
// anywhere: so the job ends.
std::optional<std::size_t> MpiCommunicator::done(Ticket ticket) {
    expects(ticket < requests_.size() && requests_[ticket] != MPI_REQUEST_NULL,
            "a ticket is asked for until it is done, not longer");
    int ended = 0;
    MPI_Status status{};
    if (PMPI_Test(&requests_[ticket], &ended, &status) != MPI_SUCCESS) {
        abort_job(own_, "a message between nodes was lost (MPI failed). See MPI's own messages.");
    }
    if (ended == 0) {
        return std::nullopt;
    }
    int received = 0;  // MPI_UNDEFINED, or anything, for a send
    PMPI_Get_count(&status, MPI_BYTE, &received);
    return static_cast<std::size_t>(std::max(received, 0));
}

}  // namespace forebay::adapters
