// Rank 0 gathers the facts from which the engine is made, and broadcasts them once.
#include "collective/mpi/file_engine.hpp"

#include "collective/mpi/creation.hpp"
#include "collective/mpi/file_storage.hpp"
#include "collective/mpi/limit_cache.hpp"
#include "collective/mpi/process.hpp"
#include "pool/mpi_bridge/storage.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace forebay::interposer {

struct FileEngine::RootFacts {
    std::int32_t targets = 1;
    std::int32_t has_identity = 0;
    std::int32_t aggregators_per_node = 1;
    std::int32_t spare = 0;
    std::int64_t stripe_bytes = 0;
    ports::FileIdentity identity;
    engine::FoundLimits limits;  // the k that earlier runs found
    UserSettings::Numbers settings{};
};

FileEngine::FileEngine(FileContext& file, UserSettings settings)
    : file_{file}, settings_{std::move(settings)} {}

FileEngine::RootFacts FileEngine::find_facts() {
    FileFacts& file = file_.facts;
    RootFacts facts;
    const FileStripes layout = found_or_told(file.path, settings_, file.warnings);
    facts.targets = layout.targets;
    facts.stripe_bytes = layout.stripe_bytes;
    facts.has_identity = file.identity ? 1 : 0;
    facts.identity = file.identity.value_or(ports::FileIdentity{});
    facts.aggregators_per_node = aggregators_per_node();
    if (remembers_limits(settings_)) {
        facts.limits = recall_limits(settings_, file.path, layout);
    }
    facts.settings = settings_.numbers();
    return facts;
}

engine::FileOptions FileEngine::options_by(const RootFacts& facts) {
    engine::FileOptions options;
    options.path = file_.facts.path;
    options.layout = layout_;
    options.tuning = settings_.tuning();
    if (file_.facts.group != 0) {
        options.tuning.write =
            // No bypass: each stripe belongs to one node, whichever rank writes it.
            plan::SwitchMode::enable;
    }
    if (file_.facts.pooled) {
        borrow(options);
    }
    options.aggregators_per_node_max = facts.aggregators_per_node;
    options.known = facts.limits;
    options.only_read = (file_.facts.amode & MPI_MODE_RDONLY) != 0;
    options.identity = identity_;
    return options;
}

// Lets ranks put windows together in memory of the pool, if it lends any.
void FileEngine::borrow(engine::FileOptions& options) {
    if (!settings_.flag(Setting::pool_lends_windows)) {
        return;
    }
    options.tuning.lent_bytes_max = adapters::lent_bytes_max;
    if (file_.facts.pool != nullptr && !file_.cached_communicator->borrower) {
        file_.cached_communicator->borrower = adapters::borrower_of(*file_.facts.pool);
    }
    options.borrower = file_.cached_communicator->borrower.get();
}

engine::CollectiveFile& FileEngine::get() {
    if (engine_) {
        return *engine_;
    }
    RootFacts facts = file_.facts.rank == 0 ? find_facts() : RootFacts{};
    file_.group().broadcast(std::as_writable_bytes(std::span{&facts, 1}));
    settings_.take_numbers(facts.settings);
    layout_ = {facts.targets, facts.stripe_bytes};
    if (facts.has_identity != 0) {
        identity_ = facts.identity;
    }
    const auto opener = [this](IoDirection direction) {
        return open_file_storage(file_.facts, settings_, direction);
    };
    engine_ = std::make_unique<engine::CollectiveFile>(file_.group(), file_.clock, file_.counters,
                                                       opener, options_by(facts));
    return *engine_;
}

void FileEngine::take_hints(MPI_Info info) {
    if (!engine_) {
        read_hints(info, settings_);
    }
}

void FileEngine::forget() noexcept {
    if (engine_) {
        engine_->agree_first_next();
    }
}

void FileEngine::remember_limits() const {
    if (engine_ && file_.facts.rank == 0 && remembers_limits(settings_)) {
        interposer::remember_limits(
            settings_, file_.facts.path, layout_,
            {engine_->found(IoDirection::write), engine_->found(IoDirection::read)});
    }
}

std::string FileEngine::aggregators() const {
    return engine_ ? engine_->aggregators() : std::string();
}

}  // namespace forebay::interposer
