// Each side sends its greeting in clear, then the header of its encrypted stream, then messages.
// The first message proves that the other side knows the secret.
#include "pool/cluster/transport/peer_link.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sodium.h>
#include <span>
#include <sys/socket.h>
#include <utility>

namespace forebay::cluster {

namespace {

constexpr std::uint64_t magic = 0x3159'4142'4552'4F46;  // "FOREBAY1"
constexpr std::size_t more_bytes = crypto_secretstream_xchacha20poly1305_ABYTES;
// Bytes read from one link before others have their turn.
constexpr std::size_t in_a_turn = std::size_t{4} << 20;
using FrameLength = std::uint32_t;
using Key = std::array<unsigned char, crypto_secretstream_xchacha20poly1305_KEYBYTES>;
using Header = std::array<unsigned char, crypto_secretstream_xchacha20poly1305_HEADERBYTES>;
using Nonce = std::array<unsigned char, 32>;

struct PeerGreeting {
    std::uint64_t begins = magic;
    std::uint32_t node = 0;
    std::uint32_t nodes = 0;
    Nonce nonce{};
};
static_assert(sizeof(PeerGreeting) == 48);

// The session key for one direction: `upwards` is from the lower node number to the higher one.
Key key_of(const Secret& secret, const PeerGreeting& lower, const PeerGreeting& higher,
           bool upwards) {
    std::array<unsigned char, 2 * sizeof(PeerGreeting) + 1> both{};
    std::memcpy(both.data(), &lower, sizeof lower);
    std::memcpy(both.data() + sizeof lower, &higher, sizeof higher);
    both.back() = upwards ? 1 : 0;
    Key key{};
    crypto_generichash(key.data(), key.size(), both.data(), both.size(), secret.data(),
                       secret.size());
    return key;
}

}  // namespace

struct PeerLink::Cipher {
    PeerGreeting own;
    PeerGreeting others;
    bool greeted = false;
    bool header_came = false;
    crypto_secretstream_xchacha20poly1305_state pull{};
    crypto_secretstream_xchacha20poly1305_state push{};
};

PeerLink::PeerLink(OwnFd socket, const ClusterPlace& seat, const Secret& secret)
    : socket_{std::move(socket)},
      seat_{seat},
      secret_{secret},
      received_{std::make_unique_for_overwrite<Received>()},
      cipher_{std::make_unique<Cipher>()} {
    expects(seat.self < seat.nodes, "a daemon has a seat of its job");
    greet();
}

PeerLink::~PeerLink() { sodium_memzero(secret_.data(), secret_.size()); }

void PeerLink::greet() {
    cipher_->own.node = seat_.self;
    cipher_->own.nodes = seat_.nodes;
    randombytes_buf(cipher_->own.nonce.data(), cipher_->own.nonce.size());
    const auto bytes = std::as_bytes(std::span{&cipher_->own, 1});
    append(bytes);
}

void PeerLink::append(std::span<const std::byte> bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
}

void PeerLink::refuse(std::string why) {
    if (state_ != State::established) {
        socket_ = OwnFd{};
    }
    state_ = State::refused;
    why_ = std::move(why);
    drop_unsent();
}

void PeerLink::hang_up() {
    expects(state_ == State::refused, "only who is refused is hung up on");
    socket_ = OwnFd{};
}

void PeerLink::fail(int error) {
    const bool closed =
        error == 0 || error == ECONNRESET || error == EPIPE || error == ECONNREFUSED;
    state_ = closed ? State::ended : State::cut;
    error_ = error;
    why_ = error == 0 ? "it has ended" : std::strerror(error);  // NOLINT(concurrency-mt-unsafe)
    drop_unsent();
}

// Frees what can never be sent: a link that is over stays until the daemon ends.
void PeerLink::drop_unsent() noexcept {
    expects(!open(), "nothing more is sent over the link");
    out_.clear();
    out_.shrink_to_fit();
    sent_ = 0;
    passing_.clear();
    early_.clear();
}

void PeerLink::run_once() {
    if (open() && std::exchange(event_came_, false)) {
        read();
    }
    if (open()) {
        write();
    }
}

void PeerLink::read() {
    std::size_t total = 0;
    while (total < in_a_turn) {
        const ssize_t got =
            ::recv(socket_.get(), received_->data(), received_->size(), MSG_DONTWAIT);
        const int error = errno;
        if (got < 0 && (error == EAGAIN || error == ENOTCONN)) {
            return;
        }
        if (got < 0 && error == EINTR) {
            continue;
        }
        const auto bytes =
            std::span{*received_}.first(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got > 0) {
            total += bytes.size();
            in_.insert(in_.end(), bytes.begin(), bytes.end());
            while (state_ != State::refused && (take_greeting() || take_header() || take_frame())) {
            }
            invariant(taken_ <= in_.size(), "no more is taken than has come");
            in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(taken_));
            taken_ = 0;
        } else {
            fail(got < 0 ? error : 0);
        }
        if (!open()) {
            return;
        }
        if (bytes.size() < received_->size() && !ends_) {
            return;  // all was read; the kernel reports when more comes (edge-triggered epoll)
        }
    }
    event_came_ = true;  // there may be more to read
}

void PeerLink::write() {
    if (!hurries_ && passing_.empty()) {
        return;
    }
    while (!out_.empty() || encrypt_next_part()) {
        const ssize_t put = ::send(socket_.get(), out_.data() + sent_, out_.size() - sent_,
                                   MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
            return;
        }
        if (put < 0 && errno != EINTR) {
            fail(errno);
            return;
        }
        sent_ += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
        invariant(sent_ <= out_.size(), "no more is sent than was to be");
        if (sent_ == out_.size()) {
            out_.clear();
            sent_ = 0;
            hurries_ = false;
        }
    }
}

// False: no bytes of files are waiting.
bool PeerLink::encrypt_next_part() {
    if (passing_.empty()) {
        return false;
    }
    hurries_ = true;
    OutgoingBytes& now = passing_.front();
    invariant(now.begin <= now.bytes.size(), "a part begins within the bytes");
    const std::size_t end =
        std::min(now.begin + std::size_t{protocol::part_bytes_max}, now.bytes.size());
    const auto at = [&](std::size_t place) {
        return now.bytes.begin() + static_cast<std::ptrdiff_t>(place);
    };
    const auto whole = static_cast<std::uint32_t>(now.bytes.size());
    const auto begin = static_cast<std::uint32_t>(now.begin);
    const std::vector<std::byte> bytes{at(now.begin), at(end)};
    if (now.purpose == Purpose::writing) {
        encrypt(protocol::HandoverPart{now.number, whole, begin, bytes});
    } else {
        encrypt(protocol::PeerReadPart{now.number, false, whole, begin, bytes});
    }
    now.begin = end;
    if (end == now.bytes.size()) {
        passing_.pop_front();
    }
    return true;
}

std::optional<std::span<const std::byte>> PeerLink::look(std::size_t bytes) const {
    if (in_.size() - taken_ < bytes) {
        return std::nullopt;
    }
    return std::span{in_}.subspan(taken_, bytes);
}

std::optional<std::span<const std::byte>> PeerLink::take(std::size_t bytes) {
    const auto found = look(bytes);
    taken_ += found ? bytes : 0;
    return found;
}

bool PeerLink::take_greeting() {
    if (cipher_->greeted) {
        return false;
    }
    const auto bytes = take(sizeof(PeerGreeting));
    if (!bytes) {
        return false;
    }
    PeerGreeting& others = cipher_->others;
    std::memcpy(&others, bytes->data(), sizeof others);
    if (others.begins != magic || others.nodes != seat_.nodes || others.node >= seat_.nodes ||
        others.node == seat_.self) {
        refuse("it is no daemon of this job, or of another version");
        return false;
    }
    cipher_->greeted = true;
    other_ = others.node;
    const bool upwards = seat_.self < other_;
    const PeerGreeting& lower = upwards ? cipher_->own : others;
    const PeerGreeting& higher = upwards ? others : cipher_->own;
    const Key key = key_of(secret_, lower, higher, upwards);
    Header header{};
    crypto_secretstream_xchacha20poly1305_init_push(&cipher_->push, header.data(), key.data());
    const auto said = std::as_bytes(std::span{header});
    append(said);
    send(tokens::TokenMessage{});  // an `alive`: the proof that this side knows the secret
    for (const protocol::PeerWord& word : std::exchange(early_, {})) {
        send(word);
    }
    return true;
}

bool PeerLink::take_header() {
    if (!cipher_->greeted || cipher_->header_came) {
        return false;
    }
    const auto bytes = take(sizeof(Header));
    if (!bytes) {
        return false;
    }
    const bool upwards = seat_.self < other_;
    const PeerGreeting& lower = upwards ? cipher_->own : cipher_->others;
    const PeerGreeting& higher = upwards ? cipher_->others : cipher_->own;
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

bool PeerLink::take_frame() {
    if (!cipher_->header_came) {
        return false;
    }
    FrameLength length = 0;
    const auto head = look(sizeof length);
    if (!head) {
        return false;
    }
    std::memcpy(&length, head->data(), sizeof length);
    if (length < more_bytes || length > protocol::peer_bytes_max + more_bytes) {
        refuse("what it says is no message");
        return false;
    }
    const auto frame = take(sizeof length + length);
    if (!frame) {
        return false;
    }
    const std::span<const std::byte> bytes = frame->subspan(sizeof length);
    std::vector<std::byte> plain(bytes.size() - more_bytes);
    unsigned char tag = 0;
    const int opened = crypto_secretstream_xchacha20poly1305_pull(
        &cipher_->pull, reinterpret_cast<unsigned char*>(plain.data()), nullptr, &tag,
        reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
    auto word = opened == 0 ? protocol::peer_word_of(plain) : std::nullopt;
    if (!word) {
        refuse(opened == 0 ? "what it says is no message" : "it does not know the job's secret");
        return false;
    }
    if (state_ == State::greeting) {
        invariant(cipher_->greeted && words_.empty(), "the first message is the proof");
        state_ = State::established;
    } else {
        words_.push_back(std::move(*word));
    }
    return true;
}

void PeerLink::encrypt(const protocol::PeerWord& word) {
    expects(cipher_->greeted, "there is a key");
    const std::vector<std::byte> plain = protocol::bytes_of(word);
    invariant(plain.size() <= protocol::peer_bytes_max,
              "a message is as short as the others expect");
    const auto length = static_cast<FrameLength>(plain.size() + more_bytes);
    append(std::as_bytes(std::span{&length, 1}));
    const std::size_t before = out_.size();
    out_.resize(before + length);
    crypto_secretstream_xchacha20poly1305_push(
        &cipher_->push, reinterpret_cast<unsigned char*>(out_.data() + before), nullptr,
        reinterpret_cast<const unsigned char*>(plain.data()), plain.size(), nullptr, 0, 0);
}

void PeerLink::send(const protocol::PeerWord& word, Haste haste) {
    if (!open()) {
        return;
    }
    hurries_ = hurries_ || haste == Haste::now;
    if (!cipher_->greeted) {
        early_.push_back(word);
        return;
    }
    encrypt(word);
    hurries_ = hurries_ || out_.size() - sent_ > held_back_max;
    if (out_.size() - sent_ > waiting_max) {
        fail(ETIMEDOUT);
    }
}

void PeerLink::pass(std::uint64_t number, std::vector<std::byte> bytes, Purpose purpose) {
    if (open()) {
        passing_.push_back({.number = number, .bytes = std::move(bytes), .purpose = purpose});
    }
}

std::size_t PeerLink::bytes_to_pass() const noexcept {
    std::size_t bytes = 0;
    for (const OutgoingBytes& one : passing_) {
        bytes += one.bytes.size() - one.begin;
    }
    return bytes;
}

std::optional<protocol::PeerWord> PeerLink::next() {
    if (words_.empty()) {
        return std::nullopt;
    }
    protocol::PeerWord word = std::move(words_.front());
    words_.pop_front();
    return word;
}

}  // namespace forebay::cluster
