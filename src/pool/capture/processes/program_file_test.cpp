// Tests look_at_program on programs of this machine, and on ELF files and scripts made byte by
// byte.
#include "pool/capture/processes/program_file.hpp"

#include <elf.h>
#include <sys/stat.h>

#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace forebay::capture {
namespace {

ProgramKind kind_of(const std::string& path) {
    return look_at_program(AT_FDCWD, path.c_str()).kind;
}

std::string written(const std::string& name, std::string_view bytes, mode_t mode = 0755) {
    std::string path = std::string{FOREBAY_TEST_DIR} + "/" + name;
    ::unlink(path.c_str());
    std::ofstream{path, std::ios::binary} << bytes;
    ::chmod(path.c_str(), mode);
    return path;
}

std::string_view as_text(const auto& what) {
    return {reinterpret_cast<const char*>(&what), sizeof what};
}

// An ELF file with this interpreter, unless it is empty, and with these needed libraries.
std::string elf(const std::string& interpreter, const std::vector<std::string>& libraries = {},
                int machine = own_machine) {
    constexpr std::size_t table_at = 0x400;
    constexpr std::size_t dynamic_at = 0x600;
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = static_cast<Elf64_Half>(machine);
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    std::vector<Elf64_Phdr> segments(3);
    segments[0].p_type = PT_LOAD;
    segments[0].p_vaddr = 0x10000;
    segments[0].p_filesz = 0x1000;
    segments[1].p_type = interpreter.empty() ? PT_NULL : PT_INTERP;
    segments[1].p_offset = 0x200;
    std::string table(1, '\0');
    std::string dynamic;
    for (const std::string& library : libraries) {
        dynamic += as_text(Elf64_Dyn{.d_tag = DT_NEEDED, .d_un = {.d_val = table.size()}});
        table += library + '\0';
    }
    dynamic += as_text(Elf64_Dyn{.d_tag = DT_STRTAB, .d_un = {.d_ptr = 0x10000 + table_at}});
    dynamic += as_text(Elf64_Dyn{});  // DT_NULL
    segments[2].p_type = PT_DYNAMIC;
    segments[2].p_offset = dynamic_at;
    segments[2].p_filesz = dynamic.size();
    std::string bytes(0x1000, '\0');
    bytes.replace(0, sizeof header, as_text(header));
    for (std::size_t i = 0; i < segments.size(); ++i) {
        bytes.replace(sizeof header + i * sizeof(Elf64_Phdr), sizeof(Elf64_Phdr),
                      as_text(segments[i]));
    }
    bytes.replace(0x200, interpreter.size(), interpreter);
    bytes.replace(table_at, table.size(), table);
    bytes.replace(dynamic_at, dynamic.size(), dynamic);
    return bytes;
}

constexpr const char* glibc =
    own_machine == EM_AARCH64 ? "/lib/ld-linux-aarch64.so.1" : "/lib64/ld-linux-x86-64.so.2";

TEST(ProgramFile, ThisProgramIsPreloadable) {
    EXPECT_EQ(kind_of("/proc/self/exe"), ProgramKind::preloadable);
    EXPECT_EQ(kind_of("/bin/sh"), ProgramKind::preloadable);
    EXPECT_EQ(kind_of(glibc), ProgramKind::preloadable) << "the loader starts another one";
}

TEST(ProgramFile, TheLoaderTellsTheLibrary) {
    EXPECT_EQ(kind_of(written("glibc", elf(glibc))), ProgramKind::preloadable);
    EXPECT_EQ(kind_of(written("nix", elf("/nix/store/x/lib/ld-linux-x86-64.so.2"))),
              ProgramKind::preloadable);
    EXPECT_EQ(kind_of(written("musl", elf("/lib/ld-musl-x86_64.so.1"))), ProgramKind::other_libc);
    EXPECT_EQ(kind_of(written("static", elf(""))), ProgramKind::linked_static);
    EXPECT_EQ(kind_of(written("power", elf(glibc, {}, EM_PPC64))), ProgramKind::other_machine);
}

TEST(ProgramFile, AScriptIsWhatItsInterpreterIs) {
    const std::string musl = written("of_script", elf("/lib/ld-musl-x86_64.so.1"));
    EXPECT_EQ(kind_of(written("script", "#!" + musl + "\n")), ProgramKind::other_libc);
    EXPECT_EQ(kind_of(written("blanks", "#! \t" + musl + " -x\n")), ProgramKind::other_libc);
    const std::string script = written("script", "#!" + musl + "\n");
    EXPECT_EQ(kind_of(written("two", "#!" + script + "\n")), ProgramKind::other_libc);
    EXPECT_EQ(kind_of(written("shell", "#!/bin/sh\n")), ProgramKind::preloadable);
    EXPECT_EQ(kind_of(written("nowhere", "#!/not/there\n")), ProgramKind::not_understood);
    EXPECT_EQ(kind_of(written("text", "echo a shell takes it\n")), ProgramKind::not_understood);
    EXPECT_EQ(kind_of(written("empty", "")), ProgramKind::not_understood);
    const std::string itself = std::string{FOREBAY_TEST_DIR} + "/itself";
    EXPECT_EQ(kind_of(written("itself", "#!" + itself + "\n")), ProgramKind::not_understood);
}

TEST(ProgramFile, WhoeverGetsRightsIsPrivileged) {
    const std::string path = written("rights", elf(glibc));
    if (::geteuid() != 0 || ::chown(path.c_str(), 12345, 12345) != 0) {
        GTEST_SKIP() << "only root can give a file away";
    }
    ::chmod(path.c_str(), 0755);
    EXPECT_EQ(kind_of(path), ProgramKind::preloadable);
    ::chmod(path.c_str(), 04755);
    EXPECT_EQ(kind_of(path), ProgramKind::privileged);
    ::chmod(path.c_str(), 02755);
    EXPECT_EQ(kind_of(path), ProgramKind::privileged);
    ::chmod(path.c_str(), 02745);
    EXPECT_EQ(kind_of(path), ProgramKind::preloadable) << "that bit is of locks then";
}

TEST(ProgramFile, AddressSanitizersLibraryIsFoundAmongOthers) {
    const auto sanitized = [](const std::vector<std::string>& libraries) {
        const std::string path = written("sanitized", elf(glibc, libraries));
        return look_at_program(AT_FDCWD, path.c_str()).address_sanitizer;
    };
    EXPECT_TRUE(sanitized({"libm.so.6", "libasan.so.8", "libc.so.6"}));
    EXPECT_TRUE(sanitized({"libclang_rt.asan-x86_64.so"}));
    EXPECT_FALSE(sanitized({"libm.so.6", "libc.so.6"}));
    EXPECT_FALSE(sanitized({}));
}

// Whatever offsets and lengths a file claims, nothing outside of it is read.
TEST(ProgramFile, BrokenFilesAreLookedAtWithoutHarm) {
    const std::string whole = elf(glibc, {"libasan.so.8"});
    for (std::size_t at = 0; at < 0x640; ++at) {
        for (const char byte : {'\x7f', '\xff'}) {
            std::string broken = whole;
            broken[at] = byte;
            static_cast<void>(kind_of(written("broken", broken)));
        }
    }
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 16) {
        static_cast<void>(kind_of(written("short", std::string_view{whole}.substr(0, bytes))));
    }
}

}  // namespace
}  // namespace forebay::capture
