// A connection to another daemon of the job: the job's secret proves who is at the other end, and
// messages are encrypted and in order (libsodium: keyed BLAKE2b, and the secretstream of
// XChaCha20-Poly1305). Messages recorded from another connection cannot be replayed in this one:
// both sides choose a part of the key.
//
// A frame: the length of what is encrypted, in clear, and that. Bytes of files wait until the
// messages sent before or meanwhile have gone.
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

// Which daemon this is, of how many.
struct ClusterPlace {
    tokens::Node self = 0;
    std::uint32_t nodes = 1;
};

class PeerLink {
public:
    // Bytes that may wait to be sent: the other side does not read any more.
    static constexpr std::size_t waiting_max = std::size_t{1} << 20;

    // The most of these that are held back, where there is no haste: beyond that they are sent at
    // once.
    static constexpr std::size_t held_back_max = std::size_t{64} << 10;

    // `socket`: connected, or about to be, and not blocking.
    PeerLink(OwnFd socket, const ClusterPlace& seat, const Secret& secret);
    PeerLink(const PeerLink&) = delete;
    PeerLink& operator=(const PeerLink&) = delete;
    ~PeerLink();

    enum class State : std::uint8_t {
        greeting,     // who it is has still to be proved
        established,  // it is `other()`
        ended,        // the other side has closed it, or died
        cut,          // the network gave up: whether the other side lives is not known
        refused,      // it does not belong to this job; why() says it
    };
    [[nodiscard]] State state() const noexcept { return state_; }
    [[nodiscard]] tokens::Node other() const noexcept { return other_; }
    [[nodiscard]] const std::string& why() const noexcept { return why_; }
    // errno of its end; 0 where the other side closed it, or it has not ended.
    [[nodiscard]] int error() const noexcept { return error_; }
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    // There is something to be sent that the socket does not take now, or that is held back.
    [[nodiscard]] bool blocked() const noexcept { return !out_.empty() || !passing_.empty(); }

    // The kernel has told something of the socket. `ends`: also that nothing more will come.
    void note_event(bool ends = true) noexcept {
        event_came_ = true;
        ends_ = ends_ || ends;
    }
    // Reads and writes what can be without waiting.
    void run_once();
    enum class Haste : std::uint8_t {
        none,  // it goes with the next message, or when hasten() is called
        now,
    };
    void send(const protocol::PeerWord& word, Haste haste = Haste::now);
    void hasten() noexcept { hurries_ = hurries_ || !out_.empty(); }
    // Bytes of a file, in parts with this number.
    void pass(std::uint64_t number, std::vector<std::byte> bytes);
    // The bytes of these that have not been sent yet.
    [[nodiscard]] std::size_t bytes_to_pass() const noexcept;
    [[nodiscard]] std::optional<protocol::PeerWord> next();

private:
    struct Cipher;
    using Received = std::array<std::byte, std::size_t{64} << 10>;
    struct PeerReadServer {
        std::uint64_t number = 0;
        std::vector<std::byte> bytes;
        std::size_t begin = 0;  // of the bytes not sent yet
    };

    void greet();
    void read();
    void write();
    bool encrypt_next_part();
    void encrypt(const protocol::PeerWord& word);
    void append(std::span<const std::byte> bytes);
    // The next bytes that have come and were not taken; nullopt: fewer have come.
    [[nodiscard]] std::optional<std::span<const std::byte>> look(std::size_t bytes) const;
    [[nodiscard]] std::optional<std::span<const std::byte>> take(std::size_t bytes);
    bool take_greeting();
    bool take_header();
    bool take_frame();
    void refuse(std::string why);
    void fail(int error);

    OwnFd socket_;
    ClusterPlace seat_;
    Secret secret_;
    tokens::Node other_ = 0;
    State state_ = State::greeting;
    std::string why_;
    int error_ = 0;
    bool event_came_ = true;
    bool ends_ = false;
    std::unique_ptr<Received> received_;  // by one call
    std::vector<std::byte> in_;
    std::size_t taken_ = 0;  // bytes of in_
    std::vector<std::byte> out_;
    std::size_t sent_ = 0;  // bytes of out_
    bool hurries_ = true;   // what is in out_ is to be sent
    std::deque<PeerReadServer> passing_;
    std::deque<protocol::PeerWord> words_;
    std::vector<protocol::PeerWord> early_;  // to be sent when the key is there
    std::unique_ptr<Cipher> cipher_;
};

}  // namespace forebay::cluster
