// One object holds the state, and outlives everything else in the process.
#include "collective/mpi/process.hpp"

#include "collective/mpi/gpu.hpp"
#include "collective/mpi/guard.hpp"
#include "collective/mpi/narrow.hpp"
#include "collective/mpi/report.hpp"
#include "entry/functions.hpp"
#include "foundation/base/contracts.hpp"
#include "storage/posix/machine.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forebay::interposer {

namespace {

struct InterposerProcess {
    std::array<void*, function_count> real{};   // the MPI's, or fallbacks for missing ones
    std::array<void*, function_count> bound{};  // what the program's calls go to
    LargeCountInquiry inquiry;
    std::shared_mutex files_mutex;
    std::unordered_map<MPI_File, std::unique_ptr<OpenFile>> files;
    std::mutex cached_communicators_mutex;
    CachedCommunicators cached_communicators;
    std::mutex settings_mutex;
    std::optional<Result<UserSettings>> settings;
    std::once_flag gpu_once;
    GpuMemory gpu;
    std::int32_t aggregators_per_node = 0;  // 0: the machine was not inspected yet
    std::atomic<bool> recorded{false};
    std::atomic<bool> told_of_stripes{false};
    bool finalize_is_watched = false;
    std::string record;  // where MPI_Finalize appends the line on the end; empty: nowhere
    pid_t finalized_by = 0;
};

// Never destroyed: at exit the MPI has ended, and nothing can be given back to it.
union ImmortalProcess {
    InterposerProcess process;
    ImmortalProcess() : process() {}
    ImmortalProcess(const ImmortalProcess&) = delete;
    ImmortalProcess& operator=(const ImmortalProcess&) = delete;
    ~ImmortalProcess() {}  // NOLINT(modernize-use-equals-default): would be deleted
};

InterposerProcess& process() noexcept {
    static ImmortalProcess immortal;
    return immortal.process;
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a thread has no other place
thread_local int depth = 0;  // nesting of Forebay's own calls to the MPI

template <class Function>
Function find_in(void* libmpi, const char* name) noexcept {
    return reinterpret_cast<Function>(dlsym(libmpi, name));
}

void at_exit() {
    if (getpid() != process().finalized_by) {
        return;  // this process is a child of fork
    }
    for (const auto& [handle, file] : process().files) {
        report_unclosed(*file);
    }
}

// Runs within MPI_Finalize, which first deletes the attributes of MPI_COMM_SELF, the last one
// first, while MPI still works. Those that were set before ours may still close files afterwards,
// as HDF5's does.
int at_finalize(MPI_Comm /*self*/, int /*key*/, void* /*value*/, void* /*extra*/) noexcept {
    const DirectMpiCalls inside;
    InterposerProcess& p = process();
    std::vector<std::unique_ptr<CachedCommunicator>> idle;
    {
        const std::lock_guard lock(p.cached_communicators_mutex);
        idle = p.cached_communicators.stop_keeping();
    }
    idle.clear();  // destruction is collective, so no lock is held
    std::string record;
    {
        const std::unique_lock lock(p.files_mutex);
        if (!p.files.empty()) {
            p.finalized_by = getpid();
            std::atexit(&at_exit);
        }
        record.swap(p.record);
    }
    // The result is ignored: a program does not fail because a line of its record is missing.
    static_cast<void>(guarded(MPI_FILE_NULL, WaitingRanks::none, [&] {
        if (!record.empty()) {
            report_end(record);
        }
        return MPI_SUCCESS;
    }));
    return MPI_SUCCESS;
}

void watch_finalize(InterposerProcess& p) {
    if (std::exchange(p.finalize_is_watched, true)) {
        return;
    }
    int key = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &at_finalize, &key, nullptr);
    PMPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    PMPI_Comm_free_keyval(&key);
}

bool threads_may_meet() noexcept {
    int level = MPI_THREAD_SINGLE;
    PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE;
}

}  // namespace

void* const* start_process(void* const* real, void* libmpi, bool take_over) noexcept {
    InterposerProcess& p = process();
    p.inquiry.envelope = find_in<decltype(p.inquiry.envelope)>(libmpi, "PMPI_Type_get_envelope_c");
    p.inquiry.contents = find_in<decltype(p.inquiry.contents)>(libmpi, "PMPI_Type_get_contents_c");
    for (std::size_t i = 0; i < function_count; ++i) {
        p.real[i] = real[i] != nullptr ? real[i] : narrow_table()[i];
        p.bound[i] = take_over && own_table()[i] != nullptr ? own_table()[i] : p.real[i];
    }
    return p.bound.data();
}

void* real_address(std::size_t number) noexcept { return process().real[number]; }

const LargeCountInquiry& large_count_inquiry() noexcept { return process().inquiry; }

Result<UserSettings> process_settings() {
    InterposerProcess& p = process();
    const std::lock_guard lock(p.settings_mutex);
    if (!p.settings) {
        p.settings.emplace(read_settings());
    }
    return *p.settings;
}

OpenFile* find_file(MPI_File handle) noexcept {
    if (depth > 0) {
        return nullptr;
    }
    InterposerProcess& p = process();
    const std::shared_lock lock(p.files_mutex);
    const auto found = p.files.find(handle);
    return found == p.files.end() ? nullptr : found->second.get();
}

void keep_file(MPI_File handle, std::unique_ptr<OpenFile> file) {
    InterposerProcess& p = process();
    const std::unique_lock lock(p.files_mutex);
    watch_finalize(p);
    p.files[handle] = std::move(file);
}

std::unique_ptr<OpenFile> take_file(MPI_File handle) noexcept {
    InterposerProcess& p = process();
    const std::unique_lock lock(p.files_mutex);
    const auto found = p.files.extract(handle);
    return found.empty() ? nullptr : std::move(found.mapped());
}

void choose_cached_communicator(MPI_Comm communicator, const CommunicatorNeeds& needs,
                                OpeningDecision& opening) {
    InterposerProcess& p = process();
    const std::lock_guard lock(p.cached_communicators_mutex);
    CachedCommunicator* free =
        p.cached_communicators.find_free(communicator, needs, threads_may_meet());
    if (free != nullptr) {
        free->files += 1;  // before another thread sees it free
    }
    opening.make_cached_communicator = free == nullptr ? 1 : 0;
    opening.cached_communicator =
        free == nullptr ? p.cached_communicators.next_label() : free->label;
}

CachedCommunicator* join_cached_communicator(MPI_Comm communicator, const OpeningDecision& opening,
                                             const CommunicatorNeeds& needs) {
    if (opening.cached_communicator == 0) {
        return nullptr;
    }
    InterposerProcess& p = process();
    bool room = false;
    {
        const std::lock_guard lock(p.cached_communicators_mutex);
        if (opening.make_cached_communicator == 0) {
            CachedCommunicator* found =
                p.cached_communicators.find_label(communicator, opening.cached_communicator);
            invariant(found != nullptr, "all ranks keep the same cached communicators");
            int rank = 0;
            PMPI_Comm_rank(communicator, &rank);
            found->files += rank == 0 ? 0 : 1;  // rank 0 has reserved it
            return found;
        }
        room = p.cached_communicators.has_room();
    }
    auto made = make_cached_communicator(communicator, opening.cached_communicator, needs,
                                         room);  // collective, so no lock is held
    made->files = 1;
    const std::lock_guard lock(p.cached_communicators_mutex);
    return p.cached_communicators.adopt(std::move(made));
}

void leave_cached_communicator(CachedCommunicator* cached_communicator) {
    if (cached_communicator == nullptr) {
        return;
    }
    InterposerProcess& p = process();
    std::unique_ptr<CachedCommunicator> last;
    {
        const std::lock_guard lock(p.cached_communicators_mutex);
        last = p.cached_communicators.release(cached_communicator);
    }
    last.reset();  // destruction is collective, so no lock is held
}

std::int32_t aggregators_per_node() {
    InterposerProcess& p = process();
    const std::lock_guard lock(p.settings_mutex);
    if (p.aggregators_per_node == 0) {
        p.aggregators_per_node = adapters::aggregators_per_node(adapters::inspect_machine());
    }
    return p.aggregators_per_node;
}

bool is_gpu_memory(const void* address) {
    InterposerProcess& p = process();
    std::call_once(p.gpu_once, [&p] { p.gpu = GpuMemory::find(); });
    return p.gpu.holds(address);
}

bool first_without_stripes() noexcept { return !process().told_of_stripes.exchange(true); }

bool first_record() noexcept { return !process().recorded.exchange(true); }

void report_end_at_finalize(std::string record) {
    InterposerProcess& p = process();
    const std::unique_lock lock(p.files_mutex);
    watch_finalize(p);
    p.record = std::move(record);
}

DirectMpiCalls::DirectMpiCalls() noexcept { depth += 1; }

DirectMpiCalls::~DirectMpiCalls() { depth -= 1; }

bool DirectMpiCalls::now() noexcept { return depth > 0; }

}  // namespace forebay::interposer
