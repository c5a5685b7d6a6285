// A FileStorage for draining that hands writes over to the node that writes for this one (setting
// pool_writers). What that node does not take is written by `own`. A request is complete when its
// bytes are in the file, whoever has written them.
#pragma once

#include "foundation/ports/forwarding_storage.hpp"
#include "pool/cluster/handover/handover_client.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace forebay::cluster {

class HandoverStorage final : public ports::ForwardingStorage {
public:
    // `client` outlives this object.
    HandoverStorage(std::unique_ptr<ports::FileStorage> own, HandoverClient& client,
                    FileForOthers file)
        : ForwardingStorage{std::move(own)}, client_{client}, file_{std::move(file)} {}
    ~HandoverStorage() override;

    void submit(const ports::Request& request) override;
    std::size_t poll(std::span<ports::RequestCompletion> out) override;
    // Returns 0 where all that is in flight was handed over: answers of the other node come by the
    // daemon's loop only. The pool does not call it for a file that it drains.
    std::size_t wait(std::span<ports::RequestCompletion> out) override;

private:
    void write_here(const ports::Request& request);
    void offer_what_waits();

    HandoverClient& client_;
    FileForOthers file_;
    bool is_written_here_ = false;  // the other node cannot open it
    std::size_t own_in_flight_ = 0;
    std::deque<ports::Request> waiting_;               // for a place among the offers
    std::map<std::uint64_t, ports::Request> offered_;  // by their numbers in `client_`
};

}  // namespace forebay::cluster
