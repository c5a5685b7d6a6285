// A file that is read by what other nodes pass on, where few nodes read it for all, and by itself
// where they do not.
#pragma once

#include "foundation/ports/storage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace forebay::pool {

// The requests to other nodes, by number.
class PassedBytes {
public:
    PassedBytes() = default;
    PassedBytes(const PassedBytes&) = delete;
    PassedBytes& operator=(const PassedBytes&) = delete;
    virtual ~PassedBytes() = default;

    struct Outcome {
        bool refused = false;
        std::size_t bytes = 0;  // fewer than asked for: the file ends there
    };
    // Once; nullopt: it has not come yet. An unknown request counts as refused.
    [[nodiscard]] virtual std::optional<Outcome> take(std::uint64_t number) = 0;
    // Its memory may go.
    virtual void forget(std::uint64_t number) = 0;
};

class PassedStorage final : public ports::FileStorage {
public:
    // Asks for a part of one block. A number for it; nullopt: nobody passes the file on.
    using Ask = std::function<std::optional<std::uint64_t>(const ports::Piece&)>;

    // `passed`, and what `ask` refers to, outlive it.
    PassedStorage(std::unique_ptr<ports::FileStorage> own, PassedBytes& passed, Ask ask)
        : own_{std::move(own)}, passed_{passed}, ask_{std::move(ask)} {}
    PassedStorage(const PassedStorage&) = delete;
    PassedStorage& operator=(const PassedStorage&) = delete;
    ~PassedStorage() override;

    [[nodiscard]] int depth() const noexcept override { return own_->depth(); }
    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;
    Result<void> sync() override { return own_->sync(); }
    [[nodiscard]] Result<ports::FileIdentity> identity() const override { return own_->identity(); }
    Result<void> close() override { return own_->close(); }
    [[nodiscard]] const char* name() const noexcept override { return own_->name(); }

private:
    std::unique_ptr<ports::FileStorage> own_;
    PassedBytes& passed_;
    Ask ask_;
    std::map<std::uint64_t, ports::Request> asked_;  // by its number there
};

}  // namespace forebay::pool
