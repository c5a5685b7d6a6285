// Finds, in the directory of a dead daemon, the files that lack deposits which had been
// acknowledged. This code is loaded into programs, and so needs nothing of the C++ library at run
// time.
#pragma once

#include "pool/client/daemon.hpp"
#include "pool/client/reader.hpp"
#include "pool/client/stat_addition.hpp"
#include "pool/protocol/directory.hpp"

#include <cstdint>

namespace forebay::pool {

// Whether the file lacks deposits; those that the daemon had not taken count, too, if there is a
// reader. Precondition: the daemon is dead, so that nothing is drained any more.
[[nodiscard]] bool lacks_deposits(const Directory& directory, PoolReader* reader,
                                  FileId file) noexcept;
// Whether nobody has written to the file since the daemon died, as far as its st_mtime in the file
// system tells, `found_ns`. False if another file has got its inode number, too. `times` are the
// directory's.
[[nodiscard]] bool is_untouched(const ChangeTimes& times, std::int64_t found_ns) noexcept;

}  // namespace forebay::pool
