// Makes a wanted layout from the settings, and warnings from what storage/layout says of it.
#include "collective/mpi/creation.hpp"

#include "collective/mpi/process.hpp"
#include "storage/layout/files/files.hpp"
#include "storage/posix/attributes.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <mpi.h>

namespace forebay::interposer {

namespace {

layout::WantedLayout wanted_of(const UserSettings& settings) {
    layout::WantedLayout wanted;
    wanted.stripe_count = static_cast<std::int32_t>(settings.number(Setting::striping_factor));
    wanted.stripe_bytes = settings.number(Setting::striping_unit);
    return wanted;
}

FileStripes plan_layout(const layout::FileLayout& found, std::int64_t file_bytes) noexcept {
    const FileStripes stripes = layout::stripes_of(found, file_bytes);
    return {stripes.targets, stripes.stripe_bytes};
}

FileStripes told(const UserSettings& settings) noexcept {
    const auto targets = static_cast<std::int32_t>(settings.number(Setting::striping_factor));
    const std::int64_t stripe_bytes = settings.number(Setting::striping_unit);
    return stripe_bytes > 0 ? FileStripes{std::max(targets, 1), stripe_bytes} : FileStripes{};
}

// Whether the error is left to the MPI: with MPI_MODE_EXCL, its open will say that the file exists.
bool is_for_the_mpi(const layout::LayoutChange& change) noexcept {
    return change.obstacle && change.obstacle->system == EEXIST;
}

}  // namespace

FileCreation create_striped(const std::string& path, int amode, const UserSettings& settings) {
    FileCreation creation;
    const layout::WantedLayout wanted = wanted_of(settings);
    if (!wanted.says_something()) {
        return creation;
    }
    adapters::PosixAttributes files;
    if (layout::source_of(files, path) == layout::LayoutSource::none) {
        if (first_without_stripes()) {
            creation.warnings.push_back(fmt::format(
                "striping_factor and striping_unit do not change how {} is stored (its file system "
                "has no layouts that can be set). They only divide the work; leave them out, or "
                "write to Lustre or CephFS.",
                path));
        }
        return creation;
    }
    const auto existing = (amode & MPI_MODE_EXCL) != 0 ? layout::ExistingFile::is_left_alone
                                                       : layout::ExistingFile::is_changed;
    const layout::LayoutChange change = layout::set_layout(files, path, wanted, existing);
    creation.made = change.made;
    if (is_for_the_mpi(change)) {
        return creation;
    }
    if (change.layout.source != layout::LayoutSource::none) {
        creation.layout = plan_layout(change.layout, 0);
    }
    if (auto complaint = layout::complaint(path, change)) {
        creation.warnings.push_back(std::move(*complaint));
    }
    return creation;
}

FileStripes found_or_told(const std::string& path, const UserSettings& settings,
                          std::vector<std::string>& warnings) {
    const adapters::PosixAttributes files;
    const auto found = layout::layout_of_file(files, path);
    if (!found) {
        warnings.push_back(path + ": " + found.error().message);
    }
    if (!found || found->source == layout::LayoutSource::none) {
        return told(settings);
    }
    const auto facts = files.look(path);
    return plan_layout(*found, facts ? facts->bytes : 0);
}

}  // namespace forebay::interposer
