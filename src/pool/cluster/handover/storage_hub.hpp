// Lets several channels use one FileStorage: each has a share of it, to which only completions of
// its own requests come.
#pragma once

#include "foundation/ports/storage.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace forebay::cluster {

class StorageShare;

class StorageHub {
public:
    explicit StorageHub(std::unique_ptr<ports::FileStorage> storage)
        : storage_{std::move(storage)} {}

    [[nodiscard]] ports::FileStorage& storage() noexcept { return *storage_; }

private:
    friend class StorageShare;
    void submit(StorageShare& share, const ports::Request& request);
    // Gives each share its completions. With `waits`, there is one at least.
    void collect(bool waits);

    struct Sent {
        StorageShare* share = nullptr;
        std::uint64_t ticket = 0;  // that of the share
    };
    std::unique_ptr<ports::FileStorage> storage_;
    std::map<std::uint64_t, Sent> sent_;
    std::uint64_t next_ = 0;
};

class StorageShare final : public ports::FileStorage {
public:
    // The hub outlives the requests of its shares, and all shares together have no more of them in
    // flight than its storage's depth().
    explicit StorageShare(StorageHub& hub) : hub_{hub} {}

    [[nodiscard]] int depth() const noexcept override { return hub_.storage().depth(); }
    void submit(const ports::Request& request) override { hub_.submit(*this, request); }
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;
    Result<void> sync() override { return hub_.storage().sync(); }
    [[nodiscard]] Result<ports::FileIdentity> identity() const override {
        return hub_.storage().identity();
    }
    Result<void> close() override { return {}; }
    [[nodiscard]] const char* name() const noexcept override { return hub_.storage().name(); }

private:
    friend class StorageHub;
    StorageHub& hub_;
    std::vector<ports::RequestCompletion> done_;
};

}  // namespace forebay::cluster
