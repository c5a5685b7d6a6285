// Extended attributes of the folders on the way up.
#include "tier/live/policy_finder.hpp"

#include "foundation/base/report.hpp"
#include "foundation/kernel/calls.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/xattr.h>
#include <utility>

namespace forebay::tier {

namespace {

// Folders whose policies are remembered.
constexpr std::size_t folders_max = 4096;

std::string folder_of(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    return slash == std::string::npos ? std::string{} : file.substr(0, slash);
}

}  // namespace

Result<PolicyFinder> PolicyFinder::open(const std::string& root, FolderPolicy usual) {
    OwnFd folder{kernel::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!folder.valid()) {
        return failure(system_error(errno, "open the folder " + root));
    }
    return PolicyFinder{std::move(folder), root, std::move(usual)};
}

void PolicyFinder::forget() {
    const std::lock_guard lock{*mutex_};
    found_.clear();
    any_expires_ = true;
}

bool PolicyFinder::take_any_expires() {
    const std::lock_guard lock{*mutex_};
    return std::exchange(any_expires_, false);
}

FolderPolicy PolicyFinder::policy_of(const std::string& file, std::chrono::nanoseconds age) {
    const std::string nearest = folder_of(file);
    const auto now = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock{*mutex_};
        const auto known = found_.find(nearest);
        if (known != found_.end() && now - known->second.when < age) {
            any_expires_ |= known->second.policy.live_ns != 0;
            return known->second.policy;
        }
    }
    FolderPolicy policy = usual_;
    for (std::string at = nearest; at.starts_with(root_); at = folder_of(at)) {
        if (auto own = own_policy(at)) {
            policy = std::move(*own);
            break;
        }
    }
    const std::lock_guard lock{*mutex_};
    if (found_.size() >= folders_max) {
        found_.clear();
    }
    any_expires_ |= policy.live_ns != 0;
    found_[nearest] = {policy, now};
    return policy;
}

std::optional<FolderPolicy> PolicyFinder::own_policy(const std::string& folder) const {
    const std::string rest = folder.substr(root_.size());
    const std::string name = fmt::format("/proc/self/fd/{}{}", folder_.get(), rest);
    std::array<char, policy_bytes_max> text{};
    const ssize_t bytes = ::getxattr(name.c_str(), policy_attribute, text.data(), text.size());
    if (bytes < 0) {
        return std::nullopt;
    }
    auto policy = parse_policy({text.data(), static_cast<std::size_t>(bytes)});
    if (!policy) {
        forebay::report("forebay-mount", fmt::format("{} (It is the policy of {}.)",
                                                     policy.error().message, folder));
        return std::nullopt;
    }
    return std::move(*policy);
}

}  // namespace forebay::tier
