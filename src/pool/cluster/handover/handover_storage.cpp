// Chooses for each write whether it is handed over.
#include "pool/cluster/handover/handover_storage.hpp"

#include "foundation/base/contracts.hpp"

namespace forebay::cluster {

namespace {

bool fits_an_offer(const ports::Request& request) {
    std::size_t bytes = 0;
    for (const ports::Piece& piece : request.pieces) {
        bytes += piece.bytes.size();
        if (piece.bytes.empty()) {
            return false;
        }
    }
    return request.direction == IoDirection::write && !request.at_once && bytes > 0 &&
           bytes <= protocol::offer_bytes_max &&
           request.pieces.size() <= protocol::offer_ranges_max;
}

}  // namespace

HandoverStorage::~HandoverStorage() {
    for (const auto& [number, request] : offered_) {
        client_.forget(number);
    }
}

void HandoverStorage::submit(const ports::Request& request) {
    if (is_written_here_ || !client_.is_open() || !fits_an_offer(request)) {
        write_here(request);
        return;
    }
    waiting_.push_back(request);
    offer_what_waits();
}

void HandoverStorage::write_here(const ports::Request& request) {
    ++own_in_flight_;
    own().submit(request);
}

void HandoverStorage::offer_what_waits() {
    while (!waiting_.empty()) {
        const bool here = is_written_here_ || !client_.is_open();
        if (!here && !client_.has_place()) {
            return;
        }
        const ports::Request request = waiting_.front();
        waiting_.pop_front();
        if (here) {
            write_here(request);
        } else {
            offered_.emplace(client_.offer(file_, request.pieces), request);
        }
    }
}

std::size_t HandoverStorage::poll(std::span<ports::RequestCompletion> out) {
    std::size_t done = own_in_flight_ > 0 ? own().poll(out) : 0;
    invariant(done <= own_in_flight_, "only what is in flight completes");
    own_in_flight_ -= done;
    for (auto at = offered_.begin(); at != offered_.end() && done < out.size();) {
        const auto outcome = client_.take(at->first);
        if (!outcome) {
            ++at;
            continue;
        }
        const ports::Request request = at->second;
        at = offered_.erase(at);
        using enum HandoverClient::Outcome::Kind;
        is_written_here_ = is_written_here_ || outcome->kind == wrong_file;
        if (outcome->kind == written) {
            out[done++] = {
                .ticket = request.ticket, .bytes = outcome->bytes, .system = outcome->error};
        } else {
            write_here(request);
        }
    }
    offer_what_waits();
    return done;
}

std::size_t HandoverStorage::wait(std::span<ports::RequestCompletion> out) {
    const std::size_t done = poll(out);
    if (done > 0 || own_in_flight_ == 0) {
        return done;
    }
    const std::size_t waited = own().wait(out);
    own_in_flight_ -= waited;
    return waited;
}

}  // namespace forebay::cluster
