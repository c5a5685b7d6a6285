// Nothing is allocated: this may run in a forked child of a program with threads, where malloc's
// lock may be held by a thread that does not exist.
#include "pool/capture/processes/child_environment.hpp"

#include "foundation/base/switch_words.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/capture/files/paths.hpp"

#include <array>
#include <cstring>
#include <unistd.h>

namespace forebay::capture {

namespace {

constexpr std::string_view preload = "LD_PRELOAD";
constexpr std::string_view sanitizer = "ASAN_OPTIONS";
constexpr std::string_view order = "verify_asan_link_order";
constexpr std::string_view any_order_option = "verify_asan_link_order=0";
constexpr std::string_view own_library = "libforebay_posix.so";
constexpr std::size_t library_path_max = 4096;

bool is_variable(const char* entry, std::string_view name) noexcept {
    return std::strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=';
}

// The separators of LD_PRELOAD, as in ld.so(8).
bool separates(char letter) noexcept { return letter == ':' || letter == ' '; }

bool is_own(std::string_view library) noexcept {
    if (library.size() < own_library.size()) {
        return false;
    }
    const std::size_t before = library.size() - own_library.size();
    return std::memcmp(library.data() + before, own_library.data(), own_library.size()) == 0 &&
           (before == 0 || library[before - 1] == '/');
}

// Takes the first library off `list` and returns it; empty if there is none.
std::string_view next_library(std::string_view& list) noexcept {
    while (!list.empty() && separates(list.front())) {
        list.remove_prefix(1);
    }
    std::size_t end = 0;
    while (end < list.size() && !separates(list[end])) {
        ++end;
    }
    const std::string_view found{list.data(), end};
    list.remove_prefix(end);
    return found;
}

bool can_be_loaded(std::string_view library) noexcept {
    std::array<char, library_path_max> path;
    if (library.size() >= path.size() || library.find('/') == std::string_view::npos) {
        return true;  // the loader searches for it, and reports if there is none
    }
    std::memcpy(path.data(), library.data(), library.size());
    path[library.size()] = '\0';
    return kernel::access(path.data(), R_OK) == 0;
}

char* append(char* to, std::string_view text) noexcept {
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
}

// Writes "LD_PRELOAD=" and the list without our library to `to`. Returns where the text ends.
char* without_own(char* to, std::string_view list) noexcept {
    to = append(to, preload);
    *to++ = '=';
    bool first = true;
    for (std::string_view one = next_library(list); !one.empty(); one = next_library(list)) {
        if (!is_own(one)) {
            to = first ? to : append(to, ":");
            to = append(to, one);
            first = false;
        }
    }
    *to++ = '\0';
    return to;
}

}  // namespace

const char* variable_in(char* const* environment, std::string_view name) noexcept {
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        if (is_variable(*environment, name)) {
            return *environment + name.size() + 1;
        }
    }
    return nullptr;
}

std::string_view library_in(std::string_view preloaded) noexcept {
    for (std::string_view one = next_library(preloaded); !one.empty();
         one = next_library(preloaded)) {
        if (is_own(one)) {
            return one;
        }
    }
    return {};
}

const char* why_uncaptured(char* const* environment, const PoolOfProcess& pool) noexcept {
    const char* const preloaded = variable_in(environment, preload);
    const std::string_view library =
        preloaded == nullptr ? std::string_view{} : library_in(preloaded);
    const char* const socket = variable_in(environment, "FOREBAY_POOL_SOCKET");
    const char* const folders = variable_in(environment, "FOREBAY_POOL_PATHS");
    if (library.empty() || socket == nullptr || folders == nullptr ||
        switches_off(variable_in(environment, "FOREBAY_ENABLED"))) {
        return "its environment lacks LD_PRELOAD or FOREBAY_*";
    }
    PoolPaths paths;
    paths.set(folders);
    bool all = std::strcmp(socket, pool.socket) == 0;
    for (std::size_t i = 0; i < pool.paths.count(); ++i) {
        all = all && paths.hold(pool.paths.folder(i));
    }
    if (!all) {
        return "its environment names another pool";
    }
    // The program may run in another root directory or mount namespace, where these paths do not
    // exist.
    return can_be_loaded(library) && kernel::access(socket, W_OK) == 0
               ? nullptr
               : "neither library nor daemon can be reached from its root folder";
}

std::size_t room_for(char* const* environment) noexcept {
    std::size_t count = 0;
    std::size_t bytes = 0;
    for (char* const* one = environment; one != nullptr && *one != nullptr; ++one) {
        ++count;
        if (is_variable(*one, preload) || is_variable(*one, sanitizer)) {
            bytes += std::strlen(*one) + 1;
        }
    }
    constexpr std::size_t more = sanitizer.size() + any_order_option.size() + 3;
    return (count + 2) * sizeof(char*) + bytes + more;
}

char* const* changed(char* const* environment, EnvironmentChanges changes, void* room) noexcept {
    std::size_t count = 0;
    while (environment != nullptr && environment[count] != nullptr) {
        ++count;
    }
    auto** const made = static_cast<char**>(room);
    char* text = reinterpret_cast<char*>(made + count + 2);
    std::size_t at = 0;
    bool wants_option = changes.any_order;
    for (std::size_t i = 0; i < count; ++i) {
        char* const entry = environment[i];
        made[at++] = entry;
        if (changes.without_library && is_variable(entry, preload)) {
            made[at - 1] = text;
            text = without_own(text, entry + preload.size() + 1);
            // The list is empty: leave the variable out.
            at -= made[at - 1][preload.size() + 1] == '\0' ? 1 : 0;
        } else if (wants_option && is_variable(entry, sanitizer)) {
            wants_option = false;
            if (std::strstr(entry, order.data()) == nullptr) {
                made[at - 1] = text;
                text = append(text, entry);
                text = append(text, ":");
                text = append(text, any_order_option);
                *text++ = '\0';
            }
        }
    }
    if (wants_option) {
        made[at++] = text;
        text = append(text, sanitizer);
        text = append(text, "=");
        text = append(text, any_order_option);
        *text = '\0';
    }
    made[at] = nullptr;
    return made;
}

}  // namespace forebay::capture
