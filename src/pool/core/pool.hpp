// The pool of a node: a burst buffer in memory, or write-back cache, that the node's daemon keeps
// for the programs there. It takes what clients have written into their logs, knows for each byte
// which write was the last, gives clients credit for more, and drains (writes back) files to the
// file system. One thread of the daemon calls all of this; nothing here blocks, knows sockets, or
// reaches the file system other than through ports.
//
//   logs ──take──▶ extents of each file ──drain──▶ Channel ──▶ file system
//          (in order of time)   │                               │
//   credit ◀── blocks that nobody needs any more ◀──────────────┘
//
// Shutdown is a protocol with the caller, the daemon (pool/daemon/shutdown), in this order:
//
// 1. close_down(): nothing more is deposited. All files leave, and all logs are sealed.
// 2. drain_all(), and run_once() until its ticket comes back, all_taken() is true,
// closes_under_way() is
//    false, and each file has left the pool or has an error. Writes of suspended clients are
//    revoked after 100 ms; given_up() names them. The caller may cut this short at any time.
// 3. refuse_commits(): takes what is committed now, and revokes all other entries. A write that is
//    not acknowledged by then never will be.
// 4. The caller saves undrained() of each file elsewhere (rescue files) and says so by
//    kept_elsewhere(); bytes that are only_in_journal() stay there.
// 5. finish_journal(): waits for the journal's device. True if the journal is not needed any more.
// 6. end(), only if everything has arrived: wakes all clients, which find plain files. Before the
//    caller closes any connection.
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
    // `directory` outlives the pool and is zero at first. The pool fills in its format, cap and
    // lists; its creator fills in the daemon's process id and mutex.
    Pool(Directory& directory, const PoolPorts& ports, const PoolOptions& options);
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool();

    // Admits process `process` as a client with log `log`; returns the client's number, or nullopt
    // if there are clients_max clients already. The log is mapped as a whole and zero; memory for
    // its blocks comes from PoolPorts::memory.
    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, Log log);
    // The process of the client has ended: what it committed counts, and its files are closed. A
    // client passes through dismiss() once; when forget_if_departed() is true, its log can be
    // unmapped.
    void dismiss(std::uint32_t client);
    // Whether the client's log was malformed, so that the pool takes nothing more from it. The
    // caller is to close its connection and dismiss it.
    [[nodiscard]] bool distrusted(std::uint32_t client) const;
    // Whether a dismissed client's log holds no bytes any more. If so, its number becomes free for
    // another client, and the caller unmaps the log.
    [[nodiscard]] bool forget_if_departed(std::uint32_t client);

    // The client has opened `file`. If the pool knows the inode already, it is the same file, and
    // of its two DaemonFiles the pool keeps one that can write. An error: the pool does not take
    // the file, and the client writes to it directly.
    [[nodiscard]] Result<RegisteredFile> open(std::uint32_t client, DaemonFile file,
                                              AccessMode access);
    void close(std::uint32_t client, std::uint32_t slot, std::uint32_t generation);
    // The client has opened a file that is known and pooled already, through a mount. Returns 0, or
    // ESTALE if its writes cannot be deposits.
    [[nodiscard]] int join(std::uint32_t client, const RegisteredFile& known, AccessMode access);
    // The slot of a file that the pool knows. nullopt: no client has the file open, and everything
    // about it is finished.
    [[nodiscard]] std::optional<RegisteredFile> known(const ports::FileIdentity& file) const;
    // Whether no client has the file open, and the pool will close its own descriptor once the file
    // is drained. A program that is to be executed waits for that: else execve() fails with
    // ETXTBSY.
    [[nodiscard]] bool lets_go(const ports::FileIdentity& file) const;
    // When descriptors get short: makes up to `most` files that have been idle for a second leave
    // the pool, so that the daemon can close its descriptors of them some rounds later. Returns how
    // many files leave.
    std::size_t give_descriptors_back(std::size_t most);
    // Tells the pool how many files are being opened by other threads now, each of which will come
    // to open() or not at all. Any unlinked file may be one of them; so while there are some, the
    // pool does not drop the deposits of a file that has no name.
    void being_opened(std::int64_t files);

    // Requests `task` for a file. done() returns the ticket when the task is answered, with ENOENT
    // if there is no such file.
    [[nodiscard]] std::uint64_t ask(std::uint32_t slot, std::uint32_t generation,
                                    const FileTask& task);
    // The same for the files that have these slots now; a ticket for each, in the same order.
    [[nodiscard]] std::vector<std::uint64_t> ask_each(std::span<const std::uint32_t> slots,
                                                      const FileTask& task);
    // Adjusts a file at once. Returns 0 or an errno; EBUSY: the file cannot be pooled again, since
    // it left for a reason other than `wanted.from`.
    [[nodiscard]] int adjust(std::uint32_t slot, std::uint32_t generation,
                             const FileAdjustment& wanted);
    // Bytes of a file for another node. `range` lies in one block of the read cache; `seen` is the
    // stamp with which that node's daemon opened the file, and has to be the one known here. If the
    // block is not in the read cache and `begins` is true, reading it begins. The caller makes sure
    // that no node has deposits of the file.
    [[nodiscard]] SharedBytes share(std::uint32_t slot, const ChangeStamp& seen,
                                    const Extent& range, bool begins);
    // Requests that all files be drained. The ticket has the error of the file with the lowest slot
    // that has one.
    [[nodiscard]] std::uint64_t drain_all();
    // Step 1 of the shutdown. The first call determines the reason.
    void close_down(ThroughReason why);
    // Step 2: whether every entry of every log is taken, or can never be committed.
    [[nodiscard]] bool all_taken() const;
    // Step 3. May be called at any time, also instead of steps 1 and 2.
    void refuse_commits();
    // Step 6.
    void end();
    // Writes that were revoked during the shutdown because their clients took too long, since the
    // last call.
    [[nodiscard]] std::vector<GivenUpWrite> given_up();

    // One round: takes logs, gives credit, starts requests and ends them. Never blocks. Returns
    // true if it did anything.
    bool run_once();
    // The tickets answered since the last call.
    [[nodiscard]] std::vector<TaskCompletion> done();
    // Slots of the files that were forgotten since the last call; empty unless PoolOptions::shared.
    [[nodiscard]] std::vector<std::uint32_t> forgotten();
    // Whether the pool has no work at all: nothing deposited, reserved or requested, and no file
    // being closed.
    [[nodiscard]] bool idle() const;
    [[nodiscard]] const PoolCounts& counts() const;
    // Closes that have failed. More may come while closes_under_way() is true: some files are still
    // being closed.
    [[nodiscard]] const std::vector<FailedClose>& failed_closes() const;
    [[nodiscard]] bool closes_under_way() const;
    // 0, or the errno of the journal's device, since which everything is written through.
    [[nodiscard]] int journal_error() const;
    // Step 4: what was not drained of the file has been saved elsewhere, durably.
    void kept_elsewhere(std::uint32_t slot);
    // Step 5. Returns true if a replay would write nothing.
    [[nodiscard]] bool finish_journal();
    // Whether bytes of the file may exist in the journal alone, because an fsync of the file has
    // failed.
    [[nodiscard]] bool only_in_journal(std::uint32_t slot) const;
    // The deposits of the file that are not drained, or could not be, for a rescue file.
    [[nodiscard]] std::vector<Deposit> undrained(std::uint32_t slot) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace forebay::pool
