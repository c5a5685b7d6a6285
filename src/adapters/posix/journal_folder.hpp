// A journal's device: a folder of files of one size. A thread of its own writes, so that nobody
// else waits for the device.
#pragma once

#include "adapters/posix/mapping.hpp"
#include "base/own_fd.hpp"
#include "base/result.hpp"
#include "ports/journal_device.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace forebay::adapters {

class JournalFolder final : public ports::JournalDevice {
public:
    static constexpr std::int64_t usual_segment_bytes = std::int64_t{32} << 20;

    // Makes the folder where it is not there, for its user only. Refused: what does not outlive the
    // node (tmpfs, ramfs, an overlay of which that cannot be told), and what another daemon has.
    [[nodiscard]] static Result<std::unique_ptr<JournalFolder>> open(
        const std::string& path, std::int64_t segment_bytes = usual_segment_bytes);
    JournalFolder(const JournalFolder&) = delete;
    JournalFolder& operator=(const JournalFolder&) = delete;
    // Waits for what is under way.
    ~JournalFolder() override;

    // An eventfd: readable when something that was begun has ended.
    [[nodiscard]] int bell() const noexcept { return bell_.get(); }

    [[nodiscard]] std::int64_t segment_bytes() const noexcept override { return segment_bytes_; }
    [[nodiscard]] std::vector<std::uint32_t> segments() override;
    [[nodiscard]] Result<std::span<const std::byte>> look(std::uint32_t segment) override;
    [[nodiscard]] int settle() override;
    void begin_adding(std::uint32_t segment) override;
    void begin_writing(const Write& write) override;
    [[nodiscard]] std::optional<int> ended() override;
    [[nodiscard]] int wait() override;
    [[nodiscard]] int remove(std::uint32_t segment) override;

private:
    JournalFolder(std::string path, std::int64_t segment_bytes, OwnFd folder, OwnFd lock,
                  OwnFd bell);
    [[nodiscard]] std::string name_of(std::uint32_t segment) const;
    [[nodiscard]] int open_segment(std::uint32_t segment, int flags);
    [[nodiscard]] int try_both(std::uint32_t segment, const std::function<int()>& call);
    [[nodiscard]] int fill(std::uint32_t segment);
    [[nodiscard]] int add(std::uint32_t segment);
    [[nodiscard]] int write(const Write& write);
    void begin(std::function<int()> call);
    void work();

    std::string path_;
    std::int64_t segment_bytes_;
    OwnFd folder_;
    OwnFd lock_;
    OwnFd bell_;
    std::map<std::uint32_t, Mapping> looked_at_;
    // While something is under way the thread's, else the caller's.
    std::map<std::uint32_t, OwnFd> files_;
    bool direct_ = true;  // O_DIRECT, as far as is known
    int unlisted_ = 0;    // why the folder's segments are not all known; 0: they are

    std::mutex mutex_;
    std::condition_variable news_;
    std::function<int()> call_;  // with all below: under the mutex
    bool under_way_ = false;
    bool ending_ = false;
    std::optional<int> answer_;
    std::thread thread_;
};

}  // namespace forebay::adapters
