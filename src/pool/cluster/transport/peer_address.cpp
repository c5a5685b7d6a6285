// Chooses an address of this node that the other nodes can reach, and listens there.
#include "pool/cluster/transport/peer_address.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <vector>

namespace forebay::cluster {

namespace {

constexpr int peers_queue_max = 4096;

struct SocketAddress {
    sockaddr_storage name{};
    socklen_t bytes = 0;

    [[nodiscard]] const sockaddr* at() const noexcept {
        return reinterpret_cast<const sockaddr*>(&name);
    }
    [[nodiscard]] int family() const noexcept { return name.ss_family; }
};

SocketAddress address_of(const sockaddr* at, socklen_t bytes) {
    SocketAddress address;
    address.bytes = std::min(bytes, socklen_t{sizeof address.name});
    std::memcpy(&address.name, at, address.bytes);
    return address;
}

bool is_loopback(const SocketAddress& address) noexcept {
    if (address.family() == AF_INET6) {
        const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address.name).sin6_addr;
        return IN6_IS_ADDR_LOOPBACK(&in6);
    }
    const auto& in4 = reinterpret_cast<const sockaddr_in&>(address.name).sin_addr;
    return ntohl(in4.s_addr) >> 24U == IN_LOOPBACKNET;
}

// A link-local address cannot be reached without the name of an interface.
bool is_of_a_link_only(const SocketAddress& address) noexcept {
    if (address.family() != AF_INET6) {
        return false;
    }
    const auto& in6 = reinterpret_cast<const sockaddr_in6&>(address.name).sin6_addr;
    return IN6_IS_ADDR_LINKLOCAL(&in6);
}

std::string text_of(const SocketAddress& address) {
    std::array<char, NI_MAXHOST> host{};
    const int error = ::getnameinfo(address.at(), address.bytes, host.data(), host.size(), nullptr,
                                    0, NI_NUMERICHOST);
    return error == 0 ? host.data() : "";
}

std::vector<SocketAddress> addresses_of(const std::string& host, int flags) {
    addrinfo wanted{};
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = flags;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) {
        return {};
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list{found, &::freeaddrinfo};
    std::vector<SocketAddress> addresses;
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
        if (one->ai_family == AF_INET || one->ai_family == AF_INET6) {
            addresses.push_back(address_of(one->ai_addr, one->ai_addrlen));
        }
    }
    return addresses;
}

// The address of this node from which `other` is reached. connect() of a UDP socket sends nothing.
std::optional<SocketAddress> address_towards(const SocketAddress& other) {
    const OwnFd socket{::socket(other.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    SocketAddress own;
    own.bytes = sizeof own.name;
    if (!socket.valid() || ::connect(socket.get(), other.at(), other.bytes) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own.name), &own.bytes) != 0) {
        return std::nullopt;
    }
    return own;
}

std::vector<SocketAddress> addresses_of_interfaces(int family) {
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) {
        return {};
    }
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list{found, &::freeifaddrs};
    std::vector<SocketAddress> addresses;
    for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
        constexpr unsigned wanted = IFF_UP;
        if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family ||
            (one->ifa_flags & wanted) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) {
            continue;
        }
        const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        const SocketAddress address = address_of(one->ifa_addr, bytes);
        if (!is_of_a_link_only(address)) {
            addresses.push_back(address);
        }
    }
    return addresses;
}

// Not valid: this node does not have the address.
OwnFd listen_at(const SocketAddress& address) {
    expects(address.bytes <= sizeof address.name, "an address lies within its memory");
    OwnFd socket{::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const int off = 0;
    if (socket.valid() && address.family() == AF_INET6) {
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (!socket.valid() || ::bind(socket.get(), address.at(), address.bytes) != 0 ||
        ::listen(socket.get(), peers_queue_max) != 0) {
        return {};
    }
    return socket;
}

int port_of(int socket) {
    sockaddr_storage name{};
    socklen_t bytes = sizeof name;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&name), &bytes) != 0) {
        return 0;
    }
    return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                                            : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

std::optional<ListeningSocket> listening_at(const SocketAddress& address) {
    OwnFd socket = listen_at(address);
    if (!socket.valid()) {
        return std::nullopt;
    }
    std::string told = fmt::format("{}:{}", text_of(address), port_of(socket.get()));
    return ListeningSocket{std::move(socket), std::move(told)};
}

// Uses the interface that leads to the node from which Slurm started this job step.
std::optional<ListeningSocket> listen_towards_the_starter() {
    const char* const starter = std::getenv("SLURM_LAUNCH_NODE_IPADDR");
    if (starter == nullptr) {
        return std::nullopt;
    }
    for (const SocketAddress& one : addresses_of(starter, AI_NUMERICHOST)) {
        const auto own = address_towards(one);
        if (own && !is_loopback(*own)) {
            return listening_at(*own);
        }
    }
    return std::nullopt;
}

std::optional<ListeningSocket> listen_at_the_only_interface() {
    for (const int family : {AF_INET, AF_INET6}) {
        const std::vector<SocketAddress> own = addresses_of_interfaces(family);
        if (own.size() == 1) {
            return listening_at(own.front());
        }
        if (own.size() > 1) {
            return std::nullopt;
        }
    }
    return std::nullopt;
}

Result<ListeningSocket> listen_everywhere(const std::string& host) {
    SocketAddress any;
    any.name.ss_family = AF_INET6;
    any.bytes = sizeof(sockaddr_in6);
    OwnFd socket = listen_at(any);
    if (!socket.valid()) {
        any.name.ss_family = AF_INET;
        any.bytes = sizeof(sockaddr_in);
        socket = listen_at(any);
    }
    if (!socket.valid()) {
        return failure(system_error(errno, "listen for the other daemons of the job"));
    }
    std::string told = fmt::format("{}:{}", host, port_of(socket.get()));
    return ListeningSocket{std::move(socket), std::move(told),
                           "this node knows no address of " + host + " that others reach"};
}

}  // namespace

Result<ListeningSocket> listen_for_peers(const std::string& host) {
    // `host` is a numeric address: that one is used, whatever it is.
    for (const SocketAddress& one : addresses_of(host, AI_NUMERICHOST)) {
        if (auto made = listening_at(one)) {
            return std::move(*made);
        }
    }
    const std::vector<SocketAddress> named = addresses_of(host, 0);
    for (const SocketAddress& one : named) {
        if (is_loopback(one) || is_of_a_link_only(one)) {
            continue;
        }
        if (auto made = listening_at(one)) {
            return std::move(*made);
        }
    }
    if (auto made = listen_towards_the_starter()) {
        return std::move(*made);
    }
    if (auto made = listen_at_the_only_interface()) {
        return std::move(*made);
    }
    const bool no_network =
        addresses_of_interfaces(AF_INET).empty() && addresses_of_interfaces(AF_INET6).empty();
    if (no_network && !named.empty()) {
        if (auto made = listening_at(named.front())) {
            return std::move(*made);
        }
    }
    return listen_everywhere(host);
}

}  // namespace forebay::cluster
