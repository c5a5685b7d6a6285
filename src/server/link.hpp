// A connection to another daemon of the job: who is at the other end is proved by the job's secret,
// and what is said is encrypted and in order (libsodium: keyed BLAKE2b, and the secretstream of
// XChaCha20-Poly1305). What was recorded from another connection cannot be said again in this one:
// both sides choose a part of the key.
#pragma once

#include "base/own_fd.hpp"
#include "registry/token.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::server {

inline constexpr std::size_t secret_bytes = 32;
using Secret = std::array<unsigned char, secret_bytes>;

// Which daemon this is, of how many.
struct Seat {
    registry::Node self = 0;
    std::uint32_t nodes = 1;
};

class Link {
public:
    // Bytes that may wait to be sent: the other side does not read any more.
    static constexpr std::size_t waiting_max = std::size_t{1} << 20;

    // `socket`: connected, or about to be, and not blocking.
    Link(OwnFd socket, const Seat& seat, const Secret& secret);
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link();

    enum class State : std::uint8_t {
        greeting,     // who it is has still to be proved
        established,  // it is `other()`
        ended,        // the other side has closed it, or died
        cut,          // the network gave up: whether the other side lives is not known
        refused,      // it does not belong to this job; why() says it
    };
    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] registry::Node other() const noexcept { return other_; }
    [[nodiscard]] const std::string& why() const noexcept { return why_; }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    // There is something to be sent that the socket does not take now.
    [[nodiscard]] bool blocked() const noexcept { return !out_.empty(); }

    // The kernel has told something of the socket.
    void stir() noexcept { stirred_ = true; }
    // Reads and writes what can be without waiting.
    void turn();
    void send(const registry::Message& message);
    [[nodiscard]] std::optional<registry::Message> next();

private:
    struct Cipher;

    void greet();
    void read();
    void write();
    [[nodiscard]] std::optional<std::vector<std::byte>> take(std::size_t bytes);
    bool take_greeting();
    bool take_header();
    bool take_frame();
    void refuse(std::string why);
    void fail(int error);

    OwnFd socket_;
    Seat seat_;
    Secret secret_;
    registry::Node other_ = 0;
    State state_ = State::greeting;
    std::string why_;
    bool stirred_ = true;
    std::vector<std::byte> in_;
    std::deque<std::byte> out_;
    std::deque<registry::Message> messages_;
    std::vector<registry::Message> early_;  // to be sent when the key is there
    std::unique_ptr<Cipher> cipher_;
};

}  // namespace forebay::server
