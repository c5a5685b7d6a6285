// Everything that the pool knows, in one place: clients, files, who holds which bytes. Other
// classes work on it: log ingest, credit, drain, tasks.
#pragma once

#include "pool/core/flush/journal.hpp"
#include "pool/core/ports.hpp"
#include "pool/core/prefetch/read_cache.hpp"
#include "pool/core/state/client.hpp"
#include "pool/core/state/file.hpp"
#include "pool/core/types.hpp"
#include "pool/protocol/extents.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace forebay::pool {

class PoolState {
public:
    PoolState(Directory& directory, const PoolPorts& ports, const PoolOptions& options);

    Directory& directory;
    PoolPorts ports;
    PoolOptions options;
    Extents extents;
    Counts counts;
    Journal journal{*this, ports.journal};

    std::uint64_t round = 0;
    // Every entry that was committed before this moment is taken.
    std::int64_t taken_until_ns = 0;
    bool short_of_extents = false;  // some entries wait for room in the lists
    std::int64_t being_opened = 0;  // files, beside
    bool closing = false;
    Reason closes_for = Reason::closing;

    // Cached writes and read-ahead of a file exclude each other.
    [[nodiscard]] bool excludes() const noexcept {
        return options.consistency == Consistency::paper;
    }
    [[nodiscard]] std::int64_t now_ns() const { return ports.clock.now_ns(); }
    // Where the bytes lie.
    [[nodiscard]] std::byte* memory_of(const Deposit& deposit) const noexcept;

    [[nodiscard]] Client* client(std::uint32_t number) noexcept;
    [[nodiscard]] const Client* client(std::uint32_t number) const noexcept;
    // nullptr where there is no such file (any more).
    [[nodiscard]] File* file(std::uint32_t slot, std::uint32_t generation) noexcept;
    [[nodiscard]] FileSlot& slot_of(const File& file) noexcept;
    [[nodiscard]] FileState state_of(const File& file) noexcept;

    [[nodiscard]] std::optional<std::uint32_t> admit(std::uint64_t process, Log log);
    // The daemon may drop what the client commits from now on; the directory tells the client so.
    void stop_listening(std::uint32_t client);
    // Its log takes nothing more. After all files have begun to leave: what is not taken goes to
    // the file system.
    void seal(std::uint32_t client);
    // The client's log makes no sense.
    void distrust(std::uint32_t client);
    [[nodiscard]] Result<File*> make_known(OpenFile& open);
    // The pool has changed the file, or is about to.
    static void changed(File& file) noexcept { file.stamp.changed_here = true; }
    void forget(File& file);
    // Deposits of the file are nobody's any more: their bytes are free.
    void free(File& file, const std::vector<Deposit>& deposits);
    // The file leaves the pool, because of `reason`.
    void leave(File& file, Reason reason);
    // False: something else than `from` keeps it out of the pool.
    [[nodiscard]] bool come_back(File& file, Reason from);
    // `call` may take long; `then` gets its answer in a later round. The file is known until then.
    void begin_background_task(File& file, BackgroundTask::Company company,
                               std::function<std::int64_t()> call,
                               std::function<void(std::int64_t)> then);
    bool end_background_tasks();
    // `bytes` were drained to the file; where there are none, an error is nobody's.
    void close_beside(std::shared_ptr<const OpenFile> open, std::unique_ptr<ports::Storage> source,
                      std::int64_t bytes);
    // A file about which something is to be done.
    void mark_busy(File& file);
    void notify(File& file);
    // Wakes those who sleep on what has changed.
    void wake_all();
    // At the end: whatever clients wait for has happened.
    void release_waiters();

    std::array<std::unique_ptr<Client>, clients_max> clients;
    std::vector<std::uint32_t> admitted;  // numbers of clients that are not departed
    std::vector<std::unique_ptr<File>> files;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> slots;  // by identity
    std::vector<std::uint32_t> busy;                                         // slots
    ReadCache clean;
    std::vector<GivenUpWrite> given_up;    // for Pool::given_up()
    std::vector<std::uint32_t> forgotten;  // for Pool::forgotten(); only where `options.shared`
    std::vector<FailedClose> failed_closes;
    [[nodiscard]] bool closing_files() const noexcept { return !closes_.empty(); }
    [[nodiscard]] bool closing_on(std::uint64_t device) const noexcept;
    // The file is through, and its clients have it open: the daemon needs no descriptor of it.
    void let_descriptors_go(File& file);
    // Nobody has it open any more, and it will be closed on the file system.
    [[nodiscard]] bool lets_go(const ports::Identity& identity) const;

private:
    // Where no other background I/O are given.
    class AtOnce final : public ports::BackgroundIo {
    public:
        void begin(std::uint64_t ticket, std::function<std::int64_t()> call) override {
            ended_.push_back({ticket, call()});
        }
        [[nodiscard]] std::vector<Ended> ended() override { return std::exchange(ended_, {}); }

    private:
        std::vector<Ended> ended_;
    };

    void look_at_stamp(File& file, const Stamp& stamp);
    void wake(Word& word);

    AtOnce at_once_;
    std::uint64_t next_background_task_ = 1;
    std::map<std::uint64_t, std::uint32_t> background_io_;  // slots of the files, by ticket
    struct Closing {
        ports::Identity identity;
        FailedClose close;  // no error yet
    };
    std::map<std::uint64_t, Closing> closes_;  // under way, by ticket
    std::uint32_t next_client_ = 0;
    std::uint64_t admissions_ = 0;
    std::uint32_t next_slot_ = 0;
};

}  // namespace forebay::pool
