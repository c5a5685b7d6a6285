// Rank 0 decides whether and how Forebay handles a file, and broadcasts that to the other ranks.
#include "collective/mpi/opening.hpp"

#include "collective/mpi/creation.hpp"
#include "collective/mpi/process.hpp"
#include "collective/mpi/status.hpp"
#include "foundation/kernel/random.hpp"
#include "pool/mpi_bridge/storage.hpp"
#include "settings/path.hpp"

#include <cstring>

namespace forebay::interposer {

namespace {

void take_hint(MPI_Info info, const std::string& key, Setting setting, UserSettings& settings) {
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int there = 0;
    PMPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, value.data(), &there);
    if (there == 0) {
        return;
    }
    if (is_locked(setting)) {
        if (settings.flag(Setting::verbose)) {
            say("hint " + key + " is ignored: the site has locked this setting");
        }
        return;
    }
    const auto done = settings.set(setting, value.data());
    if (!done && settings.flag(Setting::verbose)) {
        say("hint " + key + " is ignored: " + done.error().message);
    }
}

// The hint `collective_buffering`, which MPI defines, switches both directions at once.
void take_collective_buffering(MPI_Info info, UserSettings& settings) {
    std::array<char, MPI_MAX_INFO_VAL + 1> value{};
    int there = 0;
    PMPI_Info_get(info, "collective_buffering", MPI_MAX_INFO_VAL, value.data(), &there);
    if (there != 0 && std::strcmp(value.data(), "false") == 0) {
        for (const Setting setting : {Setting::collective_write, Setting::collective_read}) {
            if (!is_locked(setting)) {
                static_cast<void>(settings.set(setting, "disable"));
            }
        }
    }
}

Standing standing_of(const OpeningRequest& request, int ranks, const UserSettings& settings) {
    if (ranks == 1) {
        return Standing::one_rank;
    }
    if ((request.amode & MPI_MODE_SEQUENTIAL) != 0) {
        return Standing::sequential;
    }
    if (!settings.flag(Setting::enabled)) {
        return Standing::disabled;
    }
    if (request.path.empty() || is_excluded(request.path, settings)) {
        return Standing::excluded;
    }
    return Standing::ours;
}

bool creates(const OpeningRequest& request, const UserSettings& settings) {
    return (request.amode & MPI_MODE_CREATE) != 0 && settings.flag(Setting::enabled) &&
           !request.path.empty() && !is_excluded(request.path, settings);
}

void create(const OpeningRequest& request, const UserSettings& settings, OpeningDecision& opening,
            std::vector<std::string>& warnings) {
    FileCreation creation = create_striped(request.path, request.amode, settings);
    opening.made = creation.made ? 1 : 0;
    if (creation.layout) {
        opening.targets = creation.layout->targets;
        opening.stripe_bytes = creation.layout->stripe_bytes;
    }
    warnings = std::move(creation.warnings);
}

bool is_pooled(const std::string& path, const UserSettings& settings) {
    const pool::PoolCalls* const pool = adapters::pool_calls();
    return pool != nullptr && pool->covers(path.c_str()) &&
           settings.text(Setting::pool_durability) != "global";
}

// Not 0, and random: two programs of a job must not use the same one.
std::uint64_t new_group() { return kernel::random_number() | 1U; }

OpeningDecision decide(const OpeningRequest& request, int ranks, UserSettings& settings,
                       std::vector<std::string>& warnings) {
    OpeningDecision opening;
    const auto read = process_settings();
    if (!read) {
        say(read.error().message);
        opening.failed = 1;
        return opening;
    }
    settings = *read;
    read_hints(request.info, settings);
    opening.standing = standing_of(request, ranks, settings);
    opening.recording = settings.text(Setting::record).empty() ? 0 : 1;
    if (ranks > 1 && (opening.standing == Standing::ours || opening.recording != 0)) {
        choose_cached_communicator(request.communicator, needs_of(settings), opening);
    }
    if (creates(request, settings)) {
        create(request, settings, opening, warnings);
    }
    opening.pooled =
        opening.standing == Standing::ours && is_pooled(request.path, settings) ? 1 : 0;
    // A file that is open for reading only needs no group: every node may read it ahead.
    const bool only_read = (request.amode & MPI_MODE_RDONLY) != 0;
    if (opening.pooled != 0 && !only_read && adapters::pool_calls()->nodes() > 1) {
        opening.group = new_group();
    }
    opening.settings = settings.numbers();
    return opening;
}

}  // namespace

const char* reason_of(Standing standing) noexcept {
    switch (standing) {
        case Standing::ours: return "";
        case Standing::disabled: return engine::reason_of(engine::Refusal::disabled);
        case Standing::excluded: return engine::reason_of(engine::Refusal::excluded);
        case Standing::one_rank: return "file of one rank";
        case Standing::sequential: return "MPI_MODE_SEQUENTIAL";
        case Standing::no_group: break;
    }
    return "no memory can be shared between the ranks of a node";
}

void read_hints(MPI_Info info, UserSettings& settings) {
    if (info == MPI_INFO_NULL) {
        return;
    }
    take_collective_buffering(info, settings);
    for (std::size_t i = 0; i < setting_count; ++i) {
        const auto setting = static_cast<Setting>(i);
        const SettingRow& row = setting_rows[i];
        if (*row.hint != '\0') {
            take_hint(info, row.hint, setting, settings);
        }
        take_hint(info, std::string("forebay_") + row.name, setting, settings);
    }
}

OpeningTalk::OpeningTalk(const OpeningRequest& request, UserSettings& settings)
    : settings_{settings} {
    int ranks = 1;
    PMPI_Comm_rank(request.communicator, &rank_);
    PMPI_Comm_size(request.communicator, &ranks);
    if (rank_ == 0) {
        opening_ = decide(request, ranks, settings, warnings_);
    }
    if (ranks > 1) {
        PMPI_Ibcast(&opening_, sizeof opening_, MPI_BYTE, 0, request.communicator, &request_);
        if (rank_ == 0 && opening_.standing == Standing::ours) {
            // Inspects the machine now, not in the first collective access.
            static_cast<void>(aggregators_per_node());
        }
    }
}

const OpeningDecision& OpeningTalk::end() {
    if (std::exchange(ended_, true)) {
        return opening_;
    }
    PMPI_Wait(&request_, MPI_STATUS_IGNORE);
    if (rank_ != 0 && opening_.failed == 0) {
        settings_.take_numbers(opening_.settings);
    }
    return opening_;
}

}  // namespace forebay::interposer
