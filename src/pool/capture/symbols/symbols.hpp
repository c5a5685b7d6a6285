// Finds libc's functions by name in the libraries that are loaded after this one, which interposes
// them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <elf.h>

namespace forebay::capture {

// As dlsym(RTLD_NEXT), but without a lock or an allocation: signal handlers may use it, and a
// program pays nothing at its start for functions that it never calls. Libraries loaded at a
// program's start are never unloaded, so what is learnt stays valid.
class NextSymbols {
public:
    constexpr NextSymbols() noexcept = default;

    // Records the hash tables of the libraries loaded after the one that contains this code. To be
    // called in its constructor, before there are threads. False: there are more than objects_max,
    // one has only an old hash table (DT_HASH), or the loader's list of libraries is missing.
    bool learn() noexcept;

    // Returns null if no recorded library has the name, if the symbol is an indirect function
    // (IFUNC), or if nothing was recorded: the caller then asks dlsym.
    [[nodiscard]] void* find(const char* name) const noexcept;
    // The same without learn(), by a slower search. Calls nothing of libc: a sanitizer may ask
    // before its own functions work.
    [[nodiscard]] static void* find_behind(const char* name) noexcept;

private:
    // Pointers into the hash table of one library (DT_GNU_HASH).
    struct Object {
        std::uintptr_t base;
        const Elf64_Sym* symbols;
        const char* names;
        const Elf64_Half* versions;  // null: the library has no symbol versions
        const std::uint64_t* bloom;
        std::uint32_t bloom_mask;  // number of words minus 1
        std::uint32_t bloom_shift;
        const std::uint32_t* buckets;
        std::uint32_t bucket_count;
        std::uint32_t first;          // index of the first symbol in the table
        const std::uint32_t* chains;  // hash chains of the symbols from `first` on
    };
    struct Tables;
    friend class ObjectSymbols;
    static constexpr std::size_t objects_max = 256;

    [[nodiscard]] static bool read(const Tables& tables, Object& object) noexcept;
    [[nodiscard]] static const Elf64_Sym* find(const Object& object, const char* name,
                                               std::uint32_t hash) noexcept;
    [[nodiscard]] static void* address_of(const Object& object, const Elf64_Sym& symbol) noexcept;

    std::size_t count_ = 0;
    std::array<Object, objects_max> objects_{};  // last member: most of it is never touched
};

// Symbols of one library that the program started with.
class ObjectSymbols {
public:
    constexpr ObjectSymbols() noexcept = default;

    // Records the library that contains the address `inside`; see NextSymbols::learn.
    bool learn(const void* inside) noexcept;
    // See NextSymbols::find.
    [[nodiscard]] void* find(const char* name) const noexcept;

private:
    NextSymbols::Object object_{};
    bool known_ = false;
};

}  // namespace forebay::capture
