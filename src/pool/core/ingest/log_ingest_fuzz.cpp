// Fuzzes the log ingest: one client writes arbitrary things to its log, beside one that behaves.
// The daemon must come to its end, give all memory back, and leave the other's file as that client
// wrote it.
#include "foundation/base/must_check.hpp"
#include "pool/client/log_writer.hpp"
#include "pool/core/pool.hpp"
#include "pool/core/tests/sparse_check.hpp"
#include "worlds/memory/storage.hpp"

#include <cstring>
#include <vector>

using namespace forebay;
using namespace forebay::pool;

namespace {

// Values from the fuzzer's input; zeros after its end.
class Input {
public:
    Input(const std::uint8_t* data, std::size_t size) : data_{data}, left_{size} {}
    [[nodiscard]] bool empty() const noexcept { return left_ == 0; }
    template <class Value>
    Value take() {
        Value value{};
        const std::size_t count = std::min(sizeof value, left_);
        std::memcpy(&value, data_, count);
        data_ += count;
        left_ -= count;
        return value;
    }
    // Mostly a small number, sometimes any.
    std::uint64_t number() {
        const auto how = take<std::uint8_t>();
        return how < 100 ? how : how < 200 ? take<std::uint32_t>() : take<std::uint64_t>();
    }

private:
    const std::uint8_t* data_;
    std::size_t left_;
};

class Ticking final : public ports::TimeSource {
public:
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return now_ += 1000; }

private:
    mutable std::int64_t now_ = 0;
};

class Control final : public ports::FileControl {
public:
    int truncate(Length /*bytes*/) override { return 0; }
    int sync() override { return 0; }
    int set_modified(std::int64_t /*time_ns*/) override { return 0; }
    bool has_name() override { return true; }
    std::optional<ChangeStamp> stamp() override { return std::nullopt; }
    std::int64_t room() override { return -1; }
};

class World final : public pool::LogMemory, public pool::WordSleepers, public pool::Daemon {
public:
    World() {
        for (std::size_t i = 0; i < 2; ++i) {
            must(pool.admit(1 + i, Log{logs[i].begin()}) == i, "it is admitted");
            DaemonFile open{
                .identity = files[i].identity(),
                .storage = std::move(*adapters::open_memory(files[i], IoDirection::write)),
                .control = std::make_unique<Control>(),
                .stripes = {2, 65536},
                .path = "file"};
            const auto opened =
                pool.open(static_cast<std::uint32_t>(i), std::move(open), AccessMode::write);
            must(opened.has_value(), "it is opened");
            ids[i] = {opened->slot, opened->generation};
        }
        pool.run_once();
    }
    virtual ~World() = default;

    bool provide(std::uint32_t /*client*/, std::uint32_t /*block*/) override {
        return ++provided > 0;
    }
    void release(std::uint32_t /*client*/, std::uint32_t /*block*/) override {
        must(--provided >= 0, "what is released was provided");
    }
    void wake(Word& /*word*/) override {}
    [[nodiscard]] bool alive() const noexcept override { return true; }
    [[nodiscard]] std::int64_t now_ns() const noexcept override { return clock.now_ns(); }
    void kick() noexcept override {}
    void wait(const Word& /*word*/, std::uint32_t /*seen*/) noexcept override {
        must(++waits < 100'000, "a wait ends");
        pool.run_once();
    }
    [[nodiscard]] Log log_of(std::uint32_t client) noexcept override {
        return Log{logs[client].begin()};
    }
    void prepare(std::byte* /*begin*/, std::size_t /*bytes*/) noexcept override {}

    Ticking clock;
    std::int64_t provided = 0;
    int waits = 0;
    Sparse shared{sizeof(Directory)};
    Directory& directory{*reinterpret_cast<Directory*>(shared.begin())};
    std::array<Sparse, 2> logs{Sparse{LogShape::bytes}, Sparse{LogShape::bytes}};
    std::array<adapters::MemoryFile, 2> files;
    std::array<FileId, 2> ids;
    Pool pool{directory,
              {.memory = *this, .sleepers = *this, .clock = clock, .calendar = clock},
              {.cap_bytes = 8 << 20, .window_bytes = 4 << 20, .quiet_ns = 1}};
};

void forge(World& world, Input& input) {
    const Log log{world.logs[0].begin()};
    std::uint64_t number = log.header().entries.fetch_add(1);
    number += input.take<std::uint8_t>() == 255 ? input.number() : 0;
    Entry& entry = log.entry(number);
    const auto which = input.take<std::uint8_t>();
    entry.file = which < 200 ? world.ids[which % 2].slot : input.take<std::uint32_t>();
    entry.generation = world.ids[0].generation + (which % 8 == 7 ? 1 : 0);
    entry.offset = static_cast<std::int64_t>(input.number());
    entry.position = input.number();
    entry.length = static_cast<std::uint32_t>(input.number());
    entry.kind = EntryKind{input.take<std::uint8_t>() % 5U / 2U};
    entry.time_ns = static_cast<std::int64_t>(input.number());
    entry.waited_ns = static_cast<std::int64_t>(input.number());
    entry.state = stated(number, EntryState{input.take<std::uint8_t>() % 4U});
    log.header().commits.fetch_add(1);
}

void spoil_header(World& world, Input& input) {
    LogHeader& header = Log{world.logs[0].begin()}.header();
    switch (input.take<std::uint8_t>() % 4) {
        case 0: header.entries = input.number(); break;
        case 1: header.reserved = input.number(); break;
        case 2: header.commits = input.number(); break;
        default: header.reserved.fetch_add(input.number()); break;
    }
}

void write(World& world, LogWriter& log_writer, Input& input, std::vector<std::byte>& expected) {
    const auto at = static_cast<std::int64_t>(input.take<std::uint16_t>());
    const std::vector<std::byte> bytes(1 + input.take<std::uint16_t>(),
                                       std::byte{input.take<std::uint8_t>()});
    const WriteResult written = log_writer.write(world.ids[1], at, bytes);
    must(written.rest == WriteResult::Rest::none, "who is in order is heard");
    const std::size_t end = static_cast<std::size_t>(at) + bytes.size();
    expected.resize(std::max(expected.size(), end));
    std::copy(bytes.begin(), bytes.end(), expected.begin() + at);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input{data, size};
    World world;
    LogWriter log_writer{world.directory, Log{world.logs[1].begin()}, 1, world};
    std::vector<std::byte> expected;
    while (!input.empty()) {
        switch (input.take<std::uint8_t>() % 8) {
            case 0:
            case 1:
            case 2: forge(world, input); break;
            case 3: spoil_header(world, input); break;
            case 4: write(world, log_writer, input, expected); break;
            case 5: world.pool.close(0, world.ids[0].slot, world.ids[0].generation); break;
            case 6: world.pool.dismiss(0); break;
            default: world.pool.run_once(); break;
        }
    }
    world.pool.dismiss(0);
    world.pool.dismiss(1);
    static_cast<void>(world.pool.drain_all());
    int rounds = 0;
    while (!world.pool.forget_if_departed(0) || !world.pool.forget_if_departed(1) ||
           !world.pool.idle()) {
        must(++rounds < 100'000, "it ends");
        world.pool.run_once();
    }
    must(world.provided == 0, "all memory is given back");
    const auto bytes = static_cast<std::int64_t>(expected.size());
    must(world.files[1].size() == Length{bytes}, "the other file has its size");
    must(world.files[1].get({Offset{0}, Length{bytes}}) == expected, "and its bytes");
    return 0;
}
