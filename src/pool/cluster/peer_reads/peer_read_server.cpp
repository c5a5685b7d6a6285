// Answers requests for bytes as soon as the pool has them.
#include "pool/cluster/peer_reads/peer_read_server.hpp"

#include "foundation/base/contracts.hpp"

#include <algorithm>

namespace forebay::cluster {

bool PeerReadServer::run_once() {
    std::vector<PeerTransport::Request> requests = post_.requests();
    bool any = !requests.empty();
    for (const PeerTransport::Request& request : requests) {
        const auto of_this_node = std::ranges::count_if(
            waiting_, [&](const Waiting& one) { return one.request.from == request.from; });
        if (of_this_node < static_cast<std::ptrdiff_t>(waiting_max)) {
            waiting_.push_back({request});
        } else {
            post_.refuse(request.from, request.wanted.number);
        }
    }
    return std::erase_if(waiting_, [this](Waiting& one) { return pass_on(one); }) > 0 || any;
}

// Looks for the bytes in the pool. Files of different file systems may have the same inode number,
// and hence the same token; length and times tell them apart.
pool::SharedBytes PeerReadServer::look(Waiting& one) {
    using enum pool::SharedBytes::State;
    const protocol::PeerReadRequest& wanted = one.request.wanted;
    const pool::ChangeStamp seen{.bytes = wanted.file_bytes,
                                 .modified_ns = wanted.modified_ns,
                                 .changed_ns = wanted.changed_ns};
    const Extent range{Offset{wanted.at}, Length{wanted.bytes}};
    const auto [slots, later] = coherence_.passed_on(wanted.file, wanted.grant);
    for (const std::uint32_t slot : slots) {
        const pool::SharedBytes shared = pool_.share(slot, seen, range, !one.begun);
        if (shared.state != none) {
            one.begun = true;
            return shared;
        }
    }
    return {.state = later ? coming : none};
}

bool PeerReadServer::pass_on(Waiting& one) {
    const auto& [from, wanted] = one.request;
    if (!post_.reachable(from)) {
        return true;
    }
    if (!post_.takes_more(from)) {
        return false;
    }
    const pool::SharedBytes shared = look(one);
    switch (shared.state) {
        case pool::SharedBytes::State::coming: return false;
        case pool::SharedBytes::State::there:
            invariant(shared.bytes.size() <= wanted.bytes, "no more is shared than was asked for");
            bytes_ += std::ssize(shared.bytes);
            post_.pass(from, wanted.number, {shared.bytes.begin(), shared.bytes.end()});
            return true;
        case pool::SharedBytes::State::none: break;
    }
    post_.refuse(from, wanted.number);
    return true;
}

}  // namespace forebay::cluster
