// Moves each offer through its states, in rounds.
#include "pool/cluster/handover/handover_server.hpp"

#include "foundation/base/contracts.hpp"
#include "pool/core/flush/request_cutter.hpp"
#include "storage/policy/tuning.hpp"

#include <algorithm>
#include <cerrno>
#include <span>

namespace forebay::cluster {

using protocol::HandoverOffer;
using protocol::HandoverReply;

namespace {

// How many channels one storage can serve.
int most_at_once(const ports::FileStorage& storage) {
    return std::max(storage.depth() / static_cast<int>(transfer::Channel::requests_max), 1);
}

}  // namespace

HandoverServer::HandoverServer(const Ports& ports, Opener open, const Limits& limits)
    : post_{ports.post},
      io_{ports.io},
      clock_{ports.clock},
      open_{std::move(open)},
      limits_{limits} {
    limits_.bytes_max = std::max(limits_.bytes_max, std::int64_t{protocol::offer_bytes_max});
}

HandoverServer::~HandoverServer() = default;

bool HandoverServer::run_once() {
    bool any = take_offers();
    any = take_withdrawals() || any;
    any = take_parts() || any;
    any = take_openings() || any;
    any = accept_offers() || any;
    any = std::erase_if(entries_, [this](Entry& entry) { return advance(entry); }) > 0 || any;
    hold_connections();
    return close_unused_files() || any;
}

HandoverServer::File& HandoverServer::file_of(const Entry& entry) {
    return files_.at({entry.offer.file, entry.offer.path});
}

bool HandoverServer::is_writing() const {
    return std::ranges::any_of(
        entries_, [](const Entry& entry) { return entry.state == Entry::State::writing; });
}

void HandoverServer::refuse(tokens::Node node, std::uint64_t number, HandoverReply::Kind kind) {
    post_.reply(node, {.kind = kind, .number = number});
}

HandoverServer::Entry* HandoverServer::find(tokens::Node node, std::uint64_t number) {
    const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
        return entry.from == node && entry.offer.number == number;
    });
    return found == entries_.end() ? nullptr : &*found;
}

// The bytes that are held for one node, or (null) for all.
std::int64_t HandoverServer::held_bytes(const tokens::Node* of) const {
    std::int64_t held = 0;
    for (const Entry& entry : entries_) {
        const bool counts = entry.state != Entry::State::waits && (!of || *of == entry.from);
        held += counts ? entry.whole : 0;
    }
    return held;
}

bool HandoverServer::take_offers() {
    auto offers = post_.offers();
    for (auto& [node, offer] : offers) {
        const auto of_node = std::ranges::count(entries_, node, &Entry::from);
        const FileName name{offer.file, offer.path};
        const bool has_place = files_.contains(name) || files_.size() < files_max;
        if (closing_ || !has_place || of_node >= static_cast<std::ptrdiff_t>(offers_of_node_max)) {
            refuse(node, offer.number);
            continue;
        }
        if (find(node, offer.number) != nullptr) {
            continue;  // no daemon of ours uses a number twice
        }
        std::int64_t whole = 0;
        for (const protocol::HandedRange& range : offer.ranges) {
            whole += static_cast<std::int64_t>(range.bytes);
        }
        if (!files_.contains(name)) {
            begin_opening(name);
        }
        entries_.push_back({.from = node, .offer = std::move(offer), .whole = whole});
    }
    return !offers.empty();
}

void HandoverServer::begin_opening(const FileName& name) {
    File file;
    file.opening = std::make_shared<Result<OpenedForOthers>>(OpenedForOthers{});
    file.used_ns = clock_.now_ns();
    const std::uint64_t ticket = next_ticket_++;
    openings_.emplace(ticket, name);
    io_.begin(ticket, [result = file.opening, open = open_, name]() -> std::int64_t {
        *result = open(name.first, name.second);
        return 0;
    });
    files_.emplace(name, std::move(file));
}

bool HandoverServer::take_openings() {
    bool any = false;
    for (const auto& [ticket, answer] : io_.ended()) {
        const auto opening = openings_.find(ticket);
        if (opening == openings_.end()) {
            continue;  // a file was closed
        }
        File& file = files_.at(opening->second);
        openings_.erase(opening);
        auto result = std::exchange(file.opening, nullptr);
        file.failed = !result->has_value() || !(*result)->storage;
        if (!file.failed) {
            file.storage = std::make_unique<StorageHub>(std::move((*result)->storage));
            file.stripes = (*result)->stripes;
            plan::Tuning tuning;
            tuning.requests_in_flight = limits_.requests_in_flight;
            tuning.request_bytes_max = limits_.request_bytes_max;
            const auto targets = std::max(file.stripes.targets, 1);
            file.throttles.assign(static_cast<std::size_t>(targets),
                                  plan::Throttle::first(tuning, {}));
            file.gate = std::make_unique<transfer::ThrottledGate>(file.throttles);
        }
        any = true;
    }
    return any;
}

bool HandoverServer::take_withdrawals() {
    const auto withdrawals = post_.withdrawals();
    for (const auto& [node, number] : withdrawals) {
        const Entry* const entry = find(node, number);
        if (entry != nullptr && entry->state != Entry::State::writing) {
            entries_.erase(entries_.begin() + (entry - entries_.data()));
        }
    }
    return !withdrawals.empty();
}

// Parts are input of another node: if one does not fit its offer, nothing of the offer is written.
bool HandoverServer::take_parts() {
    const auto parts = post_.handed_over();
    for (const auto& [node, part] : parts) {
        Entry* const entry = find(node, part.number);
        if (entry == nullptr || entry->state != Entry::State::accepted) {
            continue;
        }
        const auto whole = static_cast<std::size_t>(entry->whole);
        if (part.whole != whole || part.begin != entry->got ||
            part.bytes.size() > whole - entry->got) {
            refuse(node, part.number);
            entries_.erase(entries_.begin() + (entry - entries_.data()));
            continue;
        }
        std::ranges::copy(part.bytes, std::span{entry->bytes}.subspan(entry->got).begin());
        entry->got += part.bytes.size();
    }
    return !parts.empty();
}

// In the order of the offers, so that none waits for ever.
bool HandoverServer::accept_offers() {
    bool any = false;
    std::int64_t held = held_bytes(nullptr);
    for (Entry& entry : entries_) {
        const File& file = file_of(entry);
        if (entry.state != Entry::State::waits || !file.storage || closing_) {
            continue;
        }
        if (held + entry.whole > limits_.bytes_max) {
            break;
        }
        if (held_bytes(&entry.from) + entry.whole > bytes_of_node_max) {
            continue;
        }
        entry.state = Entry::State::accepted;
        entry.bytes.resize(static_cast<std::size_t>(entry.whole));
        held += entry.whole;
        post_.reply(entry.from,
                    {.kind = HandoverReply::Kind::accepted, .number = entry.offer.number});
        any = true;
    }
    return any;
}

bool HandoverServer::advance(Entry& entry) {
    if (entry.state == Entry::State::writing) {
        entry.channel->run_once();
        if (!entry.channel->finished(0)) {
            return false;
        }
        report(entry);
        --file_of(entry).writing;
        return true;
    }
    if (post_.has_ended(entry.from)) {
        return true;
    }
    if (closing_) {
        refuse(entry.from, entry.offer.number);
        return true;
    }
    File& file = file_of(entry);
    if (file.failed) {
        refuse(entry.from, entry.offer.number, HandoverReply::Kind::wrong_file);
        return true;
    }
    if (entry.state == Entry::State::accepted && entry.got == entry.bytes.size() &&
        file.writing < most_at_once(file.storage->storage())) {
        begin_writing(entry, file);
    }
    return false;
}

void HandoverServer::begin_writing(Entry& entry, File& file) {
    expects(entry.state == Entry::State::accepted && entry.got == entry.bytes.size(),
            "what is written is here");
    ++file.writing;
    std::vector<ports::Piece> pieces;
    pieces.reserve(entry.offer.ranges.size());
    std::span<std::byte> rest{entry.bytes};
    for (const protocol::HandedRange& range : entry.offer.ranges) {
        pieces.push_back({Offset{range.at}, rest.first(range.bytes)});
        rest = rest.subspan(range.bytes);
    }
    plan::Tuning tuning;
    tuning.request_bytes_max = limits_.request_bytes_max;
    entry.state = Entry::State::writing;
    entry.storage = std::make_unique<StorageShare>(*file.storage);
    entry.channel = std::make_unique<transfer::Channel>(*entry.storage, *file.gate, clock_,
                                                        transfer::ChannelOptions{});
    entry.channel->begin(0, std::make_unique<pool::RequestCutter>(
                                std::move(pieces), file.stripes,
                                plan::request_bytes_max(tuning, file.stripes, IoDirection::write)));
    entry.channel->run_once();
}

// All bytes before the first failure are written.
void HandoverServer::report(const Entry& entry) {
    const plan::FirstFailure& failure = entry.channel->failure();
    std::int64_t written = 0;
    for (const protocol::HandedRange& range : entry.offer.ranges) {
        const std::int64_t before = failure.happened() ? failure.at - range.at : INT64_MAX;
        written += std::clamp(before, std::int64_t{0}, static_cast<std::int64_t>(range.bytes));
    }
    const int error = failure.system == 0 ? EIO : failure.system;
    bytes_ += written;
    file_of(entry).used_ns = clock_.now_ns();
    post_.reply(entry.from, {.kind = HandoverReply::Kind::written,
                             .number = entry.offer.number,
                             .bytes = static_cast<std::uint32_t>(written),
                             .error = failure.happened() ? error : 0});
}

// Closing may take long, so another thread does it.
bool HandoverServer::close_unused_files() {
    const std::int64_t now = clock_.now_ns();
    const auto is_unused = [&](const auto& one) {
        const auto& [name, file] = one;
        const bool is_wanted = std::ranges::any_of(entries_, [&](const Entry& entry) {
            return entry.offer.file == name.first && entry.offer.path == name.second;
        });
        return !is_wanted && !file.opening &&
               (file.failed || closing_ || now - file.used_ns >= unused_ns);
    };
    bool any = false;
    for (auto at = files_.begin(); at != files_.end();) {
        if (!is_unused(*at)) {
            ++at;
            continue;
        }
        std::shared_ptr<StorageHub> storage{std::move(at->second.storage)};
        if (storage) {
            io_.begin(next_ticket_++, [storage = std::move(storage)]() mutable -> std::int64_t {
                storage.reset();
                return 0;
            });
        }
        at = files_.erase(at);
        any = true;
    }
    return any;
}

void HandoverServer::hold_connections() {
    std::set<tokens::Node> writing;
    for (const Entry& entry : entries_) {
        if (entry.state == Entry::State::writing) {
            writing.insert(entry.from);
        }
    }
    for (const tokens::Node node : held_) {
        if (!writing.contains(node)) {
            post_.hold(node, false);
        }
    }
    for (const tokens::Node node : writing) {
        post_.hold(node, true);
    }
    held_ = std::move(writing);
}

}  // namespace forebay::cluster
