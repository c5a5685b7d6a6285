// A machine as the simulator sees it, read from a TOML file in platforms/. Each number there names
// its source; a file with a number without a source is refused.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::adapters {

// A compute node. Rates in bytes per second, times in seconds.
struct NodePlatform {
    std::int64_t count = 1;
    std::int64_t ranks = 1;   // per node
    double link_rate = 0;     // of the network interface, each direction
    double link_latency = 0;  // between any two nodes
    double memory_rate = 0;   // all cores of a node together, bytes copied
    double copy_rate = 0;     // one core, long pieces
    double piece_time = 0;    // one core, per contiguous piece
    double client_rate = 0;   // one rank's writes, until they are in the file system's client
    double message_time = 0;  // one core, per message sent or received
    // Rates of one rank that exchanges messages with every other rank at once, as in ROMIO and
    // OMPIO: long matching queues, and a message and a datatype for one or two regions.
    double rank_send_rate = 0;
    double rank_receive_rate = 0;
};

// A node's client of the file system (Lustre's llite and OSC), for calls that go through its cache.
// Bounds hold for each target separately; the ranks of a node share the client.
struct ClientPlatform {
    std::int64_t rpc_bytes = 1 << 20;  // largest RPC, within one object
    std::int64_t rpcs_in_flight = 8;   // per target
    // Per target: dirty bytes, written by programs and not at the target yet.
    std::int64_t dirty_bytes = 32 << 20;
    std::int64_t read_ahead = 64 << 20;  // for all readers of the node together
    double call_time = 0;                // seconds on one core, per call and per further stripe
};

struct ServerPlatform {
    std::int64_t count = 1;   // number of object storage servers (OSS)
    double link_rate = 0;     // of each server, in each direction
    std::int64_t memory = 0;  // of each server: bytes of its read cache
};

// The time that a storage target takes for a request:
//   time = request_time + lock_time (if the stripe changed hands)
//        + bytes / rate · (1 + per_stream · (streams − streams_free)⁺
//                            + per_queued · (queued − queued_free)⁺)
// `streams` is the number of distinct clients with requests there, `queued` that of requests, both
// including this one.
struct TargetPlatform {
    std::int64_t count = 1;
    double rate = 0;
    double request_time = 0;
    double interference_per_stream = 0;
    std::int64_t streams_free = 1;
    double interference_per_queued = 0;
    std::int64_t queued_free = 1;
    double lock_time = 0;
    double jitter = 0;      // a request's time is multiplied by a factor uniform in 1 ± jitter
    double grant_time = 0;  // time to grant the lock of an object that no other client holds
};

// The metadata server opens and closes `threads` files at a time. Each takes its time multiplied by
// 1 + `crowding` · n, if n other requests are at the server. Creating a file takes `object_time`
// longer for each of its stripes.
struct MetadataPlatform {
    std::int64_t threads = 1;
    double open_time = 0;
    double close_time = 0;
    double crowding = 0;
    double object_time = 0;
};

struct MachinePlatform {
    std::string name;
    std::string about;
    NodePlatform node;
    ClientPlatform client;
    ServerPlatform server;
    TargetPlatform target;
    MetadataPlatform metadata;
    std::int64_t stripe_bytes = 1 << 20;
    // Keys whose values are assumed rather than measured or published: "node.piece_time", ….
    std::vector<std::string> assumed;
};

// Bounds of a number. The message of an error (ErrorCode::argument) consists of the reason only:
// "it must be a whole number from 1 to 65536".
struct NumberBounds {
    double minimum = 0;
    double maximum = 0;
    bool whole = false;

    [[nodiscard]] Result<void> check(double value) const;
};

// Sets one number by its key, "node.count". Contract: there is such a key.
[[nodiscard]] Result<void> set_number(MachinePlatform& platform, std::string_view key,
                                      double value);
// The unit in which parse_quantity() reads the key's value; "" for a plain number. Contract as
// above.
[[nodiscard]] std::string unit_of(std::string_view key);

// Errors (ErrorCode::argument) name the file, the key and a valid value.
[[nodiscard]] Result<MachinePlatform> parse_platform(const std::string& text,
                                                     const std::string& path);
[[nodiscard]] Result<MachinePlatform> read_platform(const std::string& path);

// Parses a number with a unit: "9.8 GB/s" with unit "B/s" is 9.8e9; "0.5 ms" with "s" is 5e-4; "1
// MiB" with "B" is 1048576.
[[nodiscard]] Result<double> parse_quantity(const std::string& text, const std::string& unit);

}  // namespace forebay::adapters
