// Takes the directory and the reader of this process' connection.
#include "pool/capture/files/additions.hpp"

#include "pool/capture/processes/process.hpp"

namespace forebay::capture {

std::optional<pool::StatAddition> addition_of(pool::FileId file, std::int64_t grain) noexcept {
    const DaemonConnection::Reading reading{connection};
    return pool::addition_of(connection.directory(), connection.reader(), file, grain);
}

pool::ChangeTimes times_of(pool::FileId file) noexcept {
    return pool::times_of(connection.directory(), file);
}

pool::ChangeTimes remembered_times(dev_t device, ino_t inode) noexcept {
    return pool::remembered_times(connection.directory(), device, inode);
}

}  // namespace forebay::capture
