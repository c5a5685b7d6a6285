// A ring of buffers, each of which is read into, written from, and read into again.
#include "tier/mover/copy_range.hpp"

#include "storage/transfer/channel.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace forebay::tier {

namespace {

// The requests of one buffer, which end where stripes do.
class BufferRequests final : public transfer::RequestSource {
public:
    BufferRequests(Offset at, std::span<std::byte> bytes, const FileStripes& stripes)
        : at_{at}, left_{bytes}, stripes_{stripes} {}

    std::optional<TargetId> next(std::vector<ports::Piece>& pieces) override {
        pieces.clear();
        if (left_.empty()) {
            return std::nullopt;
        }
        const std::int64_t stripe = stripes_.stripe_bytes;
        std::size_t bytes = left_.size();
        TargetId target{0};
        if (stripe > 0) {
            bytes = std::min(bytes, static_cast<std::size_t>(stripe - at_.bytes() % stripe));
            target = TargetId{static_cast<std::int32_t>(at_.bytes() / stripe % stripes_.targets)};
        }
        pieces.push_back({at_, left_.first(bytes)});
        left_ = left_.subspan(bytes);
        at_ += Length{static_cast<std::int64_t>(bytes)};
        return target;
    }

private:
    Offset at_;
    std::span<std::byte> left_;
    FileStripes stripes_;
};

class RangeCopy {
public:
    RangeCopy(const CopyRoute& route, const Extent& extent, CopyMemory& memory)
        : route_{route},
          memory_{memory},
          next_{extent.begin},
          end_{extent.end()},
          reads_{route.from,
                 read_gate_,
                 route.clock,
                 {.direction = IoDirection::read, .jobs = copy_buffers}},
          writes_{route.to,
                  route.gate,
                  route.clock,
                  {.direction = IoDirection::write, .jobs = copy_buffers}} {}

    CopyEnd run() {
        while (advance()) {
            const bool read = reads_.run_once();
            const bool wrote = writes_.run_once();
            if (read || wrote || moved_on_) {
                continue;
            }
            if (writes_.in_flight() > 0) {
                writes_.block();
            } else if (reads_.in_flight() > 0) {
                reads_.block();
            }
        }
        result_.read_error = reads_.failure().system;
        result_.write_error = writes_.failure().system;
        return result_;
    }

private:
    enum class Phase { idle, reading, writing };
    struct Buffer {
        Phase phase = Phase::idle;
        Extent extent{};
    };

    // Lets buffers go on to their next phase. False: all are idle, and nothing is left to copy.
    bool advance() {
        bool busy = false;
        moved_on_ = false;
        for (std::size_t i = 0; i < copy_buffers; ++i) {
            Buffer& one = buffers_[i];
            const Phase before = one.phase;
            if (one.phase == Phase::reading && reads_.finished(i)) {
                end_read(i);
            }
            if (one.phase == Phase::writing && writes_.finished(i)) {
                stopped_ |= writes_.bytes_moved(i) != one.extent.length.bytes();
                one.phase = Phase::idle;
            }
            if (one.phase == Phase::idle && !stopped_ && next_ < end_) {
                begin_read(i);
            }
            busy |= one.phase != Phase::idle;
            moved_on_ |= one.phase != before;
        }
        return busy || (!stopped_ && next_ < end_);
    }

    [[nodiscard]] std::span<std::byte> bytes_of(std::size_t i) noexcept {
        return memory_.buffer(i).first(buffers_[i].extent.length.size());
    }

    void begin_read(std::size_t i) {
        // Ends at a multiple of a buffer's size, so that the following ones lie on stripes.
        const std::int64_t unit = memory_.request_bytes();
        const Length most{std::min(unit - next_.bytes() % unit, (end_ - next_).bytes())};
        buffers_[i] = {Phase::reading, {next_, most}};
        next_ += most;
        reads_.begin(i, std::make_unique<BufferRequests>(buffers_[i].extent.begin, bytes_of(i),
                                                         FileStripes{}));
    }

    void end_read(std::size_t i) {
        Buffer& one = buffers_[i];
        if (reads_.bytes_moved(i) != one.extent.length.bytes()) {
            result_.source_ended |= !reads_.failure().happened();
            stopped_ = true;
            one.phase = Phase::idle;
            return;
        }
        if (!may_write()) {
            one.phase = Phase::idle;
            return;
        }
        one.phase = Phase::writing;
        writes_.begin(
            i, std::make_unique<BufferRequests>(one.extent.begin, bytes_of(i), route_.stripes));
    }

    [[nodiscard]] bool may_write() {
        if (!asked_) {
            asked_ = true;
            result_.refused = route_.may_write && !route_.may_write();
            stopped_ |= result_.refused;
        }
        return !result_.refused;
    }

    const CopyRoute& route_;
    CopyMemory& memory_;
    Offset next_;
    Offset end_;
    transfer::FixedGate read_gate_{1, static_cast<std::int32_t>(copy_buffers)};
    transfer::Channel reads_;
    transfer::Channel writes_;
    std::array<Buffer, copy_buffers> buffers_{};
    bool stopped_ = false;
    bool asked_ = false;     // whether writing may begin
    bool moved_on_ = false;  // advance() has changed a phase
    CopyEnd result_;
};

}  // namespace

CopyEnd copy_range(const CopyRoute& route, const Extent& extent, CopyMemory& memory) {
    return extent.empty() ? CopyEnd{} : RangeCopy{route, extent, memory}.run();
}

}  // namespace forebay::tier
