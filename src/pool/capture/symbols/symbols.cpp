// Sources: System V ABI (dynamic section, symbol table), and the format of DT_GNU_HASH as GNU's and
// LLVM's linkers write it.
#include "pool/capture/symbols/symbols.hpp"

#include <link.h>

namespace forebay::capture {

namespace {

constexpr Elf64_Half hidden_version = 0x8000;  // not the default version of the symbol

std::uint32_t hash_of(const char* name) noexcept {
    std::uint32_t hash = 5381;
    for (; *name != '\0'; ++name) {
        hash = hash * 33 + static_cast<unsigned char>(*name);
    }
    return hash;
}

// Own strcmp: libc's may be a sanitizer's, which looks up functions before it can compare.
bool same(const char* one, const char* other) noexcept {
    while (*one != '\0' && *one == *other) {
        ++one;
        ++other;
    }
    return *one == *other;
}

// The loader's entry for this library; null if it has none.
const link_map* own_map() noexcept {
    const link_map* map = _r_debug.r_map;
    while (map != nullptr && map->l_ld != &_DYNAMIC[0]) {
        map = map->l_next;
    }
    return map;
}

}  // namespace

// Values of the dynamic section. The loader has relocated most of them to addresses, but in some
// libraries they are offsets from the base.
struct NextSymbols::Tables {
    explicit Tables(const link_map& map) noexcept : base{map.l_addr} {
        for (const ElfW(Dyn)* entry = map.l_ld; entry != nullptr && entry->d_tag != DT_NULL;
             ++entry) {
            switch (entry->d_tag) {
                case DT_SYMTAB: symbols = entry->d_un.d_ptr; break;
                case DT_STRTAB: names = entry->d_un.d_ptr; break;
                case DT_VERSYM: versions = entry->d_un.d_ptr; break;
                case DT_GNU_HASH: hash = entry->d_un.d_ptr; break;
                default: break;
            }
        }
    }
    template <typename T>
    [[nodiscard]] const T* at(std::uintptr_t address) const noexcept {
        return reinterpret_cast<const T*>(address < base ? base + address : address);
    }

    std::uintptr_t base;
    std::uintptr_t symbols = 0, names = 0, versions = 0, hash = 0;
};

bool NextSymbols::read(const Tables& tables, Object& object) noexcept {
    if (tables.symbols == 0 || tables.names == 0 || tables.hash == 0) {
        return false;
    }
    const auto* const head = tables.at<std::uint32_t>(tables.hash);
    const std::uint32_t bloom_words = head[2];
    object.base = tables.base;
    object.symbols = tables.at<Elf64_Sym>(tables.symbols);
    object.names = tables.at<char>(tables.names);
    object.versions = tables.versions == 0 ? nullptr : tables.at<Elf64_Half>(tables.versions);
    object.bucket_count = head[0];
    object.first = head[1];
    object.bloom_mask = bloom_words - 1;
    object.bloom_shift = head[3];
    object.bloom = reinterpret_cast<const std::uint64_t*>(head + 4);
    object.buckets = reinterpret_cast<const std::uint32_t*>(object.bloom + bloom_words);
    object.chains = object.buckets + object.bucket_count;
    return object.bucket_count != 0;
}

bool NextSymbols::learn() noexcept {
    const link_map* map = own_map();
    if (map == nullptr) {
        return false;
    }
    // The list is read up to the loader itself, which libc needs and which therefore is about the
    // last: entries after it may be libraries that constructors have loaded since. Symbols found
    // only there are left to dlsym.
    std::size_t count = 0;
    for (map = map->l_next; map != nullptr && map->l_addr != _r_debug.r_ldbase; map = map->l_next) {
        const Tables tables{*map};
        const bool has_other_table = tables.symbols != 0 && tables.hash == 0;
        if (count == objects_max || has_other_table) {
            return false;
        }
        count += read(tables, objects_[count]) ? 1 : 0;
    }
    count_ = count;
    return true;
}

const Elf64_Sym* NextSymbols::find(const Object& object, const char* name,
                                   std::uint32_t hash) noexcept {
    const std::uint64_t word = object.bloom[(hash / 64) & object.bloom_mask];
    const std::uint32_t other = hash >> object.bloom_shift;
    if ((word >> (hash % 64) & word >> (other % 64) & 1U) == 0) {
        return nullptr;
    }
    std::uint32_t index = object.buckets[hash % object.bucket_count];
    if (index < object.first) {
        return nullptr;
    }
    for (bool last = false; !last; ++index) {
        const std::uint32_t chained = object.chains[index - object.first];
        const Elf64_Sym& symbol = object.symbols[index];
        if ((chained | 1U) == (hash | 1U) && symbol.st_shndx != SHN_UNDEF &&
            (object.versions == nullptr || (object.versions[index] & hidden_version) == 0) &&
            same(object.names + symbol.st_name, name)) {
            return &symbol;
        }
        last = (chained & 1U) != 0;
    }
    return nullptr;
}

void* NextSymbols::address_of(const Object& object, const Elf64_Sym& symbol) noexcept {
    const bool plain = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
    return plain ? reinterpret_cast<void*>(object.base + symbol.st_value) : nullptr;
}

void* NextSymbols::find(const char* name) const noexcept {
    const std::uint32_t hash = hash_of(name);
    for (std::size_t at = 0; at < count_; ++at) {
        const Object& object = objects_[at];
        if (const Elf64_Sym* const found = find(object, name, hash)) {
            return address_of(object, *found);
        }
    }
    return nullptr;
}

void* NextSymbols::find_behind(const char* name) noexcept {
    const link_map* map = own_map();
    const std::uint32_t hash = hash_of(name);
    for (map = map == nullptr ? nullptr : map->l_next; map != nullptr; map = map->l_next) {
        Object object;
        const Elf64_Sym* const found =
            read(Tables{*map}, object) ? find(object, name, hash) : nullptr;
        if (found != nullptr) {
            return address_of(object, *found);
        }
    }
    return nullptr;
}

// Libraries loaded at the start do not overlap, so it is the one with the highest base not above
// the address.
bool ObjectSymbols::learn(const void* inside) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(inside);
    const link_map* best = nullptr;
    for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
        if (map->l_addr <= address && (best == nullptr || map->l_addr > best->l_addr)) {
            best = map;
        }
    }
    known_ = best != nullptr && NextSymbols::read(NextSymbols::Tables{*best}, object_);
    return known_;
}

void* ObjectSymbols::find(const char* name) const noexcept {
    if (!known_) {
        return nullptr;
    }
    const Elf64_Sym* const found = NextSymbols::find(object_, name, hash_of(name));
    return found == nullptr ? nullptr : NextSymbols::address_of(object_, *found);
}

}  // namespace forebay::capture
