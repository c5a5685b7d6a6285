// See test_ranks.hpp.
#include "apps/bench/ior/test_ranks.hpp"

#include "apps/bench/session/cores.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <unistd.h>

namespace forebay::bench {

namespace {

using Host = std::array<char, 64>;

Host host_name() noexcept {
    Host name{};
    ::gethostname(name.data(), name.size() - 1);
    return name;
}

}  // namespace

TestRanks::TestRanks(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    find_nodes();
    cores_ = cores_of(node_comm_);
    share_slots();
}

TestRanks::~TestRanks() {
    MPI_Win_free(&window_);
    MPI_Comm_free(&node_comm_);
}

// A node is what shares memory; it is called after its lowest rank's host.
void TestRanks::find_nodes() {
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_comm_);
    MPI_Comm_rank(node_comm_, &local_rank_);
    int leader = rank_;
    MPI_Bcast(&leader, 1, MPI_INT, 0, node_comm_);
    const std::vector<int> leaders = all(leader);
    const std::vector<Host> names = all(host_name());
    std::vector<int> known;
    for (std::size_t rank = 0; rank < leaders.size(); ++rank) {
        auto found = std::find(known.begin(), known.end(), leaders[rank]);
        if (found == known.end()) {
            known.push_back(leaders[rank]);
            hosts_.emplace_back(names[rank].data());
            found = known.end() - 1;
        }
        node_of_.push_back(found - known.begin());
    }
    ranks_of_first_node_ = std::count(node_of_.begin(), node_of_.end(), 0);
    by_block_ = hosts_.size() == 1 || size_ == 1 || node_of_[1] == node_of_[0];
}

void TestRanks::share_slots() {
    int count = 0;
    int own = 0;
    MPI_Comm_size(node_comm_, &count);
    MPI_Comm_rank(node_comm_, &own);
    // Open MPI's memory begins at any multiple of 16, a slot at one of 64: one more is asked for.
    constexpr auto slot = static_cast<MPI_Aint>(sizeof(measure::ProgressSlot));
    void* base = nullptr;
    MPI_Win_allocate_shared(own == 0 ? slot * (count + 1) : 0, 1, MPI_INFO_NULL, node_comm_,
                            static_cast<void*>(&base), &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    void* first = nullptr;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, static_cast<void*>(&first));
    auto room = static_cast<std::size_t>(bytes);
    std::align(alignof(measure::ProgressSlot), sizeof(measure::ProgressSlot), first, room);
    slots_ = {static_cast<measure::ProgressSlot*>(first), static_cast<std::size_t>(count)};
    ::new (&slots_[static_cast<std::size_t>(own)]) measure::ProgressSlot{};
    MPI_Barrier(node_comm_);
}

void TestRanks::barrier() const { MPI_Barrier(comm_); }

std::int64_t TestRanks::sum(std::int64_t value) const {
    std::int64_t all_of_it = 0;
    MPI_Allreduce(&value, &all_of_it, 1, MPI_INT64_T, MPI_SUM, comm_);
    return all_of_it;
}

std::int64_t TestRanks::most(std::int64_t value) const {
    std::int64_t greatest = 0;
    MPI_Allreduce(&value, &greatest, 1, MPI_INT64_T, MPI_MAX, comm_);
    return greatest;
}

std::int64_t TestRanks::from_first(std::int64_t value) const {
    MPI_Bcast(&value, 1, MPI_INT64_T, 0, comm_);
    return value;
}

std::optional<Error> TestRanks::agreed(const std::optional<Error>& own) const {
    const int mine = own ? rank_ : INT_MAX;
    int lowest = INT_MAX;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm_);
    if (lowest == INT_MAX) {
        return std::nullopt;
    }
    Error error = own.value_or(Error{});
    std::array<int, 3> head{static_cast<int>(error.code), error.system,
                            static_cast<int>(error.message.size())};
    MPI_Bcast(head.data(), 3, MPI_INT, lowest, comm_);
    std::string message = rank_ == lowest ? error.message : std::string();
    message.resize(static_cast<std::size_t>(head[2]));
    MPI_Bcast(message.data(), head[2], MPI_CHAR, lowest, comm_);
    if (size_ > 1) {
        message = fmt::format("rank {}: {}", lowest, message);
    }
    return Error{static_cast<ErrorCode>(head[0]), head[1], message};
}

std::vector<std::string> TestRanks::gathered(const std::string& own) const {
    const int length = static_cast<int>(own.size());
    const std::vector<int> lengths = all(length);
    std::vector<int> begins(lengths.size(), 0);
    std::size_t total = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        begins[i] = static_cast<int>(total);
        total += static_cast<std::size_t>(lengths[i]);
    }
    std::string text(first() ? total : 0, '\0');
    MPI_Gatherv(own.data(), length, MPI_CHAR, text.data(), lengths.data(), begins.data(), MPI_CHAR,
                0, comm_);
    std::vector<std::string> parts;
    for (std::size_t i = 0; first() && i < lengths.size(); ++i) {
        parts.push_back(
            text.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
    }
    return parts;
}

measure::Histogram TestRanks::merged(const measure::Histogram& own) const {
    std::vector<std::uint64_t> counts(measure::Histogram::buckets);
    MPI_Allreduce(own.counts().data(), counts.data(), static_cast<int>(counts.size()), MPI_UINT64_T,
                  MPI_SUM, comm_);
    const auto mine = own.extremes();
    measure::Histogram::Extremes all_of_them;
    MPI_Allreduce(&mine.min, &all_of_them.min, 1, MPI_UINT64_T, MPI_MIN, comm_);
    MPI_Allreduce(&mine.max, &all_of_them.max, 1, MPI_UINT64_T, MPI_MAX, comm_);
    MPI_Allreduce(&mine.sum, &all_of_them.sum, 1, MPI_UINT64_T, MPI_SUM, comm_);
    return measure::Histogram::merged(counts, all_of_them);
}

}  // namespace forebay::bench
