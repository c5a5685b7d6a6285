// Errors here never fail a call: at worst a line says that k is not remembered.
#include "collective/mpi/limit_cache.hpp"

#include "collective/mpi/status.hpp"
#include "storage/posix/notebook_file.hpp"

#include <chrono>
#include <cstdlib>

namespace forebay::interposer {

namespace {

constexpr std::int64_t seconds_of_a_day = 86400;
// An entry is forgotten when it is this many times as old as the age up to which it is trusted.
constexpr std::int64_t kept_factor = 9;
constexpr const char* automatic = "automatic";

// The value of an environment variable that names a directory; empty unless it is an absolute path.
std::string folder_of(const char* variable) {
    const char* value = std::getenv(variable);
    return value == nullptr || *value != '/' ? std::string() : std::string(value);
}

std::string cache_file(const UserSettings& settings) {
    const std::string& told = settings.text(Setting::limits_cache);
    if (told != automatic) {
        return told;
    }
    if (const std::string cache = folder_of("XDG_CACHE_HOME"); !cache.empty()) {
        return cache + "/forebay/limits";
    }
    const std::string home = folder_of("HOME");
    return home.empty() ? std::string() : home + "/.cache/forebay/limits";
}

std::int64_t now_s() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since).count();
}

Result<engine::LimitMemoryOptions> options_of(const UserSettings& settings, const std::string& path,
                                              const FileStripes& layout) {
    auto file_system = adapters::file_system_of(path);
    if (!file_system) {
        return failure(file_system.error());
    }
    const std::int64_t trusted = settings.number(Setting::limits_cache_days) * seconds_of_a_day;
    return engine::LimitMemoryOptions{
        std::move(*file_system), layout, {trusted, kept_factor * trusted}};
}

enum class NoticeLevel { verbose, always };

void explain(const UserSettings& settings, const Error& error, NoticeLevel level) {
    if (level == NoticeLevel::always || settings.flag(Setting::verbose)) {
        say("requests in flight are not remembered: " + error.message);
    }
}

}  // namespace

bool remembers_limits(const UserSettings& settings) {
    return settings.tuning().requests_in_flight == plan::find_requests_in_flight &&
           !cache_file(settings).empty();
}

engine::FoundLimits recall_limits(const UserSettings& settings, const std::string& path,
                                  const FileStripes& layout) {
    adapters::NotebookFile notebook{cache_file(settings)};
    const auto known = options_of(settings, path, layout).and_then([&](const auto& options) {
        return engine::recall_limits(notebook, options, now_s());
    });
    if (!known) {
        // The same problem is reported by remember_limits(), too.
        explain(settings, known.error(), NoticeLevel::verbose);
    }
    return known.value_or(engine::FoundLimits{});
}

void remember_limits(const UserSettings& settings, const std::string& path,
                     const FileStripes& layout, const engine::FoundLimits& found) {
    adapters::NotebookFile notebook{cache_file(settings)};
    const auto done = options_of(settings, path, layout).and_then([&](const auto& options) {
        return engine::remember_limits(notebook, options, found, now_s());
    });
    if (!done) {
        const bool named = settings.text(Setting::limits_cache) != automatic;
        explain(settings, done.error(), named ? NoticeLevel::always : NoticeLevel::verbose);
    }
}

}  // namespace forebay::interposer
