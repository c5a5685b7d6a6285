// Opens a client's file a second time, for the daemon: in the daemon's own thread where that cannot
// take long, else on a background thread, since a file system may hang at it.
#pragma once

#include "foundation/base/yielding.hpp"
#include "pool/daemon/memory/budget.hpp"
#include "pool/daemon/requests/opening.hpp"
#include "pool/daemon/requests/ticket_sources.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

namespace forebay::daemon {

class FileOpener {
public:
    // The ticket sources outlive this object.
    explicit FileOpener(TicketSources& tickets) : tickets_{tickets} {}

    [[nodiscard]] const DescriptorBudget& budget() const noexcept { return budget_; }
    // nullopt: the opening is over already. The opening is shared with the thread that runs it,
    // which may go on after the request was abandoned.
    [[nodiscard]] std::optional<OpeningTicket> begin(const std::shared_ptr<FileOpening>& opening);
    // After an opening is over: remembers whether the mount of its file is local, that is, used by
    // no other node.
    void note_mount(const FileOpening& opening, bool is_local);

private:
    [[nodiscard]] bool opens_at_once(const FileOpening& opening) const;

    TicketSources& tickets_;
    DescriptorBudget budget_;
    std::set<std::uint64_t> local_mounts_;  // numbers of mounts whose files no other node uses
    CoreYielding yielding_;
};

}  // namespace forebay::daemon
