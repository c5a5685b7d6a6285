// Counts opens, and keeps FileSlot::writers in agreement with them.
#include "pool/core/lifecycle/file_opens.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/core/lifecycle/file_life.hpp"
#include "pool/core/state/pool_state.hpp"

#include <atomic>

namespace forebay::pool {

namespace {

std::uint64_t writer_bit(std::uint32_t client) noexcept { return std::uint64_t{1} << client % 64; }

}  // namespace

void open_file(PoolState& pool_state, std::uint32_t client, PooledFile& file, AccessMode access) {
    file.opens.opened_ns = pool_state.now_ns();
    ClientOpens& opens = file.opens.by_client[client];
    ++opens.count;
    if (access != AccessMode::read && !opens.writes) {
        opens.writes = true;
        pool_state.clients.at(client).begin_writing();
        pool_state.files.slot_of(file).writers[client / 64].fetch_or(writer_bit(client),
                                                                     std::memory_order_seq_cst);
    }
    invariant(opens.count > 0, "the client has the file open");
    if (pool_state.excludes()) {
        opens.each.push_back(access);
        FileLife::note_opened(pool_state, file);
    }
}

void close_file(PoolState& pool_state, std::uint32_t client, PooledFile& file) {
    const auto opens = file.opens.by_client.find(client);
    if (opens == file.opens.by_client.end()) {
        return;
    }
    if (std::vector<AccessMode>& each = opens->second.each; !each.empty()) {
        each.erase(each.begin());
    }
    invariant(opens->second.count > 0, "the client has the file open");
    if (--opens->second.count > 0) {
        return;
    }
    if (opens->second.writes) {
        pool_state.clients.at(client).end_writing();
    }
    const Log& log = pool_state.clients.at(client).log();
    if (log.mapped() && log.header().forked.load(relaxed) != 0) {
        file.lifecycle.may_be_inherited = true;
    }
    file.opens.by_client.erase(opens);
    if (file.opens.by_client.empty() && file.prefetch.asked_by_peer_ns == never_ns) {
        pool_state.read_cache.drop_all(file);
    }
    pool_state.files.slot_of(file).writers[client / 64].fetch_and(~writer_bit(client),
                                                                  std::memory_order_release);
    pool_state.files.mark_busy(file);
}

void close_all_files(PoolState& pool_state, std::uint32_t client) {
    for (PooledFile& file : pool_state.files.known()) {
        const auto opens = file.opens.by_client.find(client);
        if (opens != file.opens.by_client.end()) {
            opens->second.count = 1;
            close_file(pool_state, client, file);
        }
    }
}

}  // namespace forebay::pool
