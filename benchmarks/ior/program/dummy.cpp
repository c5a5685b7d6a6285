// DUMMY: only the requested delays; measures the overhead of the benchmark itself.
#include "benchmarks/ior/program/backend.hpp"

#include <ctime>

namespace forebay::bench {

namespace {

class DummyBackend final : public IorBackend {
public:
    explicit DummyBackend(const BackendContext& context)
        : IorBackend(context), delays_(!options_.dummy.only_rank0 || context.rank == 0) {}

    Result<void> open(const OpenRequest& request) override {
        if (request.access == BackendAccess::write) {
            delay(options_.dummy.delay_create_us);
        }
        return {};
    }
    Result<std::int64_t> write(Offset, std::span<const std::byte> from) override {
        delay(options_.dummy.delay_transfer_us);
        return static_cast<std::int64_t>(from.size());
    }
    Result<std::int64_t> read(Offset, std::span<std::byte> to) override {
        delay(options_.dummy.delay_transfer_us);
        return static_cast<std::int64_t>(to.size());
    }
    Result<void> sync() override {
        delay(options_.dummy.delay_sync_us);
        return {};
    }
    Result<void> close() override {
        delay(options_.dummy.delay_close_us);
        return {};
    }
    [[nodiscard]] bool plain_file() const noexcept override { return false; }

private:
    void delay(std::int64_t microseconds) const noexcept {
        if (delays_ && microseconds > 0) {
            const timespec wait{microseconds / 1'000'000, (microseconds % 1'000'000) * 1000};
            ::clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, nullptr);
        }
    }

    bool delays_;
};

}  // namespace

std::unique_ptr<IorBackend> make_dummy(const BackendContext& context) {
    return std::make_unique<DummyBackend>(context);
}

}  // namespace forebay::bench
