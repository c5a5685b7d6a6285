// An access method of IOR (its -a API). A back end moves whole transfers and returns errors; it
// makes no decisions and measures no time.
#pragma once

#include "benchmarks/ior/geometry.hpp"
#include "benchmarks/ior/options.hpp"
#include "foundation/base/result.hpp"
#include "foundation/base/units.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

namespace forebay::bench {

enum class BackendAccess { write, read };

struct BackendContext {
    const ior::IorOptions* options = nullptr;
    ior::TestGeometry geometry;
    std::vector<std::pair<std::string, std::string>> hints;
    int rank = 0;
};

// Hints as an MPI_Info; MPI_INFO_NULL if there are none.
class MpiInfo {
public:
    explicit MpiInfo(const std::vector<std::pair<std::string, std::string>>& hints) {
        if (!hints.empty()) {
            MPI_Info_create(&info_);
        }
        for (const auto& [key, value] : hints) {
            MPI_Info_set(info_, key.c_str(), value.c_str());
        }
    }
    ~MpiInfo() {
        if (info_ != MPI_INFO_NULL) {
            MPI_Info_free(&info_);
        }
    }
    MpiInfo(const MpiInfo&) = delete;
    MpiInfo& operator=(const MpiInfo&) = delete;

    [[nodiscard]] MPI_Info get() const noexcept { return info_; }

private:
    MPI_Info info_ = MPI_INFO_NULL;
};

struct OpenRequest {
    std::string path;
    BackendAccess access = BackendAccess::write;
    std::int64_t task = 0;          // the task whose part is moved; determines the view
    MPI_Comm comm = MPI_COMM_SELF;  // the ranks that open the file together
};

class IorBackend {
public:
    explicit IorBackend(const BackendContext& context)
        : options_(*context.options), geometry_(context.geometry), hints_(context.hints) {}
    virtual ~IorBackend() = default;
    IorBackend(const IorBackend&) = delete;
    IorBackend& operator=(const IorBackend&) = delete;

    virtual Result<void> open(const OpenRequest& request) = 0;
    // Bytes moved; fewer than requested only at the end of the file.
    virtual Result<std::int64_t> write(Offset at, std::span<const std::byte> from) = 0;
    virtual Result<std::int64_t> read(Offset at, std::span<std::byte> to) = 0;
    virtual Result<void> sync() = 0;
    virtual Result<void> close() = 0;

    [[nodiscard]] virtual std::string version() const { return {}; }
    // The open file's descriptor, for transfers that bypass the back end; -1: none.
    [[nodiscard]] virtual int descriptor() const noexcept { return -1; }
    // Whether ranks that share a file must make the same calls (collective transfers).
    [[nodiscard]] virtual bool together() const noexcept { return false; }
    // Whether ranks that share a file must sync it collectively, even if transfers are independent.
    [[nodiscard]] virtual bool syncs_together() const noexcept { return false; }
    // Whether bytes are in the file where the geometry says, so that its size can be checked.
    [[nodiscard]] virtual bool plain_file() const noexcept { return true; }
    // Requested settings that had no effect, and those that the user wants to see.
    [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
    [[nodiscard]] virtual std::int64_t short_transfers() const noexcept { return 0; }

protected:
    const ior::IorOptions& options_;
    ior::TestGeometry geometry_;
    std::vector<std::pair<std::string, std::string>> hints_;
    std::string path_;  // of the file opened last
};

// Error for back ends that are not built: "not built: DFS (…)".
Result<std::unique_ptr<IorBackend>> make_backend(const BackendContext& context);
// The name in the tables ("mpiio" → "MPIIO"), or the reason for refusing it.
Result<std::string> backend_name(const std::string& api);

std::unique_ptr<IorBackend> make_posix(const BackendContext& context);
std::unique_ptr<IorBackend> make_mmap(const BackendContext& context);
std::unique_ptr<IorBackend> make_dummy(const BackendContext& context);
std::unique_ptr<IorBackend> make_mpiio(const BackendContext& context);
std::unique_ptr<IorBackend> make_hdf5(const BackendContext& context);
std::unique_ptr<IorBackend> make_pnetcdf(const BackendContext& context);

// Replaces `said` by the kernel's reason if the open failed for lack of permission: libraries above
// an MPI report a failed open without the reason.
[[nodiscard]] Error open_error(const OpenRequest& request, Error said);

// Removes a file, whatever the back end; a missing file is not an error.
Result<void> remove_file(const std::string& path);

}  // namespace forebay::bench
