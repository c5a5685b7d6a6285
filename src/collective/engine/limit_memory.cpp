// Two jobs that end at the same time may overwrite an entry of each other; its k is searched again.
#include "collective/engine/limit_memory.hpp"

namespace forebay::engine {

namespace {

constexpr std::array kinds{IoDirection::write, IoDirection::read};

}  // namespace

Result<FoundLimits> recall_limits(ports::Notebook& notebook, const LimitMemoryOptions& options,
                                  std::int64_t now_s) {
    const auto text = notebook.read();
    if (!text) {
        return failure(text.error());
    }
    const plan::KnownLimits known = plan::KnownLimits::parse(*text);
    FoundLimits found;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        found[i] = known.find({options.file_system, options.layout, kinds[i]}, now_s, options.ages);
    }
    return found;
}

Result<void> remember_limits(ports::Notebook& notebook, const LimitMemoryOptions& options,
                             const FoundLimits& found, std::int64_t now_s) {
    const auto text = notebook.read();
    if (!text) {
        return failure(text.error());
    }
    plan::KnownLimits known = plan::KnownLimits::parse(*text);
    bool news = false;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (found[i].limit > 0) {
            const plan::LimitKey key{options.file_system, options.layout, kinds[i]};
            news = known.note({key, found[i], now_s}, options.ages) || news;
        }
    }
    return news ? notebook.write(known.text()) : Result<void>{};
}

}  // namespace forebay::engine
