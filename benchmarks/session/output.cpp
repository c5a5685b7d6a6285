// Prints, and replaces files atomically.
#include "benchmarks/session/output.hpp"

#include "foundation/base/printable.hpp"

#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::bench {

void print(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

measure::ExitStatus complain(const std::string& message, measure::ExitStatus status) {
    std::fputs(fmt::format("forebay: {}\n", printable(message)).c_str(), stderr);
    std::fflush(stderr);
    return status;
}

Result<void> write_text(const std::string& path, const std::string& text) {
    if (path.empty()) {
        return {};
    }
    if (path == "-") {
        print(text);
        return {};
    }
    struct stat facts{};
    const bool special = ::stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode);
    const std::string beside = special ? path : fmt::format("{}.{}", path, ::getpid());
    if (!special) {
        ::unlink(beside.c_str());  // left by a killed process with this number, or a planted link
    }
    std::FILE* const file = std::fopen(beside.c_str(), special ? "we" : "wxe");
    if (file == nullptr) {
        return failure(system_error(errno, "write " + path));
    }
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = std::fclose(file) == 0;
    const bool kept =
        written && closed && (special || std::rename(beside.c_str(), path.c_str()) == 0);
    if (!kept) {
        const int error = errno;
        if (!special) {
            ::unlink(beside.c_str());
        }
        return failure(system_error(error, "write " + path));
    }
    return {};
}

Result<void> can_write(const std::string& path) {
    if (path.empty() || path == "-") {
        return {};
    }
    struct stat facts{};
    const bool there = ::stat(path.c_str(), &facts) == 0;
    if (there && S_ISDIR(facts.st_mode)) {
        return failure(system_error(EISDIR, "write " + path));
    }
    const std::size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const bool special = there && !S_ISREG(facts.st_mode);
    const int reached =
        special ? ::access(path.c_str(), W_OK) : ::access(parent.c_str(), W_OK | X_OK);
    if (reached != 0) {
        return failure(system_error(errno, "write " + path));
    }
    if (!special && (::stat(parent.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode))) {
        return failure(system_error(ENOTDIR, "write " + path));
    }
    return {};
}

Result<void> can_write_all(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
        if (auto fine = can_write(path); !fine) {
            return fine;
        }
    }
    return {};
}

}  // namespace forebay::bench
