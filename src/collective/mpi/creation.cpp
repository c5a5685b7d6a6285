// See creation.hpp.
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

layout::Wanted wanted_of(const Settings& settings) {
    layout::Wanted wanted;
    wanted.stripe_count = static_cast<std::int32_t>(settings.number(Setting::striping_factor));
    wanted.stripe_bytes = settings.number(Setting::striping_unit);
    return wanted;
}

Stripes plan_layout(const layout::FileLayout& found, std::int64_t file_bytes) noexcept {
    const Stripes stripes = layout::stripes_of(found, file_bytes);
    return {stripes.targets, stripes.stripe_bytes};
}

Stripes told(const Settings& settings) noexcept {
    const auto targets = static_cast<std::int32_t>(settings.number(Setting::striping_factor));
    const std::int64_t stripe_bytes = settings.number(Setting::striping_unit);
    return stripe_bytes > 0 ? Stripes{std::max(targets, 1), stripe_bytes} : Stripes{};
}

// With MPI_MODE_EXCL the MPI will say that the file exists.
bool is_for_the_mpi(const layout::Change& change) noexcept {
    return change.obstacle && change.obstacle->system == EEXIST;
}

}  // namespace

Creation create_striped(const std::string& path, int amode, const Settings& settings) {
    Creation creation;
    const layout::Wanted wanted = wanted_of(settings);
    if (!wanted.says_something()) {
        return creation;
    }
    adapters::PosixAttributes files;
    if (layout::source_of(files, path) == layout::Source::none) {
        if (first_without_stripes()) {
            creation.warnings.push_back(fmt::format(
                "striping_factor and striping_unit do not change how {} is stored (its file system "
                "has no layouts that can be set). They only divide the work; leave them out, or "
                "write to Lustre or CephFS.",
                path));
        }
        return creation;
    }
    const auto existing = (amode & MPI_MODE_EXCL) != 0 ? layout::Existing::is_left_alone
                                                       : layout::Existing::is_changed;
    const layout::Change change = layout::set_layout(files, path, wanted, existing);
    creation.made = change.made;
    if (is_for_the_mpi(change)) {
        return creation;
    }
    if (change.layout.source != layout::Source::none) {
        creation.layout = plan_layout(change.layout, 0);
    }
    if (auto complaint = layout::complaint(path, change)) {
        creation.warnings.push_back(std::move(*complaint));
    }
    return creation;
}

Stripes found_or_told(const std::string& path, const Settings& settings,
                      std::vector<std::string>& warnings) {
    const adapters::PosixAttributes files;
    const auto found = layout::layout_of_file(files, path);
    if (!found) {
        warnings.push_back(path + ": " + found.error().message);
    }
    if (!found || found->source == layout::Source::none) {
        return told(settings);
    }
    const auto facts = files.look(path);
    return plan_layout(*found, facts ? facts->bytes : 0);
}

}  // namespace forebay::interposer
