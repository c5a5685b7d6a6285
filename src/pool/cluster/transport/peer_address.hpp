// The address at which a daemon listens for the other daemons of its job. Preferably only one: if
// it listens at all addresses, anybody who reaches any interface of the node can connect.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"

#include <string>

namespace forebay::cluster {

struct ListeningSocket {
    OwnFd socket;
    std::string address;  // "host:port", to be passed to the other daemons
    // Why it listens at all interfaces; empty: it listens at one.
    std::string everywhere = {};
};

// Listens at a port that the kernel chooses. `host` is this node's name, or an address of it. Of a
// name's addresses, the first one is taken that other nodes can reach. If the node knows its own
// name only with a loopback address, as Debian sets it up, the interface is taken by which the
// batch system reached it, or its only one.
[[nodiscard]] Result<ListeningSocket> listen_for_peers(const std::string& host);

}  // namespace forebay::cluster
