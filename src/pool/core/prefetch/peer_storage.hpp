// A FileStorage for reading that gets a file's bytes from another node, if few nodes read it for
// all (setting pool_readers), and else from the file system.
#pragma once

#include "foundation/ports/forwarding_storage.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace forebay::pool {

// Requests to other nodes, by number.
class PeerBytes {
public:
    PeerBytes() = default;
    PeerBytes(const PeerBytes&) = delete;
    PeerBytes& operator=(const PeerBytes&) = delete;
    virtual ~PeerBytes() = default;

    struct Outcome {
        bool refused = false;
        std::size_t bytes = 0;  // fewer than requested: the file ends there
    };
    // The outcome of a request, once; nullopt: it is in flight. An unknown request counts as
    // refused.
    [[nodiscard]] virtual std::optional<Outcome> take(std::uint64_t number) = 0;
    // Forgets a request: its memory is not written to any more.
    virtual void forget(std::uint64_t number) = 0;
};

// Sends each read of a part of one block to another node; reads everything else, and what is
// refused, by `own`.
class PeerStorage final : public ports::ForwardingStorage {
public:
    // Requests a part of one block from another node, and returns the request's number. nullopt: no
    // node passes the file on.
    using Ask = std::function<std::optional<std::uint64_t>(const ports::Piece&)>;

    // `passed`, and the objects that `ask` refers to, outlive this object.
    PeerStorage(std::unique_ptr<ports::FileStorage> own, PeerBytes& passed, Ask ask)
        : ForwardingStorage{std::move(own)}, passed_{passed}, ask_{std::move(ask)} {}
    ~PeerStorage() override;

    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    std::size_t wait(std::span<ports::RequestCompletion> out) override;

private:
    PeerBytes& passed_;
    Ask ask_;
    // Requests in flight, by their number in `passed_`.
    std::map<std::uint64_t, ports::Request> asked_;
};

}  // namespace forebay::pool
