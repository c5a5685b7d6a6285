// Functions of what is loaded behind this library, by name: those that it stands in front of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <elf.h>

namespace forebay::capture {

// Does what dlsym(RTLD_NEXT) does, but takes no lock and allocates nothing: signal handlers may
// ask, and no program pays at its start for what it never calls. Objects that a program starts with
// are never unloaded, so what is known of them stays true.
class NextSymbols {
public:
    constexpr NextSymbols() noexcept = default;

    // Learns what is behind the object that contains this code. For a constructor of that object,
    // before there are threads. False: there are more objects than it can keep, one of them has
    // only a table of the old kind (DT_HASH), or the loader does not tell.
    bool learn() noexcept;

    // Null: it is in none of those objects, or the loader has to choose one of several for this
    // processor, or nothing was learnt. dlsym knows.
    [[nodiscard]] void* find(const char* name) const noexcept;
    // The same where nothing was learnt, and slower. Calls nothing of libc: a sanitizer asks before
    // it can answer itself.
    [[nodiscard]] static void* find_behind(const char* name) noexcept;

private:
    // The parts of an object's hash table for names, which the loader uses (DT_GNU_HASH).
    struct Object {
        std::uintptr_t base;
        const Elf64_Sym* symbols;
        const char* names;
        const Elf64_Half* versions;  // null: none of its symbols has one
        const std::uint64_t* bloom;
        std::uint32_t bloom_mask;  // a power of two less one
        std::uint32_t bloom_shift;
        const std::uint32_t* buckets;
        std::uint32_t bucket_count;
        std::uint32_t first;          // symbol with a chain
        const std::uint32_t* chains;  // for the symbols from there on
    };
    struct Tables;
    friend class ObjectSymbols;
    static constexpr std::size_t objects_max = 256;

    [[nodiscard]] static bool read(const Tables& tables, Object& object) noexcept;
    [[nodiscard]] static const Elf64_Sym* find(const Object& object, const char* name,
                                               std::uint32_t hash) noexcept;
    [[nodiscard]] static void* address_of(const Object& object, const Elf64_Sym& symbol) noexcept;

    std::size_t count_ = 0;
    std::array<Object, objects_max> objects_{};  // behind it: of most, nothing is touched
};

// Functions of one object that the program started with.
class ObjectSymbols {
public:
    constexpr ObjectSymbols() noexcept = default;

    // Learns what is in the object that `inside` is in; see NextSymbols::learn.
    bool learn(const void* inside) noexcept;
    // As NextSymbols::find.
    [[nodiscard]] void* find(const char* name) const noexcept;

private:
    NextSymbols::Object object_{};
    bool known_ = false;
};

}  // namespace forebay::capture
