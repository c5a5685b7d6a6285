// The address at which a daemon waits for the others of its job. If it waits at all addresses,
// anybody who reaches any interface of the node can connect.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>

namespace forebay::cluster {

struct ListeningSocket {
    OwnFd socket;
    std::string address;  // "host:port", as it is told to the others
    // Why it waits at all interfaces; empty: it waits at one.
    std::string everywhere = {};
};

// At a port that the kernel chooses. `host`: this node's name, or an address of it. It takes the
// first of a name's addresses that other nodes can reach; where this node knows its name by a
// loopback address only (as Debian sets it up), the interface by which the batch system reached it,
// or its only one.
[[nodiscard]] Result<ListeningSocket> listen_for_peers(const std::string& host);

}  // namespace forebay::cluster
