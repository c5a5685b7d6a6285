// For tests: runs small worlds in child processes, since SimGrid allows one simulation per process.
#pragma once

#include "worlds/simgrid/world.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <span>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace forebay::adapters {

inline WorldOptions hosts_of_ranks(std::int32_t hosts, std::int32_t ranks) {
    WorldOptions options;
    options.hosts = hosts;
    options.ranks_per_host = ranks;
    options.ranks_per_node = ranks;
    options.node_bytes = 4096;
    return options;
}

using Times = std::array<double, 2>;  // that one rank tells

// The times that the body returned on each rank.
inline std::vector<Times> run_alone(const MachinePlatform& platform, const WorldOptions& options,
                                    const std::function<Times(RankPorts&)>& body) {
    std::vector<Times> told(static_cast<std::size_t>(options.hosts * options.ranks_per_host));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span{told});
    std::array<int, 2> ends{};
    EXPECT_EQ(pipe(ends.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        static_cast<void>(run_world(platform, options, [&](RankPorts& ports) {
            told[ports.communicator.place().rank.position()] = body(ports);
        }));
        _exit(write(ends[1], bytes.data(), bytes.size()) > 0 ? 0 : 1);
    }
    close(ends[1]);
    EXPECT_EQ(read(ends[0], bytes.data(), bytes.size()), std::ssize(bytes)) << "the world ended";
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return told;
}

// Submits a request whose data does not exist.
inline void submit(ports::FileStorage& storage, IoDirection direction, const Extent& range) {
    // An address that is never dereferenced.
    const std::span<std::byte> bytes{reinterpret_cast<std::byte*>(4096), range.length.size()};
    const std::array pieces{ports::Piece{range.begin, bytes}};
    ports::Request request;
    request.direction = direction;
    request.pieces = pieces;
    storage.submit(request);
}

}  // namespace forebay::adapters
