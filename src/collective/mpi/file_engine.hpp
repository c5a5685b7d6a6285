// The engine of one open file. The first collective access makes it, from the settings as they are
// then. Until that, hints change the settings of each rank; from then on rank 0's settings hold for
// all ranks.
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
    // `file` outlives the object.
    FileEngine(FileContext& file, UserSettings settings);
    FileEngine(const FileEngine&) = delete;
    FileEngine& operator=(const FileEngine&) = delete;
    ~FileEngine() = default;

    // Returns the engine. Makes it if there is none yet, which is collective: all ranks call this
    // or none. Contract: the file is ours.
    engine::CollectiveFile& get();
    // The engine; null if no call has needed it yet.
    [[nodiscard]] engine::CollectiveFile* made() const noexcept { return engine_.get(); }

    // Applies hints, unless the engine has been made.
    void take_hints(MPI_Info info);
    // Calls CollectiveFile::forget(), if there is an engine.
    void forget() noexcept;
    // Rank 0 stores the k that was found, for later runs.
    void remember_limits() const;

    [[nodiscard]] const UserSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] FileStripes layout() const noexcept { return layout_; }
    // The identity of the file that rank 0 opened; nullopt before there is an engine, or if rank 0
    // does not know it.
    [[nodiscard]] const std::optional<ports::FileIdentity>& identity() const noexcept {
        return identity_;
    }
    [[nodiscard]] std::string aggregators() const;

private:
    struct RootFacts;  // what rank 0 broadcasts to the others
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
