// File system calls that may take long, made by other threads between the rounds of the pool:
// background tasks of files (at most one at a time for each), and closes of files that no client
// needs any more.
#pragma once

#include "foundation/ports/background_io.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/core/state/background_task.hpp"
#include "pool/core/types.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace forebay::pool {

struct PooledFile;

class BackgroundWork {
public:
    // `io` outlives this object. Null: calls are made at once, and hold up all files.
    explicit BackgroundWork(ports::BackgroundIo* io) : io_{io == nullptr ? &at_once_ : io} {}
    BackgroundWork(const BackgroundWork&) = delete;
    BackgroundWork& operator=(const BackgroundWork&) = delete;

    // Has another thread run `call`; a later round calls `then` with its result. The file stays
    // known until then. Contract: the file has no background task.
    void begin(PooledFile& file, BackgroundTask::Company company,
               std::function<std::int64_t()> call, std::function<void(std::int64_t)> then);
    // Closes a file in the background; `source` is its storage for read-ahead, or null. `bytes`
    // were drained to the file: if there are none, an error of close() concerns nobody.
    void close(std::shared_ptr<const DaemonFile> open, std::unique_ptr<ports::FileStorage> source,
               std::int64_t bytes);
    // Takes the calls that have ended; calls `ended` for each file whose task has. Returns true if
    // any had.
    bool collect(const std::function<void(PooledFile&)>& ended);

    // Whether any file is being closed; whether one on file system `device` is.
    [[nodiscard]] bool closes_under_way() const noexcept { return !closes_.empty(); }
    [[nodiscard]] bool closing_on(std::uint64_t device) const noexcept;
    // Whether the file is being closed. Since somebody waits for that, a close that was put off
    // begins now.
    [[nodiscard]] bool hurries_close(const ports::FileIdentity& identity) const;
    // The closes that have failed so far.
    [[nodiscard]] const std::vector<FailedClose>& failed_closes() const noexcept { return failed_; }

private:
    // Runs each call at once, in the caller's thread.
    class AtOnce final : public ports::BackgroundIo {
    public:
        void begin(std::uint64_t ticket, std::function<std::int64_t()> call) override {
            ended_.push_back({ticket, call()});
        }
        [[nodiscard]] std::vector<Ended> ended() override { return std::exchange(ended_, {}); }

    private:
        std::vector<Ended> ended_;
    };
    struct Closing {
        ports::FileIdentity identity;
        FailedClose close;  // with error 0 until it has ended
    };

    AtOnce at_once_;
    ports::BackgroundIo* io_;
    std::uint64_t next_ticket_ = 1;
    std::map<std::uint64_t, PooledFile*> tasks_;  // tasks under way, by ticket
    std::map<std::uint64_t, Closing> closes_;     // closes under way, by ticket
    std::vector<FailedClose> failed_;
};

}  // namespace forebay::pool
