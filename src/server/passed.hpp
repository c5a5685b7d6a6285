// What other nodes pass on to this one. Where few nodes read a file for all, the rest have its
// bytes from each other, and read the file themselves where that fails.
#pragma once

#include "ports/stamp.hpp"
#include "ports/storage.hpp"
#include "registry/token.hpp"
#include "server/post.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace forebay::server {

// Everything that this node has asked others for.
class Passed {
public:
    // Who passes a file on to this node; grant 0: nobody.
    using Parents = std::function<registry::Parent(registry::FileKey)>;

    // The post outlives it.
    Passed(Post& post, Parents parents) : post_{post}, parents_{std::move(parents)} {}

    struct Wish {
        registry::FileKey file;
        ports::Stamp seen;  // of the file, when it was opened
        ports::Piece piece;
    };
    // A number for it; nullopt: nobody passes the file on to this node. The memory must live until
    // take() or forget().
    [[nodiscard]] std::optional<std::uint64_t> ask(const Wish& wish);
    struct Outcome {
        bool refused = false;
        std::size_t bytes = 0;  // fewer than asked for: the file ends there
    };
    // Once; nullopt: it has not come yet.
    [[nodiscard]] std::optional<Outcome> take(std::uint64_t number);
    void forget(std::uint64_t number) { asked_.erase(number); }

    // Takes what has come. True when anything was done.
    bool turn();
    // Bytes that have come.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    struct Asked {
        registry::Node of = 0;
        std::span<std::byte> to;
        std::size_t got = 0;
        std::optional<Outcome> outcome;
    };
    void take_part(registry::Node from, const wire::Part& part);

    Post& post_;
    Parents parents_;
    std::map<std::uint64_t, Asked> asked_;
    std::uint64_t next_ = 1;
    std::int64_t bytes_ = 0;
};

// A file to be read, by what other nodes pass on, and by itself.
class PassedStorage final : public ports::Storage {
public:
    // `passed` outlives it.
    PassedStorage(std::unique_ptr<ports::Storage> own, Passed& passed, registry::FileKey file,
                  std::shared_ptr<const ports::Stamp> seen)
        : own_{std::move(own)}, passed_{passed}, file_{file}, seen_{std::move(seen)} {}
    PassedStorage(const PassedStorage&) = delete;
    PassedStorage& operator=(const PassedStorage&) = delete;
    ~PassedStorage() override;

    [[nodiscard]] int depth() const noexcept override { return own_->depth(); }
    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::Completion> out) override;
    std::size_t wait(std::span<ports::Completion> out) override;
    Result<void> sync() override { return own_->sync(); }
    [[nodiscard]] Result<ports::Identity> identity() const override { return own_->identity(); }
    Result<void> close() override { return own_->close(); }
    [[nodiscard]] const char* name() const noexcept override { return own_->name(); }

private:
    std::unique_ptr<ports::Storage> own_;
    Passed& passed_;
    registry::FileKey file_;
    std::shared_ptr<const ports::Stamp> seen_;
    std::map<std::uint64_t, ports::Request> asked_;  // by its number there
};

}  // namespace forebay::server
