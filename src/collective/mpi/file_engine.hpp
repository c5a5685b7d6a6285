// The engine of one open file: made by the first collective access, of the settings as they are
// then. Until then hints change them; from then on rank 0's are everyone's.
#pragma once

#include "collective/engine/file.hpp"
#include "collective/mpi/file_context.hpp"
#include "settings/settings.hpp"

#include <memory>
#include <mpi.h>
#include <optional>
#include <string>

namespace forebay::interposer {

class FileEngine {
public:
    // `file` outlives it.
    FileEngine(FileContext& file, UserSettings settings);
    FileEngine(const FileEngine&) = delete;
    FileEngine& operator=(const FileEngine&) = delete;
    ~FileEngine() = default;

    // Collective where it is not there yet: all ranks come here or none. Contract: the file is
    // ours.
    engine::CollectiveFile& get();
    // Null where no call has needed it.
    [[nodiscard]] engine::CollectiveFile* made() const noexcept { return engine_.get(); }

    void take_hints(MPI_Info info);
    // Makes it forget how the last call went.
    void forget() noexcept;
    // Rank 0 keeps for the next run what was found of requests in flight.
    void remember_limits() const;

    [[nodiscard]] const UserSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] FileStripes layout() const noexcept { return layout_; }
    // Which file rank 0 opened; nullopt also before there is an engine.
    [[nodiscard]] const std::optional<ports::FileIdentity>& identity() const noexcept {
        return identity_;
    }
    [[nodiscard]] std::string aggregators() const;

private:
    struct RootFacts;  // what rank 0 tells the others
    [[nodiscard]] RootFacts find_facts();
    [[nodiscard]] engine::FileOptions options_by(const RootFacts& facts);
    void borrow(engine::FileOptions& options);

    FileContext& file_;
    UserSettings settings_;
    FileStripes layout_;
    std::optional<ports::FileIdentity> identity_;
    std::unique_ptr<engine::CollectiveFile> engine_;
};

}  // namespace forebay::interposer
