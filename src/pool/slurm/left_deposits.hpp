// Finds the bytes that a killed daemon has taken along. slurmstepd outlives what it kills, and so
// can look: it maps the daemon's directory (pool/protocol/directory.hpp) while the daemon lives.
#pragma once

#include "pool/protocol/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace forebay::slurm {

struct LeftDeposit {
    std::string path;        // as the program gave it to open()
    std::int64_t bytes = 0;  // a lower bound: the daemon may not have seen the newest deposits
};

class DirectoryView {
public:
    // The directory of a running daemon of this user; one that shows nothing if it cannot be had.
    [[nodiscard]] static DirectoryView of_daemon(pid_t daemon);

    DirectoryView() noexcept = default;
    DirectoryView(DirectoryView&& other) noexcept
        : directory_(std::exchange(other.directory_, nullptr)) {}
    DirectoryView& operator=(DirectoryView&& other) noexcept {
        std::swap(directory_, other.directory_);
        return *this;
    }
    DirectoryView(const DirectoryView&) = delete;
    DirectoryView& operator=(const DirectoryView&) = delete;
    ~DirectoryView();

    [[nodiscard]] bool is_known() const noexcept { return directory_ != nullptr; }
    // The files that may have deposits which are not drained.
    [[nodiscard]] std::vector<LeftDeposit> outstanding() const;

private:
    explicit DirectoryView(const pool::Directory* directory) noexcept : directory_(directory) {}

    const pool::Directory* directory_ = nullptr;
};

}  // namespace forebay::slurm
