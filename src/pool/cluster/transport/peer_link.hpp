// A TCP connection to another daemon of the job. The job's secret authenticates both sides, and
// messages are encrypted and in order (libsodium: keyed BLAKE2b, and the secretstream of
// XChaCha20-Poly1305). Recorded messages of another connection cannot be replayed, because both
// sides contribute a nonce to the keys.
//
// A frame consists of its length, in clear, and an encrypted message. Bytes of files are sent only
// when no message waits to be sent.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "pool/cluster/tokens/token.hpp"
#include "pool/cluster/transport/peer_messages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace forebay::cluster {

inline constexpr std::size_t secret_bytes = 32;
using Secret = std::array<unsigned char, secret_bytes>;

// The number of this daemon in its job, and how many there are.
struct ClusterPlace {
    tokens::Node self = 0;
    std::uint32_t nodes = 1;
};

class PeerLink {
public:
    // How many bytes may wait to be sent. If there are more, the other side does not read any more,
    // and the link is cut.
    static constexpr std::size_t waiting_max = std::size_t{1} << 20;

    // How many bytes of messages that are not urgent are held back; if there are more, they are
    // sent at once.
    static constexpr std::size_t held_back_max = std::size_t{64} << 10;

    // `socket` is connected or being connected, and does not block.
    PeerLink(OwnFd socket, const ClusterPlace& seat, const Secret& secret);
    PeerLink(const PeerLink&) = delete;
    PeerLink& operator=(const PeerLink&) = delete;
    ~PeerLink();

    enum class State : std::uint8_t {
        greeting,     // the other side has not proved yet who it is
        established,  // the other side is the daemon `other()`
        ended,        // the other side has closed it, or died
        cut,          // the network gave up; nobody knows whether the other side is alive
        // The other side does not belong to this job; why() says more. If it was established, the
        // connection stays until hang_up(): its end tells the other side that this process writes
        // nothing more for it.
        refused,
    };
    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] tokens::Node other() const noexcept { return other_; }
    [[nodiscard]] const std::string& why() const noexcept { return why_; }
    // The errno with which the link ended; 0 if the other side closed it, or it has not ended.
    [[nodiscard]] int error() const noexcept { return error_; }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    // True when something is still to be sent: the socket does not take it now, or it is held back.
    [[nodiscard]] bool blocked() const noexcept { return !out_.empty() || !passing_.empty(); }

    // Epoll has reported an event for the socket. `ends`: one by which nothing more will come.
    void note_event(bool ends = true) noexcept {
        event_came_ = true;
        ends_ = ends_ || ends;
    }
    // Reads and writes as much as is possible without waiting.
    void run_once();
    enum class Haste : std::uint8_t {
        none,  // sent with the next urgent message, or when hasten() is called
        now,
    };
    // Queues a message; run_once() sends it. Over a link that has ended nothing is sent: the
    // message is dropped.
    void send(const protocol::PeerWord& word, Haste haste = Haste::now);
    void hasten() noexcept { hurries_ = hurries_ || !out_.empty(); }
    // Why bytes of a file are sent: as the answer to a PeerReadRequest, or to be written.
    enum class Purpose : std::uint8_t { reading, writing };
    // Queues bytes of a file, which are sent in parts with this number; dropped as by send().
    void pass(std::uint64_t number, std::vector<std::byte> bytes,
              Purpose purpose = Purpose::reading);
    // How many of these bytes have not been sent yet.
    [[nodiscard]] std::size_t bytes_to_pass() const noexcept;
    // The next message that has arrived.
    [[nodiscard]] std::optional<protocol::PeerWord> next();
    // Closes the connection. Contract: the link is refused.
    void hang_up();

private:
    struct Cipher;
    using Received = std::array<std::byte, std::size_t{64} << 10>;
    // The bytes of a file that are being sent.
    struct OutgoingBytes {
        std::uint64_t number = 0;
        std::vector<std::byte> bytes;
        std::size_t begin = 0;  // where the bytes begin that were not sent yet
        Purpose purpose = Purpose::reading;
    };

    // Neither ended, cut nor refused.
    [[nodiscard]] bool open() const noexcept {
        return state_ == State::greeting || state_ == State::established;
    }
    void greet();
    void read();
    void write();
    bool encrypt_next_part();
    void encrypt(const protocol::PeerWord& word);
    void append(std::span<const std::byte> bytes);
    // The next `bytes` bytes that have arrived and were not taken; nullopt: fewer have.
    [[nodiscard]] std::optional<std::span<const std::byte>> look(std::size_t bytes) const;
    [[nodiscard]] std::optional<std::span<const std::byte>> take(std::size_t bytes);
    bool take_greeting();
    bool take_header();
    bool take_frame();
    void refuse(std::string why);
    void fail(int error);
    void drop_unsent() noexcept;

    OwnFd socket_;
    ClusterPlace seat_;
    Secret secret_;
    tokens::Node other_ = 0;
    State state_ = State::greeting;
    std::string why_;
    int error_ = 0;
    bool event_came_ = true;
    bool ends_ = false;
    std::unique_ptr<Received> received_;  // a buffer for one recv()
    std::vector<std::byte> in_;
    std::size_t taken_ = 0;  // how many bytes of in_ are taken
    std::vector<std::byte> out_;
    std::size_t sent_ = 0;  // how many bytes of out_ are sent
    bool hurries_ = true;   // what is in out_ is to be sent at once
    std::deque<OutgoingBytes> passing_;
    std::deque<protocol::PeerWord> words_;
    std::vector<protocol::PeerWord> early_;  // messages that wait for the key
    std::unique_ptr<Cipher> cipher_;
};

}  // namespace forebay::cluster
