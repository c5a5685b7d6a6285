// Calls that take long, beside the rounds of the pool: background tasks of files (one at a time for
// each), and closes of files that nobody has open any more, with the descriptors that are let go.
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
    // `io` outlives it; null: calls are made at once, and hold up all files.
    explicit BackgroundWork(ports::BackgroundIo* io) : io_{io == nullptr ? &at_once_ : io} {}
    BackgroundWork(const BackgroundWork&) = delete;
    BackgroundWork& operator=(const BackgroundWork&) = delete;

    // `call` may take long; `then` gets its answer in a later round. The file is known until then.
    void begin(PooledFile& file, BackgroundTask::Company company,
               std::function<std::int64_t()> call, std::function<void(std::int64_t)> then);
    // Closing may take as long as anything else that a file system does. `bytes` were drained to
    // the file; where there are none, an error is nobody's.
    void close(std::shared_ptr<const DaemonFile> open, std::unique_ptr<ports::FileStorage> source,
               std::int64_t bytes);
    // Takes what has ended; `ended` is called for each file whose task did. True: anything had.
    bool collect(const std::function<void(PooledFile&)>& ended);

    [[nodiscard]] bool closing() const noexcept { return !closes_.empty(); }
    [[nodiscard]] bool closing_on(std::uint64_t device) const noexcept;
    // The file is being closed, which begins now if it has not yet: somebody waits for it.
    [[nodiscard]] bool hurries_close(const ports::FileIdentity& identity) const;
    // Those that have ended.
    [[nodiscard]] const std::vector<FailedClose>& failed_closes() const noexcept { return failed_; }

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
    struct Closing {
        ports::FileIdentity identity;
        FailedClose close;  // no error yet
    };

    AtOnce at_once_;
    ports::BackgroundIo* io_;
    std::uint64_t next_ticket_ = 1;
    std::map<std::uint64_t, PooledFile*> tasks_;  // under way, by ticket
    std::map<std::uint64_t, Closing> closes_;     // the same
    std::vector<FailedClose> failed_;
};

}  // namespace forebay::pool
