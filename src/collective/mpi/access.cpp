// Each function looks up the open file and calls its method.
#include "collective/mpi/access.hpp"

#include "collective/mpi/guard.hpp"
#include "collective/mpi/process.hpp"

namespace forebay::interposer {

namespace {

// Calls `call` with the open file of this handle. If Forebay does not know the handle, the MPI gets
// the call.
template <class Call>
int with_file(MPI_File handle, PassOn pass, const Call& call) noexcept {
    OpenFile* file = find_file(handle);
    if (file == nullptr) {
        return pass(handle);
    }
    const DirectMpiCalls inside;
    return guarded(handle, file->waiting(), [&] { return call(*file); });
}

int take(const AccessCall& access, IoDirection direction, PassOn pass) noexcept {
    return with_file(access.file, pass,
                     [&](OpenFile& file) { return file.access(access, direction, pass); });
}

int take_begin(const AccessCall& access, IoDirection direction, PassOn pass) noexcept {
    return with_file(access.file, pass,
                     [&](OpenFile& file) { return file.begin(access, direction, pass); });
}

int take_end(const SplitEnd& split_end, PassOn pass) noexcept {
    return with_file(split_end.file, pass,
                     [&](OpenFile& file) { return file.end(split_end, pass); });
}

// A rank that fails here keeps no other rank waiting, so the job need not end.
int take_start(const AccessCall& access, IoDirection direction,
               const StartArguments& arguments) noexcept {
    OpenFile* file = find_file(access.file);
    if (file == nullptr) {
        return arguments.pass(access.file);
    }
    const DirectMpiCalls inside;
    return guarded(access.file, WaitingRanks::none,
                   [&] { return file->start(access, direction, arguments); });
}

}  // namespace

int take_write(const AccessCall& access, PassOn pass) noexcept {
    return take(access, IoDirection::write, pass);
}

int take_read(const AccessCall& access, PassOn pass) noexcept {
    return take(access, IoDirection::read, pass);
}

int take_begin_write(const AccessCall& access, PassOn pass) noexcept {
    return take_begin(access, IoDirection::write, pass);
}

int take_begin_read(const AccessCall& access, PassOn pass) noexcept {
    return take_begin(access, IoDirection::read, pass);
}

int take_end_write(const SplitEnd& split_end, PassOn pass) noexcept {
    return take_end(split_end, pass);
}

int take_end_read(const SplitEnd& split_end, PassOn pass) noexcept {
    return take_end(split_end, pass);
}

int take_start_write(const AccessCall& access, const StartArguments& arguments) noexcept {
    return take_start(access, IoDirection::write, arguments);
}

int take_start_read(const AccessCall& access, const StartArguments& arguments) noexcept {
    return take_start(access, IoDirection::read, arguments);
}

int leave(const PassedAccess& passed, PassOn pass) noexcept {
    OpenFile* file = find_file(passed.file);
    if (file == nullptr) {
        return pass(passed.file);
    }
    const DirectMpiCalls inside;
    const WaitingRanks waiting = passed.collective ? file->waiting() : WaitingRanks::none;
    return guarded(passed.file, waiting, [&] { return file->leave(passed, pass); });
}

}  // namespace forebay::interposer
