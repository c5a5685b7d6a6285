// The entry points of class `own` in functions.toml: each looks up the open file and calls its
// method.
#include "collective/mpi/guard.hpp"
#include "collective/mpi/process.hpp"
#include "collective/mpi/report.hpp"
#include "collective/mpi/status.hpp"
#include "entry/functions.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/mpi_bridge/storage.hpp"
#include "settings/path.hpp"

#include <sys/stat.h>

namespace forebay::interposer {

namespace {

// Whether Forebay looks at an open at all. Null arguments, and intercommunicators, on which MPI
// allows no files, are left to the MPI.
bool is_ordinary(MPI_Comm communicator, const char* filename, const MPI_File* fh) noexcept {
    if (communicator == MPI_COMM_NULL || filename == nullptr || fh == nullptr) {
        return false;
    }
    int inter = 0;
    return PMPI_Comm_test_inter(communicator, &inter) == MPI_SUCCESS && inter == 0;
}

std::optional<ports::FileIdentity> identity_of_path(const std::string& path) {
    struct stat facts{};
    if (kernel::stat(path.c_str(), &facts) != 0) {
        return std::nullopt;
    }
    return ports::FileIdentity{facts.st_dev, facts.st_ino};
}

struct OpenArguments {
    MPI_Comm communicator;
    const char* filename;
    int amode;
    MPI_Info info;
    MPI_File* fh;
};

FileFacts facts_of(const OpenArguments& arguments, const std::string& path) {
    FileFacts facts;
    facts.name = arguments.filename;
    facts.path = path.empty() ? facts.name : path;
    facts.amode = arguments.amode;
    PMPI_Comm_rank(arguments.communicator, &facts.rank);
    PMPI_Comm_size(arguments.communicator, &facts.ranks);
    return facts;
}

// Fails an open after the MPI has opened the file: closes the file, and deletes it if this open
// created it. Collective.
int refuse_open(const OpenArguments& arguments) {
    real::close(arguments.fh);
    constexpr int is_new = MPI_MODE_CREATE | MPI_MODE_EXCL;
    int rank = 0;
    PMPI_Comm_rank(arguments.communicator, &rank);
    if ((arguments.amode & is_new) == is_new && rank == 0) {
        PMPI_File_delete(arguments.filename, MPI_INFO_NULL);
    }
    return raise_at_open(MPI_ERR_OTHER);
}

// While an object lives, files that the MPI opens on this thread belong to the pool's group `group`
// (0: to none).
class GroupOpens {
public:
    GroupOpens(const pool::PoolCalls* calls, std::uint64_t group)
        : calls_{group == 0 ? nullptr : calls} {
        if (calls_ != nullptr) {
            calls_->group_opens(group);
        }
    }
    GroupOpens(const GroupOpens&) = delete;
    GroupOpens& operator=(const GroupOpens&) = delete;
    ~GroupOpens() {
        if (calls_ != nullptr) {
            calls_->group_opens(0);
        }
    }

private:
    const pool::PoolCalls* calls_;
};

// Whether this rank's pool can take part in a file that the ranks of several nodes write together.
bool can_take_part(const pool::PoolCalls* calls,
                   const std::optional<ports::FileIdentity>& identity) {
    return identity && calls->knows(identity->device, identity->inode);
}

// Returns `group` if all ranks can take part; else 0: the file is treated as any other. Collective.
std::uint64_t agreed_group(std::uint64_t group, bool can, MPI_Comm communicator) {
    if (group == 0) {
        return 0;
    }
    int all = can ? 1 : 0;
    PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, communicator);
    return all != 0 ? group : 0;
}

int open_by_mpi(const OpenArguments& arguments, int amode, std::uint64_t group,
                const pool::PoolCalls* pool) {
    const GroupOpens opens{pool, group};
    return real::open(arguments.communicator, arguments.filename, amode, arguments.info,
                      arguments.fh);
}

int open_file(const OpenArguments& arguments) {
    const std::int64_t begin = adapters::SteadyClock().now_ns();
    const std::string path = plain_path(arguments.filename).value_or("");
    UserSettings settings;
    OpeningTalk talk{{arguments.communicator, path, arguments.amode, arguments.info}, settings};
    int amode = arguments.amode;
    if ((amode & MPI_MODE_CREATE) != 0 && talk.end().made != 0) {
        amode &= ~MPI_MODE_EXCL;  // rank 0 has created it exclusively
    }
    const pool::PoolCalls* const pool = adapters::pool_calls();
    const bool covered = pool != nullptr && !path.empty() && pool->covers(path.c_str());
    const std::uint64_t group = covered ? talk.end().group : 0;
    const int code = open_by_mpi(arguments, amode, group, pool);
    const OpeningDecision& opening = talk.end();
    if (opening.failed != 0) {
        return code != MPI_SUCCESS ? code : refuse_open(arguments);
    }
    CachedCommunicator* cached_communicator =
        join_cached_communicator(arguments.communicator, opening, needs_of(settings));
    const auto identity = identity_of_path(path);
    const bool can = code == MPI_SUCCESS && covered && can_take_part(pool, identity);
    const std::uint64_t agreed = agreed_group(opening.group, can, arguments.communicator);
    if (code != MPI_SUCCESS) {
        leave_cached_communicator(cached_communicator);
        return code;
    }
    FileFacts facts = facts_of(arguments, path);
    facts.standing = opening.standing;
    if (cached_communicator != nullptr && !cached_communicator->group &&
        facts.standing == Standing::ours) {
        facts.standing = Standing::no_group;
    }
    facts.recording = opening.recording != 0;
    facts.warnings = talk.take_warnings();
    if (opening.targets > 0) {
        facts.layout = {opening.targets, opening.stripe_bytes};
    }
    facts.pooled = opening.pooled != 0;
    facts.pool = pool;
    facts.covered = covered;
    if (facts.rank == 0 || covered) {
        facts.identity = identity;
    }
    facts.group = agreed;
    facts.open_ns = adapters::SteadyClock().now_ns() - begin;
    auto file = std::make_unique<OpenFile>(*arguments.fh, std::move(facts), std::move(settings),
                                           cached_communicator, large_count_inquiry());
    announce(*file);
    report_job(*file);
    keep_file(*arguments.fh, std::move(file));
    return MPI_SUCCESS;
}

int close_file(MPI_File* fh) {
    const std::unique_ptr<OpenFile> file = take_file(*fh);
    const int finished = file->finish();
    const int code = real::close(fh);
    leave_cached_communicator(file->cached_communicator());
    return finished != MPI_SUCCESS ? finished : code;  // `finished` is the same on all ranks
}

// Calls `own` with the open file, or `other` if Forebay does not know the handle.
template <class Own, class Other>
int with_file(MPI_File fh, const Own& own, const Other& other,
              WaitingRanks waiting = WaitingRanks::none) noexcept {
    OpenFile* file = find_file(fh);
    if (file == nullptr) {
        return other();
    }
    const DirectMpiCalls inside;
    return guarded(fh, waiting == WaitingRanks::none ? waiting : file->waiting(),
                   [&] { return own(*file); });
}

}  // namespace

extern "C" {

int forebay_file_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info,
                      MPI_File* fh) noexcept {
    if (DirectMpiCalls::now() || !is_ordinary(comm, filename, fh)) {
        return real::open(comm, filename, amode, info, fh);
    }
    const DirectMpiCalls inside;
    return guarded(MPI_FILE_NULL, WaitingRanks::others,
                   [&] { return open_file({comm, filename, amode, info, fh}); });
}

int forebay_file_close(MPI_File* fh) noexcept {
    if (fh == nullptr || find_file(*fh) == nullptr) {
        return real::close(fh);
    }
    const DirectMpiCalls inside;
    return guarded(MPI_FILE_NULL, WaitingRanks::others, [&] { return close_file(fh); });
}

int forebay_file_set_view(MPI_File fh, MPI_Offset displacement, MPI_Datatype etype,
                          MPI_Datatype filetype, const char* datarep, MPI_Info info) noexcept {
    return with_file(
        fh,
        [&](OpenFile& file) {
            return file.set_view({displacement, etype, filetype, datarep, info});
        },
        [&] { return real::set_view(fh, displacement, etype, filetype, datarep, info); },
        WaitingRanks::others);
}

int forebay_file_get_view(MPI_File fh, MPI_Offset* displacement, MPI_Datatype* etype,
                          MPI_Datatype* filetype, char* datarep) noexcept {
    return with_file(
        fh,
        [&](const OpenFile& file) { return file.get_view(displacement, etype, filetype, datarep); },
        [&] { return real::get_view(fh, displacement, etype, filetype, datarep); });
}

int forebay_file_seek(MPI_File fh, MPI_Offset offset, int whence) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.seek(offset, whence); },
        [&] { return real::seek(fh, offset, whence); });
}

int forebay_file_seek_shared(MPI_File fh, MPI_Offset offset, int whence) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.seek_shared(offset, whence); },
        [&] { return real::seek_shared(fh, offset, whence); }, WaitingRanks::others);
}

int forebay_file_get_byte_offset(MPI_File fh, MPI_Offset offset,
                                 MPI_Offset* displacement) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.get_byte_offset(offset, displacement); },
        [&] { return real::get_byte_offset(fh, offset, displacement); });
}

int forebay_file_get_size(MPI_File fh, MPI_Offset* size) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.get_size(size); },
        [&] { return real::get_size(fh, size); });
}

int forebay_file_set_size(MPI_File fh, MPI_Offset size) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.set_size(size); },
        [&] { return real::set_size(fh, size); }, WaitingRanks::others);
}

int forebay_file_preallocate(MPI_File fh, MPI_Offset size) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.preallocate(size); },
        [&] { return real::preallocate(fh, size); }, WaitingRanks::others);
}

int forebay_file_get_amode(MPI_File fh, int* amode) noexcept {
    return with_file(
        fh, [&](const OpenFile& file) { return file.get_amode(amode); },
        [&] { return real::get_amode(fh, amode); });
}

int forebay_file_set_info(MPI_File fh, MPI_Info info) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.set_info(info); },
        [&] { return real::set_info(fh, info); }, WaitingRanks::others);
}

int forebay_file_get_info(MPI_File fh, MPI_Info* info) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.get_info(info); },
        [&] { return real::get_info(fh, info); });
}

int forebay_file_sync(MPI_File fh) noexcept {
    return with_file(
        fh, [](OpenFile& file) { return file.sync(); }, [&] { return real::sync(fh); },
        WaitingRanks::others);
}

int forebay_file_set_atomicity(MPI_File fh, int flag) noexcept {
    return with_file(
        fh, [&](OpenFile& file) { return file.set_atomicity(flag); },
        [&] { return real::set_atomicity(fh, flag); }, WaitingRanks::others);
}

}  // extern "C"

}  // namespace forebay::interposer
