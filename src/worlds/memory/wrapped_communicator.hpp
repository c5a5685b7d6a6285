// A communicator that forwards every call to another one. Tests override the calls that shall fail.
#pragma once

#include "foundation/ports/communicator.hpp"

namespace forebay::adapters {

class WrappedCommunicator : public ports::Communicator {
public:
    // `inner` must outlive this object.
    explicit WrappedCommunicator(ports::Communicator& inner) : inner_{inner} {}

    [[nodiscard]] const ports::RankPlace& place() const noexcept override { return inner_.place(); }
    [[nodiscard]] Rank rank_at(NodeId node, LocalRank local) const noexcept override {
        return inner_.rank_at(node, local);
    }
    [[nodiscard]] std::int32_t locals_on(NodeId node) const noexcept override {
        return inner_.locals_on(node);
    }
    [[nodiscard]] std::span<std::byte> node_memory() noexcept override {
        return inner_.node_memory();
    }
    void wait(const ports::Word& word, std::uint32_t seen) noexcept override {
        inner_.wait(word, seen);
    }
    void wait_briefly(const ports::Word& word, std::uint32_t seen) noexcept override {
        inner_.wait_briefly(word, seen);
    }
    void wake(ports::Word& word) noexcept override { inner_.wake(word); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        inner_.all_gather(mine, all);
    }
    Ticket send(NodeId to, int tag, std::span<const std::byte> bytes) override {
        return inner_.send(to, tag, bytes);
    }
    Ticket receive(NodeId from, int tag, std::span<std::byte> bytes) override {
        return inner_.receive(from, tag, bytes);
    }
    std::optional<std::size_t> done(Ticket ticket) override { return inner_.done(ticket); }

private:
    ports::Communicator& inner_;
};

}  // namespace forebay::adapters
