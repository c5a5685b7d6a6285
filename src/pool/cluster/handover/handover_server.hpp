// Writes what other nodes hand over to this one (setting pool_writers), through a gate for each
// target, as what is drained. The life of an offer:
//
//   waits for its file and for memory ──▶ accepted: its bytes arrive ──▶ writing ──▶ written
//
// Bytes of a node that has ended are dropped, unless they are being written: is_writing() says when
// that is over, and no other node caches the file until then.
#pragma once

#include "foundation/base/result.hpp"
#include "foundation/base/stripes.hpp"
#include "foundation/ports/background_io.hpp"
#include "foundation/ports/clock.hpp"
#include "foundation/ports/storage.hpp"
#include "pool/cluster/handover/storage_hub.hpp"
#include "pool/cluster/transport/handover_transport.hpp"
#include "storage/policy/throttle.hpp"
#include "storage/transfer/channel.hpp"
#include "storage/transfer/gate.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace forebay::cluster {

// A file that was opened for other nodes. Its writes are durable when they complete, and are made
// by threads of this process: when its kernel has ended its connections, none is under way.
struct OpenedForOthers {
    std::unique_ptr<ports::FileStorage> storage;
    FileStripes stripes;
};

class HandoverServer {
public:
    // Offers of one node that may be here at a time; further ones are refused.
    static constexpr std::size_t offers_of_node_max = 128;
    // Bytes of one node that are on their way to this one, or being written.
    static constexpr std::int64_t bytes_of_node_max = std::int64_t{16} << 20;
    // Files that are open for others at a time; offers of further ones are refused.
    static constexpr std::size_t files_max = 64;
    // A file of which nothing was offered for this long is closed.
    static constexpr std::int64_t unused_ns = 1'000'000'000;

    // Opens a file, or fails where it cannot be opened or is another one. Called on any thread.
    using Opener = std::function<Result<OpenedForOthers>(const protocol::HandedFile& identity,
                                                         const std::string& path)>;
    struct Limits {
        std::int64_t bytes_max = std::int64_t{128} << 20;  // of all nodes; as one offer at least
        std::int64_t request_bytes_max = std::int64_t{4} << 20;
        std::int32_t requests_in_flight = 2;  // at each target of a file; 0: found while running
    };
    // The ports outlive this object. `io` is used by nobody else.
    struct Ports {
        HandoverTransport& post;
        ports::BackgroundIo& io;
        const ports::TimeSource& clock;
    };
    HandoverServer(const Ports& ports, Opener open, const Limits& limits);
    HandoverServer(const HandoverServer&) = delete;
    HandoverServer& operator=(const HandoverServer&) = delete;
    // Waits for what is being written.
    ~HandoverServer();

    // Takes what has arrived, and writes. True if anything was done.
    bool run_once();
    // From now on offers are refused, also those whose bytes are not all here.
    void close_down() noexcept { closing_ = true; }
    [[nodiscard]] bool is_writing() const;
    [[nodiscard]] bool idle() const noexcept { return entries_.empty(); }
    // Bytes that were written for other nodes.
    [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

private:
    using FileName = std::pair<protocol::HandedFile, std::string>;
    struct File {
        // Filled in by another thread, and read when its ticket has come back.
        std::shared_ptr<Result<OpenedForOthers>> opening;
        std::unique_ptr<StorageHub> storage{};  // null: it is not open yet
        FileStripes stripes{};
        bool failed = false;
        std::vector<plan::Throttle> throttles{};
        std::unique_ptr<transfer::Gate> gate{};
        int writing = 0;  // entries that are being written
        std::int64_t used_ns = 0;
    };
    struct Entry {
        tokens::Node from = 0;
        protocol::HandoverOffer offer;
        std::int64_t whole = 0;  // bytes of the offer
        enum class State { waits, accepted, writing } state = State::waits;
        std::vector<std::byte> bytes{};
        std::size_t got = 0;
        std::unique_ptr<StorageShare> storage{};
        std::unique_ptr<transfer::Channel> channel{};
    };

    bool take_offers();
    bool take_withdrawals();
    bool take_parts();
    bool take_openings();
    void begin_opening(const FileName& name);
    bool accept_offers();
    // True: the entry is over.
    bool advance(Entry& entry);
    [[nodiscard]] File& file_of(const Entry& entry);
    void begin_writing(Entry& entry, File& file);
    void report(const Entry& entry);
    void refuse(tokens::Node node, std::uint64_t number,
                protocol::HandoverReply::Kind kind = protocol::HandoverReply::Kind::refused);
    bool close_unused_files();
    void hold_connections();
    [[nodiscard]] Entry* find(tokens::Node node, std::uint64_t number);
    [[nodiscard]] std::int64_t held_bytes(const tokens::Node* of) const;

    HandoverTransport& post_;
    ports::BackgroundIo& io_;
    const ports::TimeSource& clock_;
    Opener open_;
    Limits limits_;
    // The files come behind the entries, since their storage uses the entries' memory until it is
    // destroyed.
    std::vector<Entry> entries_;  // in the order in which they were offered
    std::map<FileName, File> files_;
    std::map<std::uint64_t, FileName> openings_;  // by ticket
    std::uint64_t next_ticket_ = 1;
    std::set<tokens::Node> held_;
    bool closing_ = false;
    std::int64_t bytes_ = 0;
};

}  // namespace forebay::cluster
