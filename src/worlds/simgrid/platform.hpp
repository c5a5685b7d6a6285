// A machine as a simulation sees it, read from a TOML file in platforms/. Every number there says
// where it comes from: a file without a source for each of its numbers is refused.
#pragma once

#include "foundation/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace forebay::adapters {

// Rates in bytes per second, times in seconds.
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
    // How fast one rank gives and takes in where every rank has messages with every other at once,
    // as in the incumbents: long queues to match, a message and a datatype for a region or two.
    double rank_send_rate = 0;
    double rank_receive_rate = 0;
};

// A node's client of the file system, for calls that go through it (Lustre's llite and OSC).
// Numbers for a target hold for each target by itself; the ranks of a node share the client.
struct ClientPlatform {
    std::int64_t rpc_bytes = 1 << 20;     // largest request, of one object
    std::int64_t rpcs_in_flight = 8;      // at a target
    std::int64_t dirty_bytes = 32 << 20;  // for a target: taken from programs, not there yet
    std::int64_t read_ahead = 64 << 20;   // of all readers of the node together
    double call_time = 0;  // one core, per call and for each stripe that it goes on to
};

struct ServerPlatform {
    std::int64_t count = 1;   // object storage servers
    double link_rate = 0;     // of each, each direction
    std::int64_t memory = 0;  // of each: bytes that were read stay there
};

// The time that a storage target takes for a request:
//   time = request_time + lock_time (if the stripe changed hands)
//        + bytes / rate · (1 + per_stream · (streams − streams_free)⁺
//                            + per_queued · (queued − queued_free)⁺)
// streams: distinct clients with requests there; queued: requests there; both with this one.
struct TargetPlatform {
    std::int64_t count = 1;
    double rate = 0;
    double request_time = 0;
    double interference_per_stream = 0;
    std::int64_t streams_free = 1;
    double interference_per_queued = 0;
    std::int64_t queued_free = 1;
    double lock_time = 0;
    double jitter = 0;      // a request's time varies by ± this share, evenly
    double grant_time = 0;  // a client waits so long for a lock of an object that nobody else has
};

// Opening and closing: `threads` at a time, each taking `open_time` that grows by `crowding` for
// each further request that waits. Making a file takes `object_time` longer for each of its
// stripes.
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
    // Numbers that were assumed, not found anywhere: "node.piece_time", …
    std::vector<std::string> assumed;
};

// Bounds of a number. The message of an error (ErrorCode::argument) is the reason alone: "it must
// be a whole number from 1 to 65536".
struct NumberBounds {
    double minimum = 0;
    double maximum = 0;
    bool whole = false;

    [[nodiscard]] Result<void> check(double value) const;
};

// Sets one number by its name in the file, "node.count". Contract: there is such a key.
[[nodiscard]] Result<void> set_number(MachinePlatform& platform, std::string_view key,
                                      double value);
// "" for a plain number, else the unit in which parse_quantity takes it. Contract as above.
[[nodiscard]] std::string unit_of(std::string_view key);

// Errors (ErrorCode::argument) name the file, the key and what to write there.
[[nodiscard]] Result<MachinePlatform> parse_platform(const std::string& text,
                                                     const std::string& path);
[[nodiscard]] Result<MachinePlatform> read_platform(const std::string& path);

// "9.8 GB/s" with unit "B/s" is 9.8e9; "0.5 ms" with "s" is 5e-4; "1 MiB" with "B" is 1048576.
[[nodiscard]] Result<double> parse_quantity(const std::string& text, const std::string& unit);

}  // namespace forebay::adapters
