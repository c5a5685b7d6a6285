// A FileStorage for tests: requests complete when polled; nothing takes time or fails.
#pragma once

#include "foundation/ports/storage.hpp"

#include <cstddef>
#include <span>

namespace forebay::ports {

class PolledStorage : public FileStorage {
public:
    [[nodiscard]] int depth() const noexcept override { return 64; }
    std::size_t wait(std::span<RequestCompletion> out) override { return poll(out); }
    Result<void> sync() override { return {}; }
    [[nodiscard]] Result<FileIdentity> identity() const override { return FileIdentity{}; }
    Result<void> close() override { return {}; }
    [[nodiscard]] const char* name() const noexcept override { return "polled"; }
};

}  // namespace forebay::ports
