// The state that all requests share: the parts of the daemon, and what requests remember for later
// ones.
#pragma once

#include "pool/daemon/daemon_context.hpp"
#include "pool/daemon/requests/client_admission.hpp"
#include "pool/daemon/requests/file_opener.hpp"
#include "pool/daemon/requests/pending_requests.hpp"
#include "pool/daemon/requests/uncaptured_period.hpp"

#include <cstdint>
#include <set>
#include <utility>

namespace forebay::daemon {

struct RequestContext {
    explicit RequestContext(DaemonContext& parts)
        : daemon{parts},
          clients{parts.pool, parts.memory},
          opener{parts.tickets},
          uncaptured{parts} {}

    DaemonContext& daemon;
    ClientAdmission clients;
    FileOpener opener;
    UncapturedPeriod uncaptured;
    PendingRequests pending;
    // Files, by device and inode, that a process has open which cannot map the pool's memory. They
    // are written through by everybody from then on.
    std::set<std::pair<std::uint64_t, std::uint64_t>> unmapped_files;
};

}  // namespace forebay::daemon
