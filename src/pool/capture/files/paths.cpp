// Parsing and prefix comparison, without the C++ library's exceptions: programs that preload this
// need not have it.
#include "pool/capture/files/paths.hpp"

#include "foundation/base/folder_path.hpp"

#include <cstring>

namespace forebay::capture {

std::size_t PoolPaths::set(std::string_view folders) noexcept {
    std::size_t used = 0;
    std::size_t left_out = 0;
    count_ = 0;
    while (!folders.empty()) {
        std::size_t comma = 0;
        while (comma < folders.size() && folders[comma] != ',') {
            ++comma;
        }
        std::string_view one{folders.data(), comma};  // string_view::substr could throw
        folders.remove_prefix(comma < folders.size() ? comma + 1 : comma);
        while (one.size() > 1 && one.back() == '/') {
            one.remove_suffix(1);
        }
        if (one.empty()) {
            continue;
        }
        if (one.front() != '/' || count_ == folders_max || one.size() > text_max - used) {
            ++left_out;
            continue;
        }
        std::memcpy(&text_[used], one.data(), one.size());
        folders_[count_] = {static_cast<std::uint16_t>(used),
                            static_cast<std::uint16_t>(one.size())};
        ++count_;
        used += one.size();
    }
    return left_out;
}

std::string_view PoolPaths::folder(std::size_t number) const noexcept {
    return {&text_[folders_[number].begin], folders_[number].length};
}

bool PoolPaths::hold(std::string_view path) const noexcept {
    for (std::size_t number = 0; number < count_; ++number) {
        if (FolderPath{folder(number)}.holds(path)) {
            return true;
        }
    }
    return false;
}

}  // namespace forebay::capture
