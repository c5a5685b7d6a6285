// Formats: elf(5), execve(2).
#include "pool/slurm/program_reach.hpp"

#include "foundation/base/own_fd.hpp"
#include "foundation/kernel/calls.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace forebay::slurm {

namespace {

constexpr int scripts_max = 5;  // interpreters of interpreters that Linux follows
constexpr std::size_t line_max = 256;

std::string read_at(int fd, std::uint64_t at, std::size_t bytes) {
    std::string text(bytes, '\0');
    const ssize_t got = kernel::pread(fd, text.data(), bytes, static_cast<off_t>(at));
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

template <class Part>
std::optional<Part> part_at(int fd, std::uint64_t at) {
    const std::string text = read_at(fd, at, sizeof(Part));
    if (text.size() < sizeof(Part)) {
        return std::nullopt;
    }
    Part part;
    std::memcpy(&part, text.data(), sizeof part);
    return part;
}

std::string why_not_elf(int fd) {
    const auto header = part_at<Elf64_Ehdr>(fd, 0);
    if (!header || header->e_ident[EI_CLASS] != ELFCLASS64) {
        return "it is no program of 64 bits";
    }
    for (std::uint64_t one = 0; one < header->e_phnum; ++one) {
        const auto part = part_at<Elf64_Phdr>(fd, header->e_phoff + one * sizeof(Elf64_Phdr));
        if (part && part->p_type == PT_INTERP) {
            const std::string loader =
                read_at(fd, part->p_offset, std::min<std::size_t>(part->p_filesz, line_max));
            return loader.find("ld-musl") == std::string::npos ? "" : "it is linked to musl";
        }
    }
    return "it is statically linked";
}

// Set-user-ID and set-group-ID, and capabilities: the loader ignores most of LD_PRELOAD.
bool gains_rights(int fd) {
    constexpr mode_t special = S_ISUID | S_ISGID;
    struct stat facts{};
    return kernel::fstat(fd, &facts) != 0 || (facts.st_mode & special) != 0 ||
           kernel::fgetxattr(fd, "security.capability", nullptr, 0) > 0;
}

}  // namespace

std::string program_file(std::string_view word, const std::string& folder,
                         std::string_view search_path) {
    const auto within = [&](std::string_view place) {
        std::string path{place};
        path += path.empty() || path.ends_with('/') ? "" : "/";
        path += word;
        return path.starts_with('/') ? path : folder + "/" + path;
    };
    if (word.find('/') != std::string_view::npos) {
        return within("");
    }
    while (!search_path.empty()) {
        const std::size_t end = std::min(search_path.find(':'), search_path.size());
        std::string path = within(search_path.substr(0, end));
        struct stat facts{};
        if (kernel::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
            kernel::access(path.c_str(), X_OK) == 0) {
            return path;
        }
        search_path.remove_prefix(std::min(end + 1, search_path.size()));
    }
    return "";
}

std::string why_not_captured(const std::string& file) {
    std::string path = file;
    for (int depth = 0; depth < scripts_max; ++depth) {
        const OwnFd fd{kernel::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
        if (!fd.valid()) {
            return "it cannot be read";
        }
        if (gains_rights(fd.get())) {
            return "it has another user's rights";
        }
        const std::string line = read_at(fd.get(), 0, line_max);
        if (line.starts_with(ELFMAG)) {
            return why_not_elf(fd.get());
        }
        const std::size_t begin = line.find_first_not_of(" \t", 2);
        if (!line.starts_with("#!") || begin == std::string::npos) {
            return "it is neither a program nor a script";
        }
        path = line.substr(begin, line.find_first_of(" \t\n", begin) - begin);
    }
    return "it is a script of scripts";
}

}  // namespace forebay::slurm
