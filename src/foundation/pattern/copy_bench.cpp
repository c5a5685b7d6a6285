// Measures the cost of moving a piece, window by window as in the engine. The line "memcpy" of the
// same run is the machine's limit.
#include "foundation/pattern/copy.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

using namespace forebay;
using namespace forebay::pattern;

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
constexpr std::int64_t window_bytes = 4 * mebibyte;
constexpr std::int64_t data_bytes = 64 * mebibyte;
constexpr int repetitions = 5;

struct Type {
    Nest nest;
    std::int64_t extent = 0;
};

// Pieces of `piece` bytes, one in each `stride` bytes.
Type vector_of(std::int64_t piece, std::int64_t stride) {
    const std::int64_t count = data_bytes / piece;
    return Type{Nest::repeat(Nest::run(piece), count, stride), count * stride};
}

// A subarray: rows of `count` pieces.
Type rows_of(std::int64_t piece, std::int64_t stride, std::int64_t count, std::int64_t row) {
    const std::int64_t rows = data_bytes / (piece * count);
    return Type{Nest::repeat(Nest::repeat(Nest::run(piece), count, stride), rows, row), rows * row};
}

Type list_of(std::int64_t piece, std::int64_t spread) {
    std::vector<std::int64_t> displacements;
    std::uint64_t random = 1;
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < data_bytes / piece; ++i) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        displacements.push_back(at);
        at += piece * (1 + static_cast<std::int64_t>(random >> 40) % spread);
    }
    return Type{Nest::list(Nest::run(piece), displacements), at};
}

Type structs() {
    const std::vector<Nest> members{Nest::run(8), Nest::run(4)};
    const std::vector<std::int64_t> displacements{0, 12};
    return Type{Nest::each(members, displacements), 24};
}

class Bench {
public:
    Bench() : memory_(512 * mebibyte), image_(window_bytes) {
        std::memset(memory_.data(), 1, memory_.size());
        std::memset(image_.data(), 1, image_.size());
    }

    void memory_speed() {
        report("memcpy 4 MiB", 1, [&] {
            for (std::int64_t at = 0; at < data_bytes; at += window_bytes) {
                std::memcpy(image_.data(), memory_.data() + at, image_.size());
            }
        });
    }

    void run(const std::string& name, const Type& file, const Type& memory, std::int64_t piece) {
        const View view = View::make(Offset{0}, file.nest, Length{file.extent}, Length{1}).value();
        const WindowedTransfer transfer(view, ViewRange{0, data_bytes},
                                        RankMemory{memory_.data(), &memory.nest, memory.extent});
        const std::int64_t end = view.offset_of(data_bytes - 1).bytes() + 1;
        std::vector<Coverage::Bits> words(Coverage::words_for(window_bytes, view.granularity()));
        Coverage coverage(words, window_bytes, view.granularity());
        const auto windows = [&](auto&& each) {
            for (std::int64_t at = 0; at < end; at += window_bytes) {
                each(Extent{Offset{at}, Length{std::min(window_bytes, end - at)}});
            }
        };
        report(name + " gather", data_bytes / piece, [&] {
            windows([&](const Extent& window) { transfer.gather(window, image_, nullptr, 0); });
        });
        report(name + " scatter", data_bytes / piece,
               [&] { windows([&](const Extent& window) { transfer.scatter(window, image_); }); });
        report(name + " mark", data_bytes / piece, [&] {
            windows([&](const Extent& window) {
                coverage.clear();
                transfer.mark(window, coverage, 0);
            });
        });
    }

private:
    template <class Work>
    static void report(const std::string& name, std::int64_t pieces, Work&& work) {
        double best = 1e9;
        for (int i = 0; i < repetitions; ++i) {
            // Measures CPU time, because other processes share the machine.
            const std::clock_t begin = std::clock();
            work();
            best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        }
        std::printf("%-58s %7.2f GiB/s %8.2f ns/piece\n", name.c_str(),
                    static_cast<double>(data_bytes) / best / double(1024 * mebibyte),
                    best * 1e9 / static_cast<double>(pieces));
    }

    std::vector<std::byte> memory_;
    std::vector<std::byte> image_;
};

}  // namespace

int main() {
    Bench bench;
    bench.memory_speed();
    const Type bytes{Nest::run(1), 1};
    for (const std::int64_t piece : {8, 16, 64, 256, 1024}) {
        const std::string size = std::to_string(piece) + " B ";
        bench.run(size + "file 1/4, memory contiguous", vector_of(piece, 4 * piece), bytes, piece);
        bench.run(size + "file contiguous, memory 1/2", bytes, vector_of(piece, 2 * piece), piece);
        bench.run(size + "file 1/4, memory 1/2", vector_of(piece, 4 * piece),
                  vector_of(piece, 2 * piece), piece);
    }
    bench.run("file 256 B 1/4, memory 16 B 1/2", vector_of(256, 1024), vector_of(16, 32), 16);
    bench.run("file 32 B 1/4, memory 16 B 1/2", vector_of(32, 128), vector_of(16, 32), 16);
    bench.run("file 24 B, memory 16 B", vector_of(24, 96), vector_of(16, 32), 8);
    bench.run("16 B rows of 3, memory contiguous", rows_of(16, 64, 3, 256), bytes, 16);
    bench.run("16 B rows of 3, both", rows_of(16, 64, 3, 256), rows_of(16, 32, 3, 128), 16);
    bench.run("16 B rows of 2 and 5", rows_of(16, 64, 2, 256), rows_of(16, 32, 5, 200), 16);
    bench.run("16 B rows of 64, both", rows_of(16, 64, 64, 8192), rows_of(16, 32, 64, 4096), 16);
    bench.run("16 B lists", list_of(16, 8), list_of(16, 4), 16);
    bench.run("12 B file 1/4, memory struct 8+4 B", vector_of(12, 48), structs(), 12);
    return 0;
}
