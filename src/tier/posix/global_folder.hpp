// The port GlobalFiles over a folder of the parallel file system. Files below it are reached from
// its descriptor: something else may be mounted over its path.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/attributes.hpp"
#include "tier/mover/ports.hpp"
#include "tier/posix/record_store.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace forebay::tier {

class GlobalFolder final : public GlobalFiles {
public:
    // The folder where records lie beside files without extended attributes.
    static constexpr const char* sidecar_name = ".forebay-tier";

    [[nodiscard]] static Result<std::unique_ptr<GlobalFolder>> open(const std::string& path);

    [[nodiscard]] Result<std::unique_ptr<TieredFile>> open(const std::string& path,
                                                           const ReplicaName& name) override;

    // Its path without symbolic links; paths of files begin with it.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // A path of a file or folder as it would be if no folder above this one had been renamed since
    // open(). The result is below path() for all that lies in this folder.
    [[nodiscard]] std::string path_from_start(std::string path) const;

    // A file by its path alone, as a user names it.
    struct NamedFile {
        ReplicaName name;
        std::unique_ptr<TieredFile> file;
    };
    [[nodiscard]] Result<NamedFile> open_named(const std::string& path);
    // A file that a descriptor of any kind is open for.
    [[nodiscard]] Result<NamedFile> open_again(int fd, const std::string& path);

    // The file system's number, by a descriptor of a file on `device`; it is asked for once.
    [[nodiscard]] std::uint64_t number_of(int fd, dev_t device);

    // The record of a file that is open with any access mode, also where it may not be written to.
    [[nodiscard]] Result<std::optional<std::vector<std::byte>>> record_of(int fd,
                                                                          const ReplicaName& name);

    // The last name of a file is gone. A record beside it would be taken for that of the next file
    // with its number.
    void forget(const ReplicaName& name);

private:
    GlobalFolder(OwnFd folder, std::string path);

    [[nodiscard]] Result<NamedFile> name_open_file(OwnFd fd, const std::string& path);

    OwnFd folder_;
    std::string path_;
    std::mutex mutex_;  // protects the next
    std::map<dev_t, std::uint64_t> systems_;
    SidecarFolder sidecars_;
    RecordStore records_;
};

}  // namespace forebay::tier
