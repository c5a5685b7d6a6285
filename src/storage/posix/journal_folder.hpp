// The port JournalDevice over a directory of files of one size. One thread writes and another
// creates segments, so that the daemon's loop never waits for the device.
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

    // Creates the directory, with access for this user only, if it is missing. Refuses a directory
    // that does not outlive the node (tmpfs, ramfs, an overlay whose upper directory is unknown),
    // one that another daemon uses, and one that other users may have written to
    // (docs/decisions/0039-who-may-have-written-a-journal.md).
    [[nodiscard]] static Result<std::unique_ptr<JournalFolder>> open(
        const std::string& path, std::int64_t segment_bytes = usual_segment_bytes);
    JournalFolder(const JournalFolder&) = delete;
    JournalFolder& operator=(const JournalFolder&) = delete;
    // Waits for writes and creations in progress.
    ~JournalFolder() override = default;

    // An eventfd that becomes readable when a write or creation has ended.
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
    // How a write becomes durable.
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
    // Open segments. Used by the writing thread while a write is in progress, else by the caller.
    std::map<std::uint32_t, OwnFd> files_;
    std::atomic<bool> direct_ = true;  // whether O_DIRECT is used: until a write with it fails
    int unlisted_ = 0;  // errno of an incomplete listing of the directory; 0: it was complete
    SideThread writes_;
    SideThread adds_;
};

}  // namespace forebay::adapters
