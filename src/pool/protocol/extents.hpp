// The deposits of a file as a list of extents that do not overlap, ordered by offset: a skip list
// in the directory (Pugh, Communications of the ACM 33(6), 1990), with numbers for pointers. The
// daemon changes it by this class; clients search it at the same time (search.hpp) and find out
// afterwards whether what they saw was whole.
#pragma once

#include "foundation/base/units.hpp"
#include "pool/protocol/directory.hpp"
#include "pool/protocol/search.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forebay::pool {

// The daemon's hand on the lists of all files.
class FileExtents {
public:
    explicit FileExtents(Directory& directory);

    // The newest bytes of the file. Appends what they displaced, and is therefore free, to
    // `displaced`. False, and nothing changed, where there is no room for more extents.
    [[nodiscard]] bool put(FileSlot& file, const Deposit& deposit, std::vector<Deposit>& displaced);
    // Takes out what is still there of this very deposit; appends it to `taken`. False: there is no
    // room to split one.
    [[nodiscard]] bool take(FileSlot& file, const Deposit& deposit, std::vector<Deposit>& taken);
    // Takes out whatever lies in the range.
    [[nodiscard]] bool cut(FileSlot& file, const Extent& range, std::vector<Deposit>& taken);
    // The first that ends behind `at`.
    [[nodiscard]] std::optional<Deposit> next(const FileSlot& file, Offset at) const noexcept;
    // Extents that may still be made.
    [[nodiscard]] std::size_t room() const noexcept;

private:
    using Before = std::array<std::atomic<std::uint32_t>*, levels>;
    // Where a client's last deposit went: the next one, a little further on, is searched for from
    // there, however many extents lie before it.
    struct Finger {
        const FileSlot* file = nullptr;
        std::uint64_t unlinked = 0;                  // how many extents had been by then
        std::array<std::uint32_t, levels> passed{};  // the last before it; no_extent: none
    };

    ExtentNode& node(std::uint32_t number) const noexcept { return directory_.extents[number]; }
    // The links that lead to the first extent that ends behind `at`.
    [[nodiscard]] Before links_to(FileSlot& file, std::int64_t at) const noexcept;
    // The same from where the finger points, which points there then.
    [[nodiscard]] Before links_to(FileSlot& file, std::int64_t at, Finger& finger) const noexcept;
    [[nodiscard]] bool points_before(const Finger& finger, const FileSlot& file,
                                     std::int64_t at) const noexcept;
    std::uint32_t make(const Deposit& deposit);
    void link(FileSlot& file, const Before& before, std::uint32_t number) noexcept;
    void unlink(FileSlot& file, const Before& before, std::uint32_t number) noexcept;
    bool extend(FileSlot& file, const Deposit& deposit, Finger& finger) noexcept;
    template <class Wanted>
    bool remove(FileSlot& file, const Extent& range, std::vector<Deposit>& taken,
                const Wanted& wanted, Finger& finger);

    Directory& directory_;
    std::vector<std::uint32_t> unused_;
    std::uint32_t fresh_ = 1;  // numbers from here on were never used
    std::uint64_t dice_ = 1;
    std::uint64_t unlinked_ = 0;
    std::vector<Finger> fingers_;  // one for each client
};

}  // namespace forebay::pool
