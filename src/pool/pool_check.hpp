// A node in a world of imagined time, for tests: a daemon with its pool, and clients that write and
// read as programs do, over plain memory.
#pragma once

#include "adapters/memory/world.hpp"
#include "adapters/memory/world_storage.hpp"
#include "pool/client/depositor.hpp"
#include "pool/client/reader.hpp"
#include "pool/pool.hpp"
#include "pool/shared/clean.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace forebay::pool {

// Memory that costs nothing until it is touched.
class Sparse {
public:
    explicit Sparse(std::size_t bytes)
        : bytes_{bytes},
          begin_{::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)} {}
    Sparse(const Sparse&) = delete;
    Sparse& operator=(const Sparse&) = delete;
    ~Sparse() { ::munmap(begin_, bytes_); }
    [[nodiscard]] std::byte* begin() const noexcept { return static_cast<std::byte*>(begin_); }

private:
    std::size_t bytes_;
    void* begin_;
};

// A file's other side: what the pool does with it beside writing it.
class Control final : public ports::FileControl {
public:
    struct Facts {
        bool has_name = true;
        std::int64_t room = -1;
        std::int64_t modified_ns = 0;
        int truncate_error = 0;
        std::function<void(Length)> truncate = [](Length) {};
    };
    explicit Control(Facts& facts) : facts_{facts} {}
    int truncate(Length bytes) override {
        if (facts_.truncate_error == 0) {
            facts_.truncate(bytes);
        }
        return facts_.truncate_error;
    }
    int set_modified(std::int64_t time_ns) override {
        facts_.modified_ns = time_ns;
        return 0;
    }
    bool has_name() override { return facts_.has_name; }
    std::int64_t room() override { return facts_.room; }

private:
    Facts& facts_;
};

class Node;

class NodeClient final : private Daemon {
public:
    NodeClient(Node& node, std::uint32_t client, Log log);

    [[nodiscard]] std::uint32_t number() const noexcept { return client_; }
    [[nodiscard]] const Log& log() const noexcept { return log_; }
    [[nodiscard]] Depositor& depositor() noexcept { return depositor_; }
    [[nodiscard]] FileId open(adapters::MemoryFile& file, Access access);
    [[nodiscard]] std::int64_t read(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                                    std::span<std::byte> bytes);
    [[nodiscard]] int ask(FileId id, const Task& task);
    void close(FileId id);
    [[nodiscard]] ReadAhead& guess() noexcept { return guess_; }

private:
    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override;
    void kick() noexcept override;
    void wait(const Word& word, std::uint32_t seen) noexcept override;
    [[nodiscard]] Log log_of(std::uint32_t client) noexcept override;
    void prepare(std::byte* /*begin*/, std::size_t /*bytes*/) noexcept override {}

    Node& node_;
    std::uint32_t client_;
    Log log_;
    Depositor depositor_;
    Reader reader_;
    ReadAhead guess_;  // of all files: a client of a test reads one
};

class Node final : private Memory, private CleanMemory, private Sleepers {
public:
    explicit Node(const adapters::MemoryWorldOptions& world, const PoolOptions& options = {});
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() override = default;

    // An actor that looks after the pool until all clients have gone and everything is drained.
    void daemon();
    // An actor that is a client; dismissed when it ends, or has died.
    void client(const std::string& name, std::function<void(NodeClient&)> body);
    adapters::Ending run();

    [[nodiscard]] adapters::MemoryWorld& world() noexcept { return world_; }
    [[nodiscard]] Pool& pool() noexcept { return pool_; }
    [[nodiscard]] Directory& directory() noexcept { return directory_; }
    // When it is opened: tests change it where somebody else changes the file.
    [[nodiscard]] Stamp stamp_of(adapters::MemoryFile& file) {
        return {file.size().bytes(), changed_ns[&file], changed_ns[&file]};
    }
    std::map<adapters::MemoryFile*, std::int64_t> changed_ns;
    [[nodiscard]] Control::Facts& facts(adapters::MemoryFile& file) { return facts_[&file]; }
    [[nodiscard]] std::int64_t provided() const noexcept { return provided_; }
    // Clean blocks of which memory is there.
    [[nodiscard]] std::int64_t clean_provided() const noexcept { return clean_provided_; }
    [[nodiscard]] std::byte* clean_memory() noexcept { return clean_.begin(); }
    // Bytes that clients read from files themselves.
    std::int64_t read_directly = 0;
    std::int64_t direct_read_ns = 0;  // how long each such read takes
    [[nodiscard]] Log log_of(std::uint32_t client) const {
        const auto log = logs_.find(client);
        return log == logs_.end() ? Log{} : Log{log->second->begin()};
    }
    // Until the daemon has answered.
    [[nodiscard]] int wait_for(std::uint64_t ticket);
    void kick();

private:
    struct Life {
        std::string name;
        std::optional<std::uint32_t> client;
        bool dismissed = false;
    };
    bool provide(std::uint32_t client, std::uint32_t block) override;
    void release(std::uint32_t client, std::uint32_t block) override;
    std::byte* block(std::uint32_t number) override { return clean_.begin() + clean_place(number); }
    bool provide(std::uint32_t /*number*/) override {
        ++clean_provided_;
        return true;
    }
    void release(std::uint32_t /*number*/) override { --clean_provided_; }
    void wake(Word& word) override { world_.wake(&word); }
    bool look_after_clients();

    adapters::MemoryWorld world_;
    Sparse memory_{sizeof(Directory)};
    Directory& directory_{*reinterpret_cast<Directory*>(memory_.begin())};
    Sparse clean_{clean_max * block_bytes};
    Pool pool_;
    std::map<std::uint32_t, std::unique_ptr<Sparse>> logs_;
    std::map<adapters::MemoryFile*, Control::Facts> facts_;
    std::vector<std::unique_ptr<Life>> lives_;
    std::map<std::uint64_t, int> answers_;
    std::int64_t provided_ = 0;
    std::int64_t clean_provided_ = 0;
    Word bell_{0};
};

inline NodeClient::NodeClient(Node& node, std::uint32_t client, Log log)
    : node_{node},
      client_{client},
      log_{log},
      depositor_{node.directory(), log, client, *this},
      reader_{node.directory(),
              *this,
              {.wishes = &depositor_, .client = client, .blocks = node.clean_memory()}} {}

inline FileId NodeClient::open(adapters::MemoryFile& file, Access access) {
    auto storage = open_memory(node_.world(), file, Direction::write);
    OpenFile open{.identity = file.identity(),
                  .storage = std::move(*storage),
                  .control = std::make_unique<Control>(node_.facts(file)),
                  .stripes = {},
                  .path = "file",
                  .stamp = node_.stamp_of(file),
                  .open_for_reading = [&node = node_, &file] {
                      return std::move(*open_memory(node.world(), file, Direction::read));
                  }};
    if (access == Access::read) {
        open.storage.reset();
    }
    const auto opened = node_.pool().open(client_, std::move(open), access);
    EXPECT_TRUE(opened.has_value());
    return {opened->slot, opened->generation};
}

inline std::int64_t NodeClient::read(FileId id, adapters::MemoryFile& file, std::int64_t offset,
                                     std::span<std::byte> bytes) {
    struct File final : Backing {
        File(Node& where, adapters::MemoryFile& memory) : node{where}, file{memory} {}
        ~File() = default;
        std::int64_t read(std::int64_t at, std::span<std::byte> into) noexcept override {
            const std::int64_t count = std::clamp<std::int64_t>(
                file.size().bytes() - at, 0, static_cast<std::int64_t>(into.size()));
            node.read_directly += count;
            if (node.direct_read_ns > 0) {
                node.world().sleep(node.direct_read_ns);
            }
            std::ranges::copy(file.get({Offset{at}, Length{count}}), into.begin());
            return count;
        }
        Node& node;
        adapters::MemoryFile& file;
    };
    File backing{node_, file};
    node_.world().step({"read"});
    return reader_.read(id, backing, &guess_, offset, bytes);
}

inline int NodeClient::ask(FileId id, const Task& task) {
    node_.world().step({"ask"});
    return node_.wait_for(node_.pool().ask(id.slot, id.generation, task));
}

inline void NodeClient::close(FileId id) {
    node_.world().step({"close"});
    node_.pool().close(client_, id.slot, id.generation);
}

inline std::int64_t NodeClient::now_ns() const noexcept {
    node_.world().step({"look at the clock"});
    return node_.world().now_ns();
}

inline void NodeClient::kick() noexcept { node_.kick(); }

inline void NodeClient::wait(const Word& word, std::uint32_t seen) noexcept {
    node_.world().step({"wait for the daemon"});
    while (word.load() == seen) {
        node_.world().wait(&word, {"the daemon"});
    }
}

inline Log NodeClient::log_of(std::uint32_t client) noexcept {
    node_.world().step({"look for a log"});
    return node_.log_of(client);
}

inline Node::Node(const adapters::MemoryWorldOptions& world, const PoolOptions& options)
    : world_{world},
      pool_{
          directory_,
          {.memory = *this, .sleepers = *this, .clock = world_, .calendar = world_, .clean = this},
          options} {}

inline bool Node::provide(std::uint32_t /*client*/, std::uint32_t /*block*/) {
    ++provided_;
    return true;
}

inline void Node::release(std::uint32_t /*client*/, std::uint32_t /*block*/) { --provided_; }

inline void Node::kick() {
    bell_.fetch_add(1);
    world_.wake(&bell_);
}

inline int Node::wait_for(std::uint64_t ticket) {
    kick();
    while (!answers_.contains(ticket)) {
        world_.wait(&answers_, {"an answer"});
    }
    return answers_.at(ticket);
}

inline void Node::client(const std::string& name, std::function<void(NodeClient&)> body) {
    lives_.push_back(std::make_unique<Life>());
    Life& life = *lives_.back();
    life.name = name;
    world_.spawn(name, [this, &life, body = std::move(body)] {
        auto log = std::make_unique<Sparse>(LogShape::bytes);
        world_.step({"say hello"});
        life.client = pool_.admit(1 + lives_.size(), Log{log->begin()});
        ASSERT_TRUE(life.client.has_value());
        logs_[*life.client] = std::move(log);
        NodeClient self{*this, *life.client, log_of(*life.client)};
        body(self);
    });
}

// True when all have gone.
inline bool Node::look_after_clients() {
    for (const auto& life : lives_) {
        if (life->client && !life->dismissed && !world_.alive(life->name)) {
            pool_.dismiss(*life->client);
            life->dismissed = true;
        }
        if (life->dismissed && logs_.contains(*life->client) && pool_.departed(*life->client)) {
            logs_.erase(*life->client);
        }
    }
    return logs_.empty() &&
           std::ranges::none_of(lives_, [&](const auto& life) { return world_.alive(life->name); });
}

inline void Node::daemon() {
    world_.spawn("daemon", [this] {
        for (;;) {
            const std::uint32_t seen = bell_.load();
            const bool any = pool_.advance();
            for (const Done& done : pool_.done()) {
                answers_[done.ticket] = done.error;
                world_.wake(&answers_);
            }
            if (look_after_clients() && pool_.idle()) {
                return;
            }
            world_.step({"look round"});
            if (!any && bell_.load() == seen) {
                world_.wait_for(&bell_, 1'000'000, {"the bell"});
            }
        }
    });
}

inline adapters::Ending Node::run() {
    const adapters::Ending ending = world_.run();
    EXPECT_EQ(ending.kind, adapters::Ending::Kind::ended) << ending.report;
    return ending;
}

}  // namespace forebay::pool
