// C++ file streams: each mode, each way of writing, reading and moving; says what each gives.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::ios::openmode in = std::ios::in;
constexpr std::ios::openmode out = std::ios::out;

std::string filling(std::size_t bytes, unsigned round) {
    std::string made(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) {
        made[i] = static_cast<char>('a' + (i * 31U + (i >> 8U) * 7U + round) % 26U);
    }
    return made;
}

void say(std::string_view what, long long result) {
    std::cout << what << ": " << result << std::endl;
}

void say_state(std::string_view what, const std::ios& stream) {
    std::cout << what << ": " << (stream.good() ? "good" : "") << (stream.eof() ? " eof" : "")
              << (stream.fail() ? " fail" : "") << (stream.bad() ? " bad" : "") << std::endl;
}

void say_text(std::string_view what, std::string_view text) {
    say(what, static_cast<long long>(std::hash<std::string_view>{}(text)));
    say("  of bytes", static_cast<long long>(text.size()));
}

void say_all(const std::string& name) {
    std::ifstream stream{name, std::ios::binary};
    say_text(name, std::string{std::istreambuf_iterator<char>{stream}, {}});
}

void write_all(const std::string& name) {
    std::ofstream stream{name};
    say("is_open", stream.is_open() ? 1 : 0);
    for (int i = 0; i < 2000; ++i) {
        stream << i << ' ' << i * 0.5 << " words\n";
    }
    say("tellp", stream.tellp());
    for (const std::size_t bytes : {1U, 100U, 1023U, 1024U, 8191U, 8192U, 100000U}) {
        const std::string text = filling(bytes, static_cast<unsigned>(bytes));
        stream.write(text.data(), static_cast<std::streamsize>(text.size()));
        say_state("write", stream);
        say("size", static_cast<long long>(std::filesystem::file_size(name)));
    }
    stream.put('!') << std::flush;
    say("size", static_cast<long long>(std::filesystem::file_size(name)));
    stream.seekp(10);
    stream << "over";
    stream.seekp(-7, std::ios::end);
    stream << "end" << std::endl;
    say("tellp", stream.tellp());
    stream.seekp(500000) << "far";
    stream.close();
    say_state("close", stream);
    say_all(name);
}

void read_all(const std::string& name) {
    std::ifstream stream{name};
    int number = 0;
    double half = 0;
    std::string word;
    for (int i = 0; i < 500; ++i) {
        stream >> number >> half >> word;
    }
    say_state(word, stream);
    say("tellg", stream.tellg());
    std::string line;
    std::getline(stream, line);
    std::getline(stream, line);
    say_text("getline", line);
    say("get", stream.get());
    say("peek", stream.peek());
    stream.unget();
    say("unget", stream.get());
    stream.putback('Q');
    say_state("putback", stream);
    stream.clear();
    for (const std::size_t bytes : {1U, 5000U, 8191U, 70000U, 1000000U}) {
        std::vector<char> text(bytes);
        stream.read(text.data(), static_cast<std::streamsize>(bytes));
        say_text("read", {text.data(), static_cast<std::size_t>(stream.gcount())});
        say_state("read", stream);
    }
    stream.clear();
    stream.seekg(0, std::ios::beg);
    say("readsome", stream.readsome(line.data(), 3));
    stream.seekg(-20, std::ios::end).ignore(10);
    say("tellg", stream.tellg());
    stream.seekg(-1);
    say_state("seekg", stream);
}

void both_ways(const std::string& name) {
    std::fstream stream{name, in | out};
    for (int i = 0; i < 100; ++i) {
        std::array<char, 600> text{};
        stream.seekg(i * 137 % 9000);
        stream.read(text.data(), i * 7 % 600);
        say_text("read", {text.data(), static_cast<std::size_t>(stream.gcount())});
        stream.seekp(i * 331 % 9000);
        stream << "written " << i;
        say("tellp", stream.tellp());
    }
    say_state("both", stream);
    stream.close();
    say_all(name);
}

void modes() {
    const std::string name = "modes";
    for (const std::ios::openmode mode :
         {in, out, in | out, out | std::ios::trunc, in | out | std::ios::trunc, std::ios::app,
          out | std::ios::app, in | std::ios::app, out | std::ios::ate, in | std::ios::ate,
          in | out | std::ios::ate, in | out | std::ios::app, in | std::ios::trunc,
          out | std::ios::binary, std::ios::binary}) {
        for (const bool there : {false, true}) {
            std::filesystem::remove(name);
            if (there) {
                std::ofstream{name} << filling(5000, 3);
            }
            std::fstream stream;
            stream.open(name, mode);
            say_state("open", stream);
            if (!stream.is_open()) {
                continue;
            }
            say("tellg", stream.tellg());
            say("get", stream.get());
            stream.clear();
            stream.seekp(0, std::ios::cur);
            stream << "put";
            stream.clear();
            stream.seekp(20);
            stream << "later" << std::flush;
            say_state("flush", stream);
            stream.close();
            say_all(name);
        }
    }
}

void buffers() {
    for (const std::streamsize bytes : {0, 1, 10, 5000}) {
        std::array<char, 5000> own{};
        std::ofstream stream;
        stream.rdbuf()->pubsetbuf(bytes == 0 ? nullptr : own.data(), bytes);
        stream.open("buffers");
        for (int i = 0; i < 30; ++i) {
            stream << filling(static_cast<std::size_t>(i * 53), 4) << '\n';
            say("size", static_cast<long long>(std::filesystem::file_size("buffers")));
        }
        stream << std::unitbuf << "unit";
        say("size", static_cast<long long>(std::filesystem::file_size("buffers")));
    }
    say_all("buffers");
}

void moved() {
    std::ofstream first{"moved"};
    first << "first ";
    std::ofstream second{std::move(first)};
    second << "second ";
    first.open("moved.other");
    first << "other";
    std::swap(first, second);
    first << "third";
    first.close();
    first.open("moved.other", std::ios::app);
    second.close();
    first << " appended";
    first.close();
    say_all("moved");
    say_all("moved.other");
    std::wofstream wide{"moved.wide"};
    wide << L"wide words " << 7 << std::endl;
    say("wide", wide.good() ? 1 : 0);
    std::ifstream copied{"moved"};
    std::ofstream{"moved.copy"} << copied.rdbuf();
    say_all("moved.copy");
    say_state("no folder", std::ofstream{"none/moved"});
    std::ifstream folder{"."};
    say("folder", folder.get());
}

}  // namespace

int main() {
    write_all("written");
    read_all("written");
    both_ways("written");
    modes();
    buffers();
    moved();
    // Ends with one open, as many programs do.
    static std::ofstream forgotten{"forgotten"};
    forgotten << "closed at the end";
    return 0;
}
