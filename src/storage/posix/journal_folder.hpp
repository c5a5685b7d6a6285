// A journal's device: a folder of files of one size. A thread writes and another one makes
// segments, so that nobody else waits for the device.
#pragma once

#include "foundation/base/own_fd.hpp"
#include "foundation/base/result.hpp"
#include "foundation/ports/journal_device.hpp"
#include "storage/posix/mapping.hpp"
#include "storage/posix/side_thread.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace forebay::adapters {

class JournalFolder final : public ports::JournalDevice {
public:
    static constexpr std::int64_t usual_segment_bytes = std::int64_t{32} << 20;

    // Makes the folder where it is not there, for its user only. Refused: what does not outlive the
    // node (tmpfs, ramfs, an overlay of which that cannot be told), what another daemon has, and
    // what somebody else may have put there
    // (docs/decisions/0039-who-may-have-written-a-journal.md).
    [[nodiscard]] static Result<std::unique_ptr<JournalFolder>> open(
        const std::string& path, std::int64_t segment_bytes = usual_segment_bytes);
    JournalFolder(const JournalFolder&) = delete;
    JournalFolder& operator=(const JournalFolder&) = delete;
    // Waits for what is under way.
    ~JournalFolder() override = default;

    // An eventfd: readable when something that was begun has ended.
    [[nodiscard]] int bell() const noexcept { return bell_.get(); }

    [[nodiscard]] std::int64_t segment_bytes() const noexcept override { return segment_bytes_; }
    [[nodiscard]] const ports::JournalKey& key() const noexcept override { return key_; }
    [[nodiscard]] std::vector<std::uint32_t> segments() override;
    [[nodiscard]] Result<std::span<const std::byte>> look(std::uint32_t segment) override;
    [[nodiscard]] int settle() override;
    void begin_writing(const Write& write) override;
    [[nodiscard]] std::optional<int> ended() override { return writes_.ended(); }
    [[nodiscard]] int wait() override { return writes_.wait(); }
    void begin_adding(std::uint32_t segment) override;
    [[nodiscard]] std::optional<int> added() override { return adds_.ended(); }
    [[nodiscard]] int wait_until_added() override { return adds_.wait(); }
    [[nodiscard]] int remove(std::uint32_t segment) override;

private:
    // The means by which a write becomes durable.
    enum class Sync { by_each_write, by_fdatasync };

    JournalFolder(std::string path, std::int64_t segment_bytes, OwnFd folder, OwnFd lock,
                  OwnFd bell, Sync sync);
    [[nodiscard]] static std::string name_of(std::uint32_t segment);
    Result<void> find_key();
    [[nodiscard]] int make_key();
    [[nodiscard]] std::int64_t bytes_of(std::uint32_t segment) const noexcept {
        return segment == head ? head_bytes : segment_bytes_;
    }
    [[nodiscard]] Error without(const Error& why, const std::string& name) const;
    [[nodiscard]] Result<OwnFd> open_segment(std::uint32_t segment, int flags);
    [[nodiscard]] int try_both(const std::function<int()>& call);
    [[nodiscard]] int fill(std::uint32_t segment);
    [[nodiscard]] int add(std::uint32_t segment);
    [[nodiscard]] int write_once(const Write& write);
    [[nodiscard]] int write(const Write& write);

    std::string path_;
    std::int64_t segment_bytes_;
    OwnFd folder_;
    OwnFd lock_;
    OwnFd bell_;
    Sync sync_;
    ports::JournalKey key_{};
    std::map<std::uint32_t, MemoryMapping> looked_at_;
    // That are written to: while a write is under way its thread's, else the caller's.
    std::map<std::uint32_t, OwnFd> files_;
    std::atomic<bool> direct_ = true;  // O_DIRECT, as far as is known
    int unlisted_ = 0;                 // why the folder's segments are not all known; 0: they are
    SideThread writes_;
    SideThread adds_;
};

}  // namespace forebay::adapters
