// A FileStorage that passes all calls on to another one. Its subclasses do some of them otherwise:
// they count requests, or send them elsewhere.
#pragma once

#include "foundation/ports/storage.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace forebay::ports {

class ForwardingStorage : public FileStorage {
public:
    ForwardingStorage(const ForwardingStorage&) = delete;
    ForwardingStorage& operator=(const ForwardingStorage&) = delete;

    [[nodiscard]] int depth() const noexcept override { return own_->depth(); }
    void submit(const Request& request) override { own_->submit(request); }
    std::size_t poll(std::span<RequestCompletion> out) override { return own_->poll(out); }
    std::size_t wait(std::span<RequestCompletion> out) override { return own_->wait(out); }
    Result<void> sync() override { return own_->sync(); }
    [[nodiscard]] Result<FileIdentity> identity() const override { return own_->identity(); }
    Result<void> close() override { return own_->close(); }
    // Memory is not lent: bytes that a program writes into it would pass the subclass by.
    [[nodiscard]] MemoryLender* lender() noexcept override { return nullptr; }
    [[nodiscard]] const char* name() const noexcept override { return own_->name(); }

protected:
    // Contract: `own` is not null.
    explicit ForwardingStorage(std::unique_ptr<FileStorage> own) : own_{std::move(own)} {}

    [[nodiscard]] FileStorage& own() noexcept { return *own_; }

private:
    std::unique_ptr<FileStorage> own_;
};

}  // namespace forebay::ports
