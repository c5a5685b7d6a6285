// Source: System V ABI, chapters 4 and 5; execve(2), ld.so(8).
#include "pool/capture/processes/program_file.hpp"

#include "foundation/kernel/calls.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <span>
#include <string_view>

namespace forebay::capture {

namespace {

// How many scripts in a row the kernel follows, each naming the next as its interpreter.
constexpr int scripts_max = 5;
constexpr std::size_t program_path_max = 4096;
constexpr std::size_t segments_max = 64;
// Entries of the dynamic section that are read at a time, and bounds on entries and libraries: the
// file is untrusted input.
constexpr std::size_t entries_at_once = 64;
constexpr std::size_t entries_max = 1024;
constexpr std::size_t libraries_max = 64;

using Path = std::array<char, program_path_max>;

bool begins_with(std::string_view text, std::string_view begin) noexcept {
    return text.size() >= begin.size() && std::memcmp(text.data(), begin.data(), begin.size()) == 0;
}

std::string_view name_in(std::string_view path) noexcept {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos
               ? path
               : std::string_view{path.data() + slash + 1, path.size() - slash - 1};
}

template <class T>
bool read_all(int fd, std::span<T> to, Elf64_Off at) noexcept {
    return kernel::pread(fd, to.data(), to.size_bytes(), static_cast<off_t>(at)) ==
           static_cast<ssize_t>(to.size_bytes());
}

// The text at offset `at` of the file, up to its first null byte; empty if nothing can be read.
std::string_view text_at(int fd, Elf64_Off at, std::span<char> to) noexcept {
    const ssize_t got = kernel::pread(fd, to.data(), to.size(), static_cast<off_t>(at));
    return got <= 0
               ? std::string_view{}
               : std::string_view{to.data(), ::strnlen(to.data(), static_cast<std::size_t>(got))};
}

struct ProgramSegments {
    std::array<Elf64_Phdr, segments_max> each;
    std::size_t count = 0;

    [[nodiscard]] const Elf64_Phdr* of_type(Elf64_Word type) const noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            if (each[i].p_type == type) {
                return &each[i];
            }
        }
        return nullptr;
    }
    // The offset in the file of a virtual address; nullopt if no loaded segment has it.
    [[nodiscard]] std::optional<Elf64_Off> offset_of(Elf64_Addr address) const noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            const Elf64_Phdr& one = each[i];
            if (one.p_type == PT_LOAD && address >= one.p_vaddr &&
                address - one.p_vaddr < one.p_filesz) {
                return one.p_offset + (address - one.p_vaddr);
            }
        }
        return std::nullopt;
    }
};

// The libraries that DT_NEEDED entries name: offsets of their names in the string table, and the
// string table's offset in the file (nullopt: there is none).
struct NeededLibraries {
    std::array<Elf64_Xword, libraries_max> names;
    std::size_t count = 0;
    std::optional<Elf64_Off> table;
};

NeededLibraries needed_by(int fd, const ProgramSegments& segments) noexcept {
    NeededLibraries needed;
    const Elf64_Phdr* const dynamic = segments.of_type(PT_DYNAMIC);
    const std::size_t entries =
        dynamic == nullptr
            ? 0
            : std::min(entries_max, std::size_t{dynamic->p_filesz} / sizeof(Elf64_Dyn));
    std::array<Elf64_Dyn, entries_at_once> some;
    for (std::size_t at = 0; at < entries; at += some.size()) {
        const auto now = std::span{some}.first(std::min(some.size(), entries - at));
        if (!read_all(fd, now, dynamic->p_offset + at * sizeof(Elf64_Dyn))) {
            return needed;
        }
        for (const Elf64_Dyn& entry : now) {
            if (entry.d_tag == DT_NULL) {
                return needed;
            }
            if (entry.d_tag == DT_NEEDED && needed.count < libraries_max) {
                needed.names[needed.count++] = entry.d_un.d_val;
            } else if (entry.d_tag == DT_STRTAB) {
                needed.table = segments.offset_of(entry.d_un.d_ptr);
            }
        }
    }
    return needed;
}

bool needs_address_sanitizer(int fd, const ProgramSegments& segments) noexcept {
    const NeededLibraries needed = needed_by(fd, segments);
    std::array<char, 24> room;
    for (std::size_t i = 0; needed.table && i < needed.count; ++i) {
        const std::string_view name = text_at(fd, *needed.table + needed.names[i], room);
        if (begins_with(name, "libasan.so") || begins_with(name, "libclang_rt.asan")) {
            return true;
        }
    }
    return false;
}

// The dynamic loader itself is linked statically, but loads what LD_PRELOAD names into the program
// that it is told to start, as ldd uses it.
bool is_loader(int fd) noexcept {
    std::array<char, 32> link{"/proc/self/fd/"};
    std::size_t end = std::strlen(link.data());
    std::array<char, 12> digits;
    std::size_t count = 0;
    for (int left = fd; count == 0 || left > 0; left /= 10) {
        digits[count++] = static_cast<char>('0' + left % 10);
    }
    while (count > 0) {
        link[end++] = digits[--count];
    }
    Path path;
    const ssize_t bytes = kernel::readlink(link.data(), path.data(), path.size());
    const std::string_view name =
        bytes <= 0 ? std::string_view{} : name_in({path.data(), static_cast<std::size_t>(bytes)});
    return begins_with(name, "ld-linux") || begins_with(name, "ld-2.");
}

ProgramFile look_at_elf(int fd, const Elf64_Ehdr& header) noexcept {
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != own_machine ||
        header.e_phentsize != sizeof(Elf64_Phdr)) {
        return {ProgramKind::other_machine};
    }
    ProgramSegments segments;
    segments.count = std::min<std::size_t>(header.e_phnum, segments_max);
    if (!read_all(fd, std::span{segments.each}.first(segments.count), header.e_phoff)) {
        return {ProgramKind::not_understood};
    }
    const Elf64_Phdr* const interpreter = segments.of_type(PT_INTERP);
    if (interpreter == nullptr) {
        return {is_loader(fd) ? ProgramKind::preloadable : ProgramKind::linked_static};
    }
    Path room;
    if (!begins_with(name_in(text_at(fd, interpreter->p_offset, room)), "ld-linux")) {
        return {ProgramKind::other_libc};
    }
    return {ProgramKind::preloadable, needs_address_sanitizer(fd, segments)};
}

// Whether the program would run in secure mode (AT_SECURE), in which the loader ignores LD_PRELOAD.
bool gives_rights(int fd, const struct stat& found) noexcept {
    const uid_t user = ::getuid();
    const gid_t group = ::getgid();
    const bool as_user = (found.st_mode & S_ISUID) != 0 && found.st_uid != user;
    const bool as_group =
        (found.st_mode & S_ISGID) != 0 && (found.st_mode & S_IXGRP) != 0 && found.st_gid != group;
    // For root, file capabilities add nothing.
    return as_user || as_group || ::geteuid() != user || ::getegid() != group ||
           (user != 0 && kernel::fgetxattr(fd, "security.capability", nullptr, 0) > 0);
}

// The interpreter's path in a script's first line ("#!", blanks, the path, arguments); empty if
// there is none.
std::string_view interpreter_in(std::string_view script) noexcept {
    std::size_t begin = 2;
    while (begin < script.size() && (script[begin] == ' ' || script[begin] == '\t')) {
        ++begin;
    }
    std::size_t end = begin;
    while (end < script.size() && script[end] != '\0' && script[end] != ' ' &&
           script[end] != '\t' && script[end] != '\n') {
        ++end;
    }
    return {script.data() + begin, end - begin};
}

// Examines one file. If it is a script, `next` gets the path of its interpreter; otherwise `next`
// is empty.
ProgramFile look_once(int fd, Path& next) noexcept {
    next[0] = '\0';
    struct stat found{};
    if (kernel::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
        return {};
    }
    std::array<char, 256> head{};
    const ssize_t got = kernel::pread(fd, head.data(), head.size(), 0);
    const std::string_view begin{head.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    if (begins_with(begin, "#!")) {  // set-user-ID bits of a script have no effect
        const std::string_view path = interpreter_in(begin);
        std::memcpy(next.data(), path.data(), path.size());
        next[path.size()] = '\0';
        return {};
    }
    Elf64_Ehdr header{};
    if (begin.size() < sizeof header || !begins_with(begin, ELFMAG)) {
        return {};
    }
    if (gives_rights(fd, found)) {
        return {ProgramKind::privileged};
    }
    std::memcpy(&header, begin.data(), sizeof header);
    return look_at_elf(fd, header);
}

}  // namespace

ProgramFile look_at_program(int fd) noexcept {
    Path next;
    ProgramFile file = look_once(fd, next);
    for (int scripts = 1; next[0] != '\0' && scripts < scripts_max; ++scripts) {
        const int interpreter = kernel::open(next.data(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (interpreter < 0) {
            return {errno == EACCES ? ProgramKind::unreadable : ProgramKind::not_understood};
        }
        file = look_once(interpreter, next);
        kernel::close(interpreter);
    }
    return file;
}

ProgramFile look_at_program(int folder, const char* path) noexcept {
    const int fd = kernel::openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        return {errno == EACCES ? ProgramKind::unreadable : ProgramKind::not_understood};
    }
    const ProgramFile file = look_at_program(fd);
    kernel::close(fd);
    return file;
}

const char* why_uncaptured(ProgramKind kind) noexcept {
    switch (kind) {
        case ProgramKind::linked_static: return "it is statically linked";
        case ProgramKind::other_libc: return "its C library is not glibc";
        case ProgramKind::other_machine: return "it is for another processor";
        case ProgramKind::privileged: return "it has other rights than who starts it";
        case ProgramKind::unreadable: return "its file cannot be read";
        case ProgramKind::preloadable:
        case ProgramKind::not_understood: break;
    }
    return nullptr;
}

}  // namespace forebay::capture
