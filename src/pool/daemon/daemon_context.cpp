// Builds the parts of the daemon in the order in which they depend on each other, and runs one
// round of them.
#include "pool/daemon/daemon_context.hpp"

#include "foundation/base/atomics.hpp"
#include "foundation/base/contracts.hpp"
#include "pool/daemon/handover/open_for_others.hpp"
#include "pool/daemon/memory/budget.hpp"
#include "pool/policy/writer_nodes.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace forebay::daemon {

namespace {

pool::PoolOptions shared_if(pool::PoolOptions options, bool shared) {
    options.shared = shared;
    return options;
}

}  // namespace

Result<std::unique_ptr<DaemonContext>> DaemonContext::make(const DaemonOptions& options,
                                                           const DaemonClocks& clocks,
                                                           cluster::PeerTransport* post) {
    Result<SharedSegment> segment =
        SharedSegment::make("forebay-directory", sizeof(pool::Directory), SegmentWriters::daemon);
    if (!segment) {
        return failure(std::move(segment.error()));
    }
    Result<KeptJournal> journal = open_journal(options.journal, clocks.calendar);
    if (!journal) {
        return failure(std::move(journal.error()));
    }
    Result<SharedCleanMemory> clean = SharedCleanMemory::make(pool::clean_blocks(options.pool));
    if (!clean) {
        return failure(std::move(clean.error()));
    }
    // The robust mutex is locked last. If something failed afterwards and the memory were unmapped,
    // the mutex would stay in the list of robust mutexes that the kernel keeps for this thread.
    auto& directory = *reinterpret_cast<pool::Directory*>(segment->base());
    if (auto alive = begin_life(directory.header); !alive) {
        return failure(std::move(alive.error()));
    }
    return std::make_unique<DaemonContext>(std::move(*segment), std::move(*clean),
                                           std::move(*journal), options, clocks, post);
}

DaemonContext::DaemonContext(SharedSegment directory_segment, SharedCleanMemory clean_memory,
                             KeptJournal kept, const DaemonOptions& daemon_options,
                             const DaemonClocks& daemon_clocks, cluster::PeerTransport* post)
    : options{daemon_options},
      clocks{daemon_clocks},
      segment{std::move(directory_segment)},
      directory{*reinterpret_cast<pool::Directory*>(segment.base())},
      clean{std::move(clean_memory)},
      statistics{directory},
      samples{options.samples_max},
      started_ns{clocks.steady.now_ns()},
      journal{std::move(kept)},
      pool{directory,
           {.memory = memory,
            .sleepers = sleepers,
            .clock = clocks.steady,
            .calendar = clocks.calendar,
            .background_io = &background_io,
            .clean = &clean,
            .effort = clocks.effort,
            .journal = journal.writer.get(),
            .file_ticks = clocks.file_ticks,
            .inodes = options.inodes},
           shared_if(options.pool, post != nullptr)},
      tickets{pool, coherence, openings} {
    for (const std::string& note : options.notes) {
        notes.add(note);
    }
    for (std::string& note : journal.notes) {
        notes.add(std::move(note));
    }
    if (post != nullptr) {
        coherence.emplace(
            cluster::CoherenceClient::Job{*post, options.node, options.nodes, options.readers},
            pool);
        peer_read_client.emplace(
            *post, [this](tokens::FileKey file) { return coherence->parent_of(file); });
        peer_read_server.emplace(*post, *coherence, pool);
        if (cluster::HandoverTransport* const handover = post->handover()) {
            join_handovers(*handover);
        }
        directory.header.readers.store(options.readers, relaxed);
    }
    ensures(coherence.has_value() == (post != nullptr) &&
                peer_read_client.has_value() == coherence.has_value() &&
                peer_read_server.has_value() == coherence.has_value(),
            "what passes between daemons is there as a whole, or not at all");
    directory.header.format.store(pool::format, relaxed);
    directory.header.nodes.store(options.nodes, relaxed);
    directory.header.process.store(static_cast<std::uint64_t>(::getpid()), relaxed);
}

void DaemonContext::join_handovers(cluster::HandoverTransport& post) {
    handover_transport_ = &post;
    const pool::WriterPlace place{options.node, options.nodes, options.writers};
    if (const auto writer = pool::writer_for(place)) {
        handover_client.emplace(post, *writer, clocks.steady);
    }
    handover_server.emplace(
        cluster::HandoverServer::Ports{post, openings_for_others, clocks.steady}, open_for_others,
        cluster::HandoverServer::Limits{
            .bytes_max =
                std::min(options.pool.cap_bytes / 8, cluster::HandoverServer::Limits{}.bytes_max),
            .request_bytes_max = options.pool.request_bytes_max,
            .requests_in_flight = options.pool.requests_in_flight});
}

OpenWish::HandsOver DaemonContext::hands_over() const noexcept {
    using enum OpenWish::HandsOver;
    if (!handover_client || journal.writer != nullptr) {
        return no;  // a replay could overtake what another node still writes for this one
    }
    return options.hands_over_anywhere ? anywhere : where_safe;
}

bool DaemonContext::run_handovers() {
    if (handover_transport_ == nullptr) {
        return false;
    }
    const bool did = handover_server->run_once();
    if (handover_client) {
        return handover_client->run_once() || did;
    }
    // This node offers nothing, so that a reply is none of a daemon that agrees on who writes.
    return !handover_transport_->replies().empty() || did;
}

void DaemonContext::refuse_handovers() {
    if (handover_server) {
        handover_server->close_down();
    }
}

// The other daemons open files again when this one says that it has drained everything, which
// includes what it writes for other nodes: also for the one that is gone.
void DaemonContext::drain_for_lost_node() {
    if (must_drain_ && !writes_for_others()) {
        must_drain_ = false;
        coherence->draining_all(pool.drain_all());
    }
}

DaemonContext::~DaemonContext() { end_life(directory.header, ending); }

bool DaemonContext::run_once() {
    bool did = peer_read_client && peer_read_client->run_once();
    did = run_handovers() || did;
    if (coherence) {
        coherence->receive();  // first, because other daemons may wait for this one's answer
    }
    did = pool.run_once() || did;
    if (coherence) {
        did = coherence->forget() || did;  // before the next open, which may get such a slot
        if (coherence->closes_down()) {
            pool.close_down(pool::ThroughReason::node_lost);
            refuse_handovers();
            must_drain_ = true;
        }
        drain_for_lost_node();
        did = peer_read_server->run_once() || did;
    }
    sample_counts_if_due();
    return did;
}

void DaemonContext::sample_counts_if_due() {
    if (samples.are_taken() && samples.is_due(clocks.steady.now_ns())) {
        sample_counts();
    }
}

void DaemonContext::sample_counts() {
    const std::int64_t begin_ns = clocks.steady.now_ns();
    statistics.update();
    const SampledCounts counts = statistics.counts();
    const std::int64_t now_ns = clocks.steady.now_ns();
    samples.add(counts, now_ns, now_ns - begin_ns);
}

bool DaemonContext::idle() const {
    return pool.idle() && tickets.openings_under_way() == 0 && (!coherence || coherence->idle()) &&
           (!peer_read_server || peer_read_server->idle()) &&
           (!handover_server || handover_server->idle()) && !must_drain_;
}

bool DaemonContext::all_files_have_left() {
    statistics.update();
    return std::ranges::all_of(statistics.slots(), [this](std::uint32_t slot) {
        const pool::FileSlot& file = directory.files[slot];
        const pool::FileState state = file.state.load(relaxed);
        return state == pool::FileState::through || state == pool::FileState::free ||
               file.error.load(relaxed) != 0;
    });
}

bool DaemonContext::give_descriptors_back() {
    return pool.give_descriptors_back(DescriptorBudget::given_back_max) > 0;
}

std::string DaemonContext::why_durability_ended() const {
    const int error = pool.journal_error();
    return error == 0 ? std::string{}
                      : system_error(error, "write the journal " + options.journal.folder).message;
}

std::string DaemonContext::status(bool ended, const std::vector<RescuedFile>& rescued) {
    statistics.update();
    if (ended && !samples.all().empty()) {
        sample_counts();  // the last one has what the status says
    }
    const StatusMoment moment{.now_ns = clocks.steady.now_ns(),
                              .started_ns = started_ns,
                              .ended = ended,
                              .memory = options.memory,
                              .notes = notes.all(),
                              .durability_ended = why_durability_ended(),
                              .from_nodes = peer_read_client ? peer_read_client->bytes() : 0,
                              .to_nodes = peer_read_server ? peer_read_server->bytes() : 0,
                              .handed_over = handover_client ? handover_client->bytes() : 0,
                              .for_others = handover_server ? handover_server->bytes() : 0,
                              .clients_high = clients_high,
                              .samples = ended ? samples.all() : std::vector<CountSample>{}};
    return status_document(directory, memory, statistics, moment, rescued);
}

std::vector<std::string> DaemonContext::new_notes() {
    for (const pool::GivenUpWrite& one : pool.given_up()) {
        notes.add("process " + std::to_string(one.process) + " was in the middle of a write of " +
                  std::to_string(one.bytes) + " bytes at " + std::to_string(one.offset) + " of " +
                  one.path +
                  ", and did not go on (is it suspended?). It writes them to the file itself when "
                  "it goes on.");
    }
    if (const std::string why = why_durability_ended(); !why.empty()) {
        notes.add_once(NoteOnce::journal_failed,
                       why + " Until the daemon is started again, everything is written through.");
    }
    note_stuck_handovers();
    return notes.take_new();
}

// Once each time that the writer becomes silent.
void DaemonContext::note_stuck_handovers() {
    const auto stuck = handover_client ? handover_client->stuck() : std::nullopt;
    if (stuck && !std::exchange(told_of_stuck_, true)) {
        notes.add("the daemon at " + stuck->node +
                  ", which writes for this node, is silent. It was handed " +
                  std::to_string(stuck->bytes) + " bytes, of " + stuck->path +
                  " among others, and may still write them. They stay in memory here until it "
                  "answers or ends.");
    }
    told_of_stuck_ = stuck.has_value();
}

int DaemonContext::journal_bell() const noexcept {
    return journal.folder ? journal.folder->bell() : -1;
}

}  // namespace forebay::daemon
