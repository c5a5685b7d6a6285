// Begins background calls and passes on their results. A close of a file on a local file system is
// put off for a few milliseconds, since nobody waits for it.
#include "pool/core/state/background.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/core/state/file.hpp"

#include <algorithm>
#include <cerrno>

namespace forebay::pool {

void BackgroundWork::begin(PooledFile& file, BackgroundTask::Company company,
                           std::function<std::int64_t()> call,
                           std::function<void(std::int64_t)> then) {
    expects(!file.background_task, "a file has one background task at a time");
    const std::uint64_t ticket = next_ticket_++;
    file.background_task = BackgroundTask{ticket, company, std::move(then)};
    tasks_[ticket] = &file;
    io_->begin(ticket, std::move(call));
}

void BackgroundWork::close(std::shared_ptr<const DaemonFile> open,
                           std::unique_ptr<ports::FileStorage> source, std::int64_t bytes) {
    expects(open != nullptr, "a file that is closed was open");
    const std::uint64_t ticket = next_ticket_++;
    closes_[ticket] = {open->identity, {.path = open->path, .bytes = bytes}};
    // shared_ptr, since a std::function must be copyable; the function is the only owner.
    std::shared_ptr<ports::FileStorage> read = std::move(source);
    const bool local = open->local;
    std::function<std::int64_t()> close = [open = std::move(open), read = std::move(read)] {
        // Both are closed: some file systems report an error once, to the first close.
        const auto closed = open->storage ? open->storage->close() : Result<void>{};
        const auto also = read ? read->close() : Result<void>{};
        const Result<void>& result = closed ? also : closed;
        const int error = result ? 0 : result.error().system;
        return std::int64_t{result || error != 0 ? error : EIO};
    };
    if (local) {
        io_->begin_later(ticket, std::move(close));
    } else {
        io_->begin(ticket, std::move(close));
    }
}

bool BackgroundWork::collect(const std::function<void(PooledFile&)>& ended) {
    bool any = false;
    for (const ports::BackgroundIo::Ended& one : io_->ended()) {
        any = true;
        if (auto closed = closes_.extract(one.ticket)) {
            FailedClose& close = closed.mapped().close;
            close.error = static_cast<int>(one.answer);
            if (close.error != 0 && close.bytes > 0) {
                failed_.push_back(std::move(close));
            }
            continue;
        }
        const auto task = tasks_.extract(one.ticket);
        invariant(!task.empty(), "only calls that were begun are answered");
        PooledFile& file = *task.mapped();
        invariant(file.background_task && file.background_task->ticket == one.ticket,
                  "a file is known as long as its background task is under way");
        const BackgroundTask known = *std::exchange(file.background_task, {});
        known.then(one.answer);
        ended(file);
    }
    return any;
}

bool BackgroundWork::closing_on(std::uint64_t device) const noexcept {
    return std::ranges::any_of(
        closes_, [&](const auto& one) { return one.second.identity.device == device; });
}

bool BackgroundWork::hurries_close(const ports::FileIdentity& identity) const {
    const bool closes = std::ranges::any_of(
        closes_, [&](const auto& one) { return one.second.identity == identity; });
    if (closes) {
        io_->hurry();
    }
    return closes;
}

}  // namespace forebay::pool
