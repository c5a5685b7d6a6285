// The deposits of a file as a list of extents that do not overlap, ordered by offset: a skip list
// (Pugh, Communications of the ACM 33(6), 1990) in the directory, with node numbers instead of
// pointers. The daemon changes it by this class; clients search it at the same time (search.hpp)
// and find out afterwards whether what they saw was consistent.
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

// The daemon's access to the lists of all files. Only the daemon's thread uses it.
class FileExtents {
public:
    explicit FileExtents(Directory& directory);

    // Inserts `deposit` as the newest bytes of the file. Appends the deposits that it overwrote,
    // whose memory is therefore free, to `displaced`. Returns false and changes nothing if no two
    // extents are left: the deposit needs one, and one that it splits needs another.
    [[nodiscard]] bool put(FileSlot& file, const Deposit& deposit, std::vector<Deposit>& displaced);
    // Removes the parts of `deposit` that have not been overwritten since, and appends them to
    // `taken`. Returns false if no extent was left to split one; parts before that one were
    // removed.
    [[nodiscard]] bool take(FileSlot& file, const Deposit& deposit, std::vector<Deposit>& taken);
    // Removes all deposits in `range`, and appends them to `taken`. Returns false as above.
    [[nodiscard]] bool cut(FileSlot& file, const Extent& range, std::vector<Deposit>& taken);
    // The first deposit that ends after `at`; nullopt: there is none.
    [[nodiscard]] std::optional<Deposit> next(const FileSlot& file, Offset at) const noexcept;
    // The number of extents that can still be made, for all files together.
    [[nodiscard]] std::size_t room() const noexcept;

private:
    // For each level of the skip list, the link to change.
    using Before = std::array<std::atomic<std::uint32_t>*, levels>;
    // A finger into the skip list: where the last deposit of a client was inserted. Most writes
    // continue a little further on, and are searched for from there, whatever the number of extents
    // before it. A finger is valid only while no extent has been unlinked since.
    struct Finger {
        const FileSlot* file = nullptr;
        std::uint64_t unlinked = 0;  // the value of unlinked_ at that time
        // For each level, the last extent before it; no_extent: none.
        std::array<std::uint32_t, levels> passed{};
    };

    ExtentNode& node(std::uint32_t number) const noexcept { return directory_.extents[number]; }
    // The links that lead to the first extent that ends after `at`.
    [[nodiscard]] Before links_to(FileSlot& file, std::int64_t at) const noexcept;
    // The same, starting at `finger` if that is still valid; moves `finger` to the result.
    [[nodiscard]] Before links_to(FileSlot& file, std::int64_t at, Finger& finger) const noexcept;
    [[nodiscard]] bool points_before(const Finger& finger, const FileSlot& file,
                                     std::int64_t at) const noexcept;
    // Makes an extent that is not linked yet; its height is random.
    std::uint32_t make(const Deposit& deposit);
    void link(FileSlot& file, const Before& before, std::uint32_t number) noexcept;
    void unlink(FileSlot& file, const Before& before, std::uint32_t number) noexcept;
    // Lengthens the extent that `deposit` continues, in the file and in the log, instead of making
    // one. Returns false if there is no such extent.
    bool extend(FileSlot& file, const Deposit& deposit, Finger& finger) noexcept;
    template <class Wanted>
    bool remove(FileSlot& file, const Extent& range, std::vector<Deposit>& taken,
                const Wanted& wanted, Finger& finger);

    Directory& directory_;
    std::vector<std::uint32_t> unused_;
    std::uint32_t fresh_ = 1;      // extent numbers from here on were never used
    std::uint64_t dice_ = 1;       // state of the random generator for heights
    std::uint64_t unlinked_ = 0;   // counts the extents ever unlinked
    std::vector<Finger> fingers_;  // by client number
};

}  // namespace forebay::pool
