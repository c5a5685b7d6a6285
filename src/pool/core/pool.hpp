// The pool of a node, as its daemon keeps it: takes what clients have written into their logs,
// knows of each byte who wrote it last, gives clients credit, and drains files to the file system.
// One thread; knows no sockets, and the file system only through ports.
//
//   logs ──take──▶ extents of each file ──drain──▶ Channel ──▶ file system
//          (in order of time)   │                               │
//   credit ◀── blocks that nobody needs any more ◀──────────────┘
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/core/ports.hpp"
#include "pool/core/types.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/log.hpp"
#include "pool/protocol/search.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace forebay::pool {

class Pool {
public:
    // The directory outlives the pool, and is zero at first; its format, cap and lists are filled
    // in here, the daemon's process and its mutex by who made it.
    Pool(Directory& directory, const PoolPorts& ports, const PoolOptions& options);
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool();

    // nullopt: there are clients_max already. `log` is mapped as a whole and zero; its blocks are
    // the Memory's.
    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, Log log);
    // The client has gone, or died: what it committed counts, its files are closed, and its log may
    // be unmapped once departed() says so. Its number is then free for another one.
    void dismiss(std::uint32_t client);
    // The client's log makes no sense: the pool takes nothing more from it. To be dismissed.
    [[nodiscard]] bool distrusted(std::uint32_t client) const;
    [[nodiscard]] bool departed(std::uint32_t client);

    // The client has opened the file. A file that is known is the same one by its identity; the
    // better storage of the two is kept (one that can write).
    [[nodiscard]] Result<RegisteredFile> open(std::uint32_t client, DaemonFile file,
                                              AccessMode access);
    void close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation);
    // nullopt: nobody has it open, and nothing of it is left to be done.
    [[nodiscard]] std::optional<RegisteredFile> known(const ports::FileIdentity& file) const;
    // No client has it open, and it will be closed on the file system once it is drained.
    [[nodiscard]] bool lets_go(const ports::FileIdentity& file) const;
    // Up to so many files that are left alone do without descriptors of the daemon's; how many. It
    // has them back after some rounds.
    std::size_t give_descriptors_back(std::size_t most);
    // So many files are being opened by other threads, and come by open() or not at all: any file
    // that has lost its last name may be one of them.
    void being_opened(std::int64_t files);

    // A ticket, which done() gives back. ENOENT comes as its error where there is no such file.
    [[nodiscard]] std::uint64_t ask(std::uint32_t slot, std::uint32_t generation,
                                    const FileTask& task);
    // The same of the files that have these slots now; a ticket for each, in their order.
    [[nodiscard]] std::vector<std::uint64_t> ask_each(std::span<const std::uint32_t> slots,
                                                      const FileTask& task);
    // At once: 0, or an errno. EBUSY: it cannot come back, because more than a switch keeps it out.
    [[nodiscard]] int adjust(std::uint32_t slot, std::uint32_t generation,
                             const FileAdjustment& wanted);
    // A range of one block of a file that was opened as `seen`. The block is read ahead where it is
    // not there and `begins`. The caller sees to it that nothing of the file is deposited, here or
    // elsewhere.
    [[nodiscard]] SharedBytes share(std::uint32_t slot, const ChangeStamp& seen,
                                    const Extent& range, bool begins);
    // Everything that is there is drained; the error of the first file that has one.
    [[nodiscard]] std::uint64_t drain_all();
    // No more deposits from now on: all files leave. The first call counts.
    void close_down(ThroughReason why);
    // Once it was closed down: every entry of every log is taken, or will never be committed.
    [[nodiscard]] bool all_taken() const;
    // Whatever clients are about to do: nothing is committed from now on, and what was is taken.
    void refuse_commits();
    // Behind that, where everything has arrived: nobody need wait for this pool.
    void end();
    // Writes that it did not wait for while it closed down, since the last call.
    [[nodiscard]] std::vector<GivenUpWrite> given_up();

    // A round: takes logs, gives credit, starts requests and ends them. Never blocks. True when
    // anything was done.
    bool run_once();
    // Tickets that are answered; each comes once.
    [[nodiscard]] std::vector<TaskCompletion> done();
    // Slots of files that are not known any more, since the last call; only where `shared`.
    [[nodiscard]] std::vector<std::uint32_t> forgotten();
    // Nothing is deposited, on its way, or asked for, and no file is being closed.
    [[nodiscard]] bool idle() const;
    [[nodiscard]] const PoolCounts& counts() const;
    // Those that have ended; while any is under way, closing().
    [[nodiscard]] const std::vector<FailedClose>& failed_closes() const;
    [[nodiscard]] bool closing() const;
    // 0, or why the journal takes nothing more: everything is written through since.
    [[nodiscard]] int journal_error() const;
    // The rest of the file is kept elsewhere, durably.
    void kept_elsewhere(std::uint32_t slot);
    // At the end. True: a replay would write nothing.
    [[nodiscard]] bool finish_journal();
    // Something of the file is nowhere but in the journal, since a sync of it has failed.
    [[nodiscard]] bool only_in_journal(std::uint32_t slot) const;
    // The file's deposits that are not drained, and those that could not be, for the rescue.
    [[nodiscard]] std::vector<Deposit> undrained(std::uint32_t slot) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace forebay::pool
