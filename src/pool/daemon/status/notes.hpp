// Messages for people: the daemon prints each of them once, and its report has all of them.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace forebay::daemon {

// Messages that are worth saying the first time only.
enum class NoteOnce {
    no_descriptors,  // for the log of one more process
    uncaptured,      // a program runs that is not captured
    journal_failed,
};

class DaemonNotes {
public:
    void add(std::string text) { notes_.push_back(std::move(text)); }
    // Does nothing where a note of this kind was added before.
    void add_once(NoteOnce kind, std::string text);
    [[nodiscard]] const std::vector<std::string>& all() const noexcept { return notes_; }
    // Those that were added since the last call.
    [[nodiscard]] std::vector<std::string> take_new();

private:
    std::vector<std::string> notes_;
    std::set<NoteOnce> added_;
    std::size_t returned_ = 0;  // so many of the notes, by take_new()
};

}  // namespace forebay::daemon
