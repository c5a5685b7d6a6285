// Both sides say their greeting in clear, then a header of the encrypted stream, then messages. The
// first of these proves that the other side knows the secret.
#include "server/link.hpp"

#include "wire/peers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sodium.h>
#include <span>
#include <sys/socket.h>
#include <utility>

namespace forebay::server {

namespace {

constexpr std::uint64_t magic = 0x3159'4142'4552'4F46;  // "FOREBAY1"
constexpr std::size_t frame_bytes = wire::peer_bytes + crypto_secretstream_xchacha20poly1305_ABYTES;
using Key = std::array<unsigned char, crypto_secretstream_xchacha20poly1305_KEYBYTES>;
using Header = std::array<unsigned char, crypto_secretstream_xchacha20poly1305_HEADERBYTES>;
using Nonce = std::array<unsigned char, 32>;

struct Greeting {
    std::uint64_t begins = magic;
    std::uint32_t node = 0;
    std::uint32_t nodes = 0;
    Nonce nonce{};
};
static_assert(sizeof(Greeting) == 48);

// Of what the lower node says to the higher one, or of the other direction.
Key key_of(const Secret& secret, const Greeting& lower, const Greeting& higher, bool upwards) {
    std::array<unsigned char, 2 * sizeof(Greeting) + 1> both{};
    std::memcpy(both.data(), &lower, sizeof lower);
    std::memcpy(both.data() + sizeof lower, &higher, sizeof higher);
    both.back() = upwards ? 1 : 0;
    Key key{};
    crypto_generichash(key.data(), key.size(), both.data(), both.size(), secret.data(),
                       secret.size());
    return key;
}

}  // namespace

struct Link::Cipher {
    Greeting own;
    Greeting others;
    bool greeted = false;
    bool header_came = false;
    crypto_secretstream_xchacha20poly1305_state pull{};
    crypto_secretstream_xchacha20poly1305_state push{};
};

Link::Link(OwnFd socket, const Seat& seat, const Secret& secret)
    : socket_{std::move(socket)},
      seat_{seat},
      secret_{secret},
      cipher_{std::make_unique<Cipher>()} {
    greet();
}

Link::~Link() { sodium_memzero(secret_.data(), secret_.size()); }

void Link::greet() {
    cipher_->own.node = seat_.self;
    cipher_->own.nodes = seat_.nodes;
    randombytes_buf(cipher_->own.nonce.data(), cipher_->own.nonce.size());
    const auto bytes = std::as_bytes(std::span{&cipher_->own, 1});
    out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void Link::refuse(std::string why) {
    state_ = State::refused;
    why_ = std::move(why);
    socket_ = OwnFd{};
}

void Link::fail(int error) {
    const bool closed =
        error == 0 || error == ECONNRESET || error == EPIPE || error == ECONNREFUSED;
    state_ = closed ? State::ended : State::cut;
    why_ = error == 0 ? "it has ended" : std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
}

void Link::turn() {
    const bool open = state_ == State::greeting || state_ == State::established;
    if (open && std::exchange(stirred_, false)) {
        read();
    }
    if (state_ == State::greeting || state_ == State::established) {
        write();
    }
}

void Link::read() {
    std::array<std::byte, 4096> part;
    for (;;) {
        const ssize_t got = ::recv(socket_.get(), part.data(), part.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
            return;
        }
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got > 0) {
            in_.insert(in_.end(), part.begin(), part.begin() + got);
            while (state_ != State::refused && (take_greeting() || take_header() || take_frame())) {
            }
        } else {
            fail(got < 0 ? errno : 0);
        }
        if (state_ != State::greeting && state_ != State::established) {
            return;
        }
    }
}

void Link::write() {
    while (!out_.empty()) {
        std::array<std::byte, 4096> part;
        const std::size_t bytes = std::min(out_.size(), part.size());
        std::copy_n(out_.begin(), bytes, part.begin());
        const ssize_t put = ::send(socket_.get(), part.data(), bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
            return;
        }
        if (put < 0 && errno != EINTR) {
            fail(errno);
            return;
        }
        out_.erase(out_.begin(), out_.begin() + std::max<ssize_t>(put, 0));
    }
}

std::optional<std::vector<std::byte>> Link::take(std::size_t bytes) {
    if (in_.size() < bytes) {
        return std::nullopt;
    }
    const auto end = in_.begin() + static_cast<std::ptrdiff_t>(bytes);
    std::vector<std::byte> taken(in_.begin(), end);
    in_.erase(in_.begin(), end);
    return taken;
}

bool Link::take_greeting() {
    if (cipher_->greeted) {
        return false;
    }
    const auto bytes = take(sizeof(Greeting));
    if (!bytes) {
        return false;
    }
    Greeting& others = cipher_->others;
    std::memcpy(&others, bytes->data(), sizeof others);
    if (others.begins != magic || others.nodes != seat_.nodes || others.node >= seat_.nodes ||
        others.node == seat_.self) {
        refuse("it is no daemon of this job, or of another version");
        return false;
    }
    cipher_->greeted = true;
    other_ = others.node;
    const bool upwards = seat_.self < other_;
    const Greeting& lower = upwards ? cipher_->own : others;
    const Greeting& higher = upwards ? others : cipher_->own;
    const Key key = key_of(secret_, lower, higher, upwards);
    Header header{};
    crypto_secretstream_xchacha20poly1305_init_push(&cipher_->push, header.data(), key.data());
    const auto said = std::as_bytes(std::span{header});
    out_.insert(out_.end(), said.begin(), said.end());
    send({});  // alive: the proof
    for (const registry::Message& message : std::exchange(early_, {})) {
        send(message);
    }
    return true;
}

bool Link::take_header() {
    if (!cipher_->greeted || cipher_->header_came) {
        return false;
    }
    const auto bytes = take(sizeof(Header));
    if (!bytes) {
        return false;
    }
    const bool upwards = seat_.self < other_;
    const Greeting& lower = upwards ? cipher_->own : cipher_->others;
    const Greeting& higher = upwards ? cipher_->others : cipher_->own;
    const Key key = key_of(secret_, lower, higher, !upwards);
    cipher_->header_came = true;
    if (crypto_secretstream_xchacha20poly1305_init_pull(
            &cipher_->pull, reinterpret_cast<const unsigned char*>(bytes->data()), key.data()) !=
        0) {
        refuse("its encryption makes no sense");
        return false;
    }
    return true;
}

bool Link::take_frame() {
    if (!cipher_->header_came) {
        return false;
    }
    const auto bytes = take(frame_bytes);
    if (!bytes) {
        return false;
    }
    wire::PeerBytes plain{};
    unsigned char tag = 0;
    const int opened = crypto_secretstream_xchacha20poly1305_pull(
        &cipher_->pull, reinterpret_cast<unsigned char*>(plain.data()), nullptr, &tag,
        reinterpret_cast<const unsigned char*>(bytes->data()), bytes->size(), nullptr, 0);
    const auto message = opened == 0 ? wire::message_of(plain) : std::nullopt;
    if (!message) {
        refuse(opened == 0 ? "what it says is no message" : "it does not know the job's secret");
        return false;
    }
    if (state_ == State::greeting) {
        state_ = State::established;
    } else {
        messages_.push_back(*message);
    }
    return true;
}

void Link::send(const registry::Message& message) {
    if (!cipher_->greeted) {
        early_.push_back(message);
        return;
    }
    const wire::PeerBytes plain = wire::bytes_of(message);
    std::array<unsigned char, frame_bytes> frame{};
    crypto_secretstream_xchacha20poly1305_push(&cipher_->push, frame.data(), nullptr,
                                               reinterpret_cast<const unsigned char*>(plain.data()),
                                               plain.size(), nullptr, 0, 0);
    const auto bytes = std::as_bytes(std::span{frame});
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    if (out_.size() > waiting_max) {
        fail(ETIMEDOUT);
    }
}

std::optional<registry::Message> Link::next() {
    if (messages_.empty()) {
        return std::nullopt;
    }
    const registry::Message message = messages_.front();
    messages_.pop_front();
    return message;
}

}  // namespace forebay::server
