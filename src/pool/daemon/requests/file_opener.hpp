// Opens clients' files once more for the daemon: at once where that cannot take long, else on a
// thread, since a file system may hang at it.
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
    // They outlive it.
    explicit FileOpener(TicketSources& tickets) : tickets_{tickets} {}

    [[nodiscard]] const DescriptorBudget& budget() const noexcept { return budget_; }
    // nullopt: it is over already. The opening is shared with the thread that runs it.
    [[nodiscard]] std::optional<OpeningTicket> begin(const std::shared_ptr<FileOpening>& opening);
    // An opening is over, and its file is one that nobody but this node has, or not.
    void note_mount(const FileOpening& opening, bool is_local);

private:
    [[nodiscard]] bool opens_at_once(const FileOpening& opening) const;

    TicketSources& tickets_;
    DescriptorBudget budget_;
    std::set<std::uint64_t> local_mounts_;  // whose files nobody but this node has
    CoreYielding yielding_;
};

}  // namespace forebay::daemon
