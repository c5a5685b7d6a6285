// A node in simulated time, for tests: a daemon with its pool, and clients that write and read as
// programs do, over plain memory. Requests that go over the daemon's socket on a real node are
// carried out between two rounds. An actor that reads a clock may be overtaken by others there; so
// may the pool in the middle of a round.
#pragma once

#include "pool/client/log_writer.hpp"
#include "pool/client/reader.hpp"
#include "pool/core/pool.hpp"
#include "pool/core/tests/sparse_check.hpp"
#include "pool/core/tests/world_parts_check.hpp"
#include "pool/protocol/read_cache.hpp"
#include "worlds/memory/world.hpp"
#include "worlds/memory/world_storage.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace forebay::pool {

struct NodeOptions {
    FileStripes stripes{};  // the stripes of all files
    enum class BackgroundIo { at_once, slow };
    BackgroundIo background_io = BackgroundIo::at_once;
    std::int64_t memory_max = std::int64_t{1} << 40;  // blocks of memory that the node has
    const ports::TimeSource* effort = nullptr;        // see PoolPorts
    JournalWriter* journal = nullptr;                 // see PoolPorts
    FileRule rule{};                                  // the rule of all files
    bool fills = true;                                // whether Daemon::fill works
    bool sees = true;                                 // whether Daemon::sees works
};

class Node;

class NodeClient final : private Daemon {
public:
    NodeClient(Node& node, std::uint32_t client, Log log);

    [[nodiscard]] std::uint32_t number() const noexcept { return client_; }
    [[nodiscard]] const Log& log() const noexcept { return log_; }
    [[nodiscard]] LogWriter& log_writer() noexcept { return log_writer_; }
    // If the daemon ends before it gets the request, `slot` is files_max: no daemon knows the file.
    [[nodiscard]] FileId open(adapters::MemoryFile& file, AccessMode access);
    // Writes as a program does: to the pool, or directly if the file is not pooled (any more).
    // Returns the bytes written; if there are fewer than wanted, an errno, too.
    struct Put {
        std::size_t taken = 0;
        int error = 0;
    };
    [[nodiscard]] Put write(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                            std::span<const std::byte> bytes);
    void put_directly(adapters::MemoryFile& file, std::int64_t offset,
                      std::span<const std::byte> bytes);
    [[nodiscard]] std::int64_t read(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                                    std::span<std::byte> bytes);
    // `after` is called between the file system's answer and the reader's use of it.
    [[nodiscard]] std::int64_t read(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                                    std::span<std::byte> bytes, const std::function<void()>& after);
    [[nodiscard]] int ask(FileId id, const FileTask& task);
    void close(FileId id);
    void kick() noexcept override;

    // The number of times that it prepared a block's memory before touching it first.
    [[nodiscard]] std::int64_t prepared() const noexcept { return prepared_; }
    // The number of writes into memory that was not mapped.
    [[nodiscard]] std::int64_t filled() const noexcept { return filled_; }

private:
    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
    void wait(const Word& word, std::uint32_t seen) noexcept override;
    [[nodiscard]] Log log_of(std::uint32_t client) noexcept override;
    [[nodiscard]] bool sees(std::uint32_t client) noexcept override;
    void prepare(std::byte* begin, std::size_t bytes) noexcept override;
    [[nodiscard]] bool fill(std::byte* to, std::span<const std::byte> bytes) noexcept override;

    Node& node_;
    std::uint32_t client_;
    Log log_;
    // Logs mapped before, with their process.
    std::map<std::uint32_t, std::pair<std::uint64_t, Log>> others_;
    std::map<std::uint32_t, adapters::MemoryFile*> files_;  // files that it has opened, by slot
    LogWriter log_writer_;
    PoolReader reader_;
    ReadAheadPolicy guess_;  // for all files: a client of a test reads one
    std::int64_t prepared_ = 0;
    std::int64_t filled_ = 0;
};

class Node final : private LogMemory, private CleanMemory, private WordSleepers {
public:
    explicit Node(const adapters::MemoryWorldOptions& world, const PoolOptions& options = {},
                  const NodeOptions& node = {});
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() override = default;

    // Adds the daemon, an actor that runs the pool until all clients have gone and everything is
    // drained.
    void daemon();
    // Called by an actor: the daemon drains and ends though clients are there, as
    // pool/daemon/server.cpp does.
    void stop();
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // Adds an actor that is a client. It is dismissed when it has ended or died.
    void client(const std::string& name, std::function<void(NodeClient&)> body);
    adapters::WorldEnding run();

    [[nodiscard]] adapters::MemoryWorld& world() noexcept { return world_; }
    [[nodiscard]] Pool& pool() noexcept { return pool_; }
    [[nodiscard]] Directory& directory() noexcept { return directory_; }
    [[nodiscard]] Control::Facts& facts(adapters::MemoryFile& file);
    [[nodiscard]] const NodeOptions& options() const noexcept { return options_; }
    // Blocks that have memory.
    [[nodiscard]] std::int64_t provided() const noexcept { return std::ssize(provided_); }
    [[nodiscard]] std::int64_t most_provided() const noexcept { return most_provided_; }
    // The stamp of a file when it is opened. Tests change it to simulate a change by somebody else.
    [[nodiscard]] ChangeStamp stamp_of(adapters::MemoryFile& file) {
        return {file.size().bytes(), changed_ns[&file], changed_ns[&file]};
    }
    std::map<adapters::MemoryFile*, std::int64_t> changed_ns;
    // Read-cache blocks that have memory.
    [[nodiscard]] std::int64_t clean_provided() const noexcept {
        return std::ssize(clean_provided_);
    }
    [[nodiscard]] std::byte* clean_memory() noexcept { return clean_.begin(); }
    // Bytes that clients have read from files themselves.
    std::int64_t read_directly = 0;
    std::int64_t direct_read_ns = 0;  // how long each such read takes
    [[nodiscard]] Log log_of(std::uint32_t client) const {
        const auto log = logs_.find(client);
        return log == logs_.end() ? Log{} : Log{log->second->begin()};
    }
    using Storages = std::function<std::unique_ptr<ports::FileStorage>(adapters::MemoryFile&)>;
    // The storage to use instead of plain memory files.
    void set_storage(Storages storages) { storages_ = std::move(storages); }
    [[nodiscard]] std::unique_ptr<ports::FileStorage> storage_of(adapters::MemoryFile& file) {
        return storages_ ? storages_(file)
                         : std::move(*open_memory(world_, file, IoDirection::write));
    }
    // Returns when the daemon has called `what`, between two rounds, or has ended.
    void say(std::function<void()> what);
    // Returns when the daemon has answered; 0 if it has ended.
    [[nodiscard]] int wait_for(std::uint64_t ticket);
    void kick();

private:
    struct Life {
        std::string name;
        std::optional<std::uint32_t> client;
        bool dismissed = false;
        bool departed = false;
    };
    // Shared by the daemon and the client that asks, which may die meanwhile.
    struct Said {
        std::function<void()> what;
        bool done = false;
    };
    bool provide(std::uint32_t client, std::uint32_t block) override;
    void release(std::uint32_t client, std::uint32_t block) override;
    std::byte* block(std::uint32_t number) override { return clean_.begin() + clean_place(number); }
    bool provide(std::uint32_t number) override {
        EXPECT_TRUE(clean_provided_.insert(number).second) << "it was not there";
        return true;
    }
    void release(std::uint32_t number) override {
        EXPECT_EQ(clean_provided_.erase(number), 1U) << "it was there";
    }
    void wake(Word& word) override { world_.wake(&word); }
    void listen();
    bool look_after_clients();
    bool ends();

    NodeOptions options_;
    adapters::MemoryWorld world_;
    CrowdedClock clock_{world_};
    SlowBackgroundIo slow_background_io_{world_};
    Sparse memory_{sizeof(Directory)};
    Directory& directory_{*reinterpret_cast<Directory*>(memory_.begin())};
    // Kept, since dead clients' code still looks at them.
    std::map<std::uint32_t, std::unique_ptr<Sparse>> logs_;
    std::map<adapters::MemoryFile*, Control::Facts> facts_;
    Storages storages_;
    std::vector<std::unique_ptr<Life>> lives_;
    std::deque<std::shared_ptr<Said>> said_;
    std::map<std::uint64_t, int> answers_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> provided_;
    std::int64_t most_provided_ = 0;
    Sparse clean_{clean_max * block_bytes};
    std::set<std::uint32_t> clean_provided_;
    Word bell_{0};
    bool ending_ = false;
    std::optional<std::uint64_t> stopping_;  // the ticket of draining everything
    bool ended_ = false;
    Pool pool_;
};

inline NodeClient::NodeClient(Node& node, std::uint32_t client, Log log)
    : node_{node},
      client_{client},
      log_{log},
      log_writer_{node.directory(), log, client, *this},
      reader_{node.directory(),
              *this,
              {.hint_writer = &log_writer_, .client = client, .blocks = node.clean_memory()}} {}

inline FileId NodeClient::open(adapters::MemoryFile& file, AccessMode access) {
    FileId id{.slot = files_max};
    node_.world().step({"ask to open"});
    node_.say([this, &file, access, &id] {
        const std::uint64_t inode = node_.facts(file).inode;
        DaemonFile open{.identity = inode == 0 ? file.identity() : ports::FileIdentity{1, inode},
                        .storage = node_.storage_of(file),
                        .control = std::make_unique<Control>(node_.facts(file)),
                        .stripes = node_.options().stripes,
                        .path = "file",
                        .stamp = node_.stamp_of(file),
                        .rule = node_.options().rule,
                        .open_for_reading = [&node = node_, &file](const auto& /*seen*/) {
                            return std::move(*open_memory(node.world(), file, IoDirection::read));
                        }};
        if (access == AccessMode::read) {
            open.storage.reset();
        }
        const auto opened = node_.pool().open(client_, std::move(open), access);
        EXPECT_TRUE(opened.has_value());
        id = {opened->slot, opened->generation};
        files_[id.slot] = &file;
    });
    return id;
}

inline NodeClient::Put NodeClient::write(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                                         std::span<const std::byte> bytes) {
    const WriteResult written = log_writer_.write(id, offset, bytes);
    switch (written.rest) {
        case WriteResult::Rest::none: return {written.taken, 0};
        case WriteResult::Rest::failed: return {written.taken, written.error};
        case WriteResult::Rest::lost: return {written.taken, EIO};
        case WriteResult::Rest::through: break;
    }
    const WriteResult settled = log_writer_.settle(id);
    if (settled.rest != WriteResult::Rest::through) {
        return {written.taken, settled.rest == WriteResult::Rest::failed ? settled.error : EIO};
    }
    put_directly(file, offset + static_cast<std::int64_t>(written.taken),
                 bytes.subspan(written.taken));
    return {bytes.size(), 0};
}

inline void NodeClient::put_directly(adapters::MemoryFile& file, std::int64_t offset,
                                     std::span<const std::byte> bytes) {
    node_.world().step({"pwrite"});
    file.put(Offset{offset}, bytes);
}

inline std::int64_t NodeClient::read(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                                     std::span<std::byte> bytes) {
    return read(id, file, offset, bytes, [] {});
}

inline std::int64_t NodeClient::read(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                                     std::span<std::byte> bytes,
                                     const std::function<void()>& after) {
    struct FileBelow final : BackingFile {
        FileBelow(Node& of, adapters::MemoryFile& memory, const std::function<void()>& then)
            : node{of}, file{memory}, after{then} {}
        ~FileBelow() = default;
        std::int64_t read(std::int64_t at, std::span<std::byte> into) noexcept override {
            node.world().step({"pread"});
            if (node.direct_read_ns > 0) {
                node.world().sleep(node.direct_read_ns);
            }
            const std::int64_t count = std::clamp<std::int64_t>(
                file.size().bytes() - at, 0, static_cast<std::int64_t>(into.size()));
            const std::vector<std::byte> bytes = file.get({Offset{at}, Length{count}});
            std::copy_n(bytes.begin(), bytes.size(), into.begin());
            node.read_directly += count;
            after();
            node.world().step({"have read"});
            return count;
        }
        Node& node;
        adapters::MemoryFile& file;
        const std::function<void()>& after;
    };
    FileBelow backing{node_, file, after};
    node_.world().step({"read"});
    return reader_.read(id, backing, &guess_, offset, bytes);
}

inline int NodeClient::ask(FileId id, const FileTask& task) {
    std::uint64_t ticket = 0;
    node_.world().step({"ask"});
    node_.say([&] { ticket = node_.pool().ask(id.slot, id.generation, task); });
    const int error = node_.wait_for(ticket);
    if (error == ESTALE && task.kind == FileTask::Kind::truncate) {
        // The file is through: as in pool/capture/files/files.cpp.
        node_.world().step({"ftruncate"});
        node_.facts(*files_.at(id.slot)).truncate(task.bytes);
        return 0;
    }
    const FileSlot& slot = node_.directory().files[id.slot];
    if (error == 0 && task.kind == FileTask::Kind::sync && slot.state == FileState::through &&
        slot.generation == id.generation) {
        node_.world().step({"fsync"});
        return node_.storage_of(*files_.at(id.slot))->sync() ? 0 : EIO;
    }
    return error;
}

inline void NodeClient::close(FileId id) {
    node_.world().step({"close"});
    node_.say([&] { node_.pool().close(client_, id.slot, id.generation); });
}

inline std::int64_t NodeClient::now_ns() const noexcept {
    node_.world().step({"look at the clock"});
    return node_.world().now_ns();
}

inline void NodeClient::kick() noexcept { node_.kick(); }

// As a process does, waits for a limited time.
inline void NodeClient::wait(const Word& word, std::uint32_t seen) noexcept {
    node_.world().step({"wait for the daemon"});
    if (word.load() == seen) {
        node_.world().wait_for(&word, 10'000'000, {"the daemon"});
    }
}

// As a process does, maps the log while a client has this number.
inline Log NodeClient::log_of(std::uint32_t client) noexcept {
    node_.world().step({"look for a log"});
    if (client == client_) {
        return log_;
    }
    const std::uint64_t process = node_.directory().clients[client].used.load();
    auto& [mapped_process, mapped] = others_[client];
    if (mapped.mapped() && (mapped_process == process)) {
        return mapped;
    }
    if (process == 0) {
        return {};
    }
    mapped_process = process;
    mapped = node_.log_of(client);
    return mapped;
}

inline bool NodeClient::sees(std::uint32_t client) noexcept {
    return client == client_ || node_.options().sees;
}

inline void NodeClient::prepare(std::byte* /*begin*/, std::size_t /*bytes*/) noexcept {
    ++prepared_;
    node_.world().step({"copy"});
}

inline bool NodeClient::fill(std::byte* to, std::span<const std::byte> bytes) noexcept {
    node_.world().step({"copy"});
    if (!node_.options().fills) {
        return false;
    }
    ++filled_;
    std::ranges::copy(bytes, to);
    return true;
}

// The limit makes a world that is stuck fail soon.
inline adapters::MemoryWorldOptions bounded(adapters::MemoryWorldOptions world) {
    world.steps_max = std::min<std::int64_t>(world.steps_max, 1'000'000);
    return world;
}

inline Node::Node(const adapters::MemoryWorldOptions& world, const PoolOptions& options,
                  const NodeOptions& node)
    : options_{node},
      world_{bounded(world)},
      pool_{directory_,
            {.memory = *this,
             .sleepers = *this,
             .clock = clock_,
             .calendar = world_,
             .background_io = node.background_io == NodeOptions::BackgroundIo::slow
                                  ? &slow_background_io_
                                  : nullptr,
             .clean = this,
             .effort = node.effort,
             .journal = node.journal},
            options} {}

inline Control::Facts& Node::facts(adapters::MemoryFile& file) {
    const auto [facts, fresh] = facts_.try_emplace(&file);
    if (fresh) {
        facts->second.truncate = [&file](Length bytes) { file.truncate(bytes); };
        facts->second.stamp = [this, &file] { return stamp_of(file); };
    }
    return facts->second;
}

inline bool Node::provide(std::uint32_t client, std::uint32_t block) {
    if (provided() >= options_.memory_max) {
        return false;
    }
    EXPECT_TRUE(provided_.insert({client, block}).second) << "it was not there";
    most_provided_ = std::max(most_provided_, provided());
    return true;
}

inline void Node::release(std::uint32_t client, std::uint32_t block) {
    EXPECT_EQ(provided_.erase({client, block}), 1U) << "it was there";
    std::memset(Log{logs_.at(client)->begin()}.block(block), 0, block_bytes);
}

inline void Node::kick() {
    bell_.fetch_add(1);
    world_.wake(&bell_);
}

inline void Node::say(std::function<void()> what) {
    const auto said = std::make_shared<Said>(Said{std::move(what)});
    said_.push_back(said);
    kick();
    while (!said->done && !ended_) {
        world_.wait_for(said.get(), 10'000'000, {"being heard"});
    }
}

inline void Node::listen() {
    while (!said_.empty()) {
        const auto said = said_.front();
        said_.pop_front();
        said->what();
        said->done = true;
        world_.wake(said.get());
    }
}

inline int Node::wait_for(std::uint64_t ticket) {
    kick();
    while (!answers_.contains(ticket) && !ended_) {
        world_.wait_for(&answers_, 10'000'000, {"an answer"});
    }
    return answers_.contains(ticket) ? answers_.at(ticket) : 0;
}

inline void Node::stop() {
    say([this] {
        pool_.close_down(ThroughReason::closing);
        stopping_ = pool_.drain_all();
    });
}

// As DaemonShutdown::is_complete, and then the server's finish().
inline bool Node::ends() {
    if (!stopping_ || !answers_.contains(*stopping_) || !pool_.all_taken() ||
        pool_.closes_under_way()) {
        return false;
    }
    for (std::size_t slot = 0; slot < files_max; ++slot) {
        const FileSlot& file = directory_.files[slot];
        const bool known = (directory_.files_known[slot / 64].load() >> slot % 64 & 1U) != 0;
        if (known && file.error == 0 &&
            (file.taken > file.drained || file.state == FileState::leaving)) {
            return false;
        }
    }
    pool_.refuse_commits();
    pool_.end();
    ended_ = true;
    return true;
}

inline void Node::client(const std::string& name, std::function<void(NodeClient&)> body) {
    lives_.push_back(std::make_unique<Life>());
    Life& life = *lives_.back();
    life.name = name;
    const std::uint64_t process = lives_.size();
    world_.spawn(name, [this, &life, process, body = std::move(body)] {
        world_.step({"say hello"});
        say([&] {
            auto log = std::make_unique<Sparse>(LogShape::bytes);
            life.client = pool_.admit(process, Log{log->begin()});
            EXPECT_TRUE(life.client.has_value());
            logs_[*life.client] = std::move(log);
        });
        if (!life.client) {
            return;  // the daemon has ended
        }
        NodeClient self{*this, *life.client, log_of(*life.client)};
        body(self);
    });
}

// Returns true when all clients have gone.
inline bool Node::look_after_clients() {
    for (const auto& life : lives_) {
        const bool over =
            !world_.alive(life->name) || (life->client && pool_.distrusted(*life->client));
        if (life->client && !life->dismissed && over) {
            pool_.dismiss(*life->client);
            life->dismissed = true;
        }
        if (life->dismissed && !life->departed) {
            life->departed = pool_.forget_if_departed(*life->client);
        }
    }
    const bool over = std::ranges::none_of(lives_, [&](const auto& life) {
        return world_.alive(life->name) || (life->client && !life->dismissed);
    });
    if (over && !std::exchange(ending_, true)) {
        static_cast<void>(pool_.drain_all());
    }
    return std::ranges::all_of(lives_, [&](const auto& life) {
        return !world_.alive(life->name) && (life->departed || !life->client);
    });
}

inline void Node::daemon() {
    world_.spawn("daemon", [this] {
        for (;;) {
            const std::uint32_t seen = bell_.load();
            const bool any = pool_.run_once();
            listen();
            for (const TaskCompletion& done : pool_.done()) {
                answers_[done.ticket] = done.error;
                world_.wake(&answers_);
            }
            if (ends() || (look_after_clients() && pool_.idle() && said_.empty())) {
                return;
            }
            world_.step({"look round"});
            if (!any && bell_.load() == seen) {
                world_.wait_for(&bell_, 1'000'000, {"the bell"});
            }
        }
    });
}

inline adapters::WorldEnding Node::run() {
    const adapters::WorldEnding ending = world_.run();
    EXPECT_EQ(ending.kind, adapters::WorldEnding::Kind::ended) << ending.report;
    return ending;
}

// Adds `count` clients, "reader 0" or "writer 0" …, each of which opens `file` first.
inline void add_clients(Node& node, int count, adapters::MemoryFile& file, AccessMode access,
                        const std::function<void(NodeClient&, FileId, int)>& body) {
    const std::string name = access == AccessMode::read ? "reader " : "writer ";
    for (int i = 0; i < count; ++i) {
        node.client(name + std::to_string(i), [&file, access, body, i](NodeClient& self) {
            body(self, self.open(file, access), i);
        });
    }
}

// Runs the daemon and one client, which opens `file` first, to their end.
inline void run_client(Node& node, adapters::MemoryFile& file, AccessMode access,
                       const std::function<void(NodeClient&, FileId)>& body) {
    node.daemon();
    node.client("client", [&](NodeClient& self) { body(self, self.open(file, access)); });
    node.run();
}

}  // namespace forebay::pool
