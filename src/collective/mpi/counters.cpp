// Merges the counters of all ranks into one line of the record.
#include "collective/mpi/counters.hpp"

#include "collective/mpi/status.hpp"

#include <algorithm>
#include <span>

namespace forebay::interposer {

namespace {

constexpr std::size_t errors_max = 100;  // noted for each file
constexpr std::size_t slow_max = 16;

using Numbers = std::vector<std::int64_t>;

using Field = std::int64_t record::FileTraffic::*;

// Merged by maximum: a collective call counts once, and takes as long as on its slowest rank.
constexpr std::array<Field, 8> largest{
    &record::FileTraffic::calls,          &record::FileTraffic::rounds,
    &record::FileTraffic::bypassed_calls, &record::FileTraffic::total_ns,
    &record::FileTraffic::exchange_ns,    &record::FileTraffic::storage_ns,
    &record::FileTraffic::wait_ns,        &record::FileTraffic::found_limit,
};
constexpr std::array<Field, 3> summed{&record::FileTraffic::bytes, &record::FileTraffic::requests,
                                      &record::FileTraffic::lent_bytes};

constexpr std::size_t largest_count = 2 * largest.size();  // of writes and of reads

// An MPI_User_function on whole tables of numbers: the first largest_count are merged by maximum,
// the rest by sum, so that closing a file costs a single reduction.
void merge_tables(void* in, void* inout, int* count, MPI_Datatype* type) noexcept {
    int bytes = 0;
    PMPI_Type_size(*type, &bytes);
    const std::size_t length = static_cast<std::size_t>(bytes) / sizeof(std::int64_t);
    const std::size_t all = length * static_cast<std::size_t>(*count);
    const std::span from(static_cast<const std::int64_t*>(in), all);
    const std::span to(static_cast<std::int64_t*>(inout), all);
    for (std::size_t i = 0; i < all; ++i) {
        to[i] = i % length < largest_count ? std::max(from[i], to[i]) : from[i] + to[i];
    }
}

void reduce(Numbers& numbers, MPI_Comm communicator) {
    if (communicator == MPI_COMM_NULL) {
        return;
    }
    int rank = 0;
    MPI_Datatype table = MPI_DATATYPE_NULL;
    MPI_Op operation = MPI_OP_NULL;
    PMPI_Comm_rank(communicator, &rank);
    PMPI_Type_contiguous(static_cast<int>(numbers.size()), MPI_INT64_T, &table);
    PMPI_Type_commit(&table);
    PMPI_Op_create(merge_tables, 1, &operation);
    PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : numbers.data(), numbers.data(), 1, table, operation, 0,
                communicator);
    PMPI_Op_free(&operation);
    PMPI_Type_free(&table);
}

void put(Numbers& numbers, std::span<const Field> fields, const record::FileLine& line) {
    for (const auto field : fields) {
        numbers.push_back(line.write.*field);
        numbers.push_back(line.read.*field);
    }
}

std::size_t take(const Numbers& numbers, std::size_t at, std::span<const Field> fields,
                 record::FileLine& line) {
    for (const auto field : fields) {
        line.write.*field = numbers[at++];
        line.read.*field = numbers[at++];
    }
    return at;
}

// Keeps the latest report for each target and direction.
void note(std::vector<record::SlowTargetLine>& all, const record::SlowTargetLine& slow) {
    const auto before = std::ranges::find_if(all, [&](const record::SlowTargetLine& one) {
        return one.target == slow.target && one.writes == slow.writes;
    });
    if (before != all.end()) {
        *before = slow;
    } else if (all.size() < slow_max) {
        all.push_back(slow);
    }
}

}  // namespace

void CallCounters::call(const ports::CallRecord& record) {
    const bool writes = record.direction == IoDirection::write;
    record::FileTraffic& traffic = writes ? write_ : read_;
    traffic.calls += 1;
    traffic.bytes += record.bytes.bytes();
    traffic.rounds += record.rounds;
    traffic.requests += record.requests;
    traffic.bypassed_calls += record.bypassed ? 1 : 0;
    traffic.lent_bytes += record.lent.bytes();
    traffic.total_ns += record.total_ns;
    traffic.exchange_ns += record.exchange_ns;
    traffic.storage_ns += record.storage_ns;
    traffic.wait_ns += record.wait_ns;
    if (record.found_limit > 0) {
        traffic.found_limit = record.found_limit;
    }
    if (record.slow) {
        note(slow_, {record.slow->target.value(), writes, record.slow->rate,
                     record.slow->usual_rate, record.slow->limit});
    }
}

void CallCounters::error(const Error& error) {
    if (errors_.size() < errors_max) {
        errors_.push_back({function_names[function_], error_class_name(error.code), error.message});
    }
}

void CallCounters::passed(std::size_t function, engine::Refusal refusal,
                          std::int64_t bytes) noexcept {
    if (!passed_) {
        return;
    }
    Tally& tally = (*passed_)[function][static_cast<std::size_t>(refusal)];
    tally.calls.fetch_add(1, std::memory_order_relaxed);
    if (bytes >= 0) {
        tally.bytes.fetch_add(bytes, std::memory_order_relaxed);
    } else {
        tally.unknown.fetch_add(1, std::memory_order_relaxed);
    }
}

void CallCounters::fill(record::FileLine& line, MPI_Comm communicator, const char* standing) const {
    line.write = write_;
    line.read = read_;
    line.errors = errors_;
    line.slow_targets = slow_;
    Numbers numbers;
    put(numbers, largest, line);
    put(numbers, summed, line);
    int rank = 0;
    if (communicator != MPI_COMM_NULL) {
        PMPI_Comm_rank(communicator, &rank);
    }
    for (std::size_t i = 0; i < function_count; ++i) {
        const bool counts = rank == 0 || !function_is_collective[i];
        for (const Tally& tally : (*passed_)[i]) {
            numbers.push_back(counts ? tally.calls.load(std::memory_order_relaxed) : 0);
            numbers.push_back(tally.bytes.load(std::memory_order_relaxed));
            numbers.push_back(tally.unknown.load(std::memory_order_relaxed));
        }
    }
    reduce(numbers, communicator);
    const std::size_t tallies = take(numbers, take(numbers, 0, largest, line), summed, line);
    const std::span<const std::int64_t> passed = std::span(numbers).subspan(tallies);
    for (std::size_t i = 0; i < function_count * reasons; ++i) {
        const std::size_t function = i / reasons;
        const auto refusal = static_cast<engine::Refusal>(i % reasons);
        const std::int64_t calls = passed[3 * i];
        if (calls == 0) {
            continue;
        }
        const char* own = function_reasons[function];
        const char* reason = *own != '\0' ? own : standing;
        if (refusal != engine::Refusal::none) {
            reason = engine::reason_of(refusal);
        }
        line.passed_through.push_back({function_names[function], calls,
                                       passed[3 * i + 2] > 0 ? -1 : passed[3 * i + 1], reason});
    }
}

}  // namespace forebay::interposer
