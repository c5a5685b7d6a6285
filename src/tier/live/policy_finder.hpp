// Finds the policy that holds for a file: that of the nearest folder above it that has one, as far
// up as the tier's folder; else the tier's own.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "tier/policy/folder_policy.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace forebay::tier {

class PolicyFinder {
public:
    // A policy that was found is used for so long without another look. This process calls forget()
    // when it changes one.
    static constexpr auto believed = std::chrono::seconds{1};

    // `root` is the tier's folder, without symbolic links; it is opened now, since something else
    // may be mounted over it later.
    [[nodiscard]] static Result<PolicyFinder> open(const std::string& root, FolderPolicy usual);

    // The policy of a file; one that was found up to `age` ago is good enough.
    [[nodiscard]] FolderPolicy policy_of(const std::string& file,
                                         std::chrono::nanoseconds age = believed);
    void forget();
    // Whether a policy that policy_of() has returned since the last call says that replicas expire.
    // After forget(), one may.
    [[nodiscard]] bool take_any_expires();

private:
    struct Found {
        FolderPolicy policy{};
        std::chrono::steady_clock::time_point when{};
    };
    PolicyFinder(OwnFd folder, std::string root, FolderPolicy usual)
        : folder_{std::move(folder)}, root_{std::move(root)}, usual_{std::move(usual)} {}

    // The folder's own; nullopt: it has none, or none that can be understood.
    [[nodiscard]] std::optional<FolderPolicy> own_policy(const std::string& folder) const;

    OwnFd folder_;
    std::string root_;
    FolderPolicy usual_;
    std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
    std::map<std::string, Found> found_;  // by folder
    bool any_expires_ = false;
};

}  // namespace forebay::tier
