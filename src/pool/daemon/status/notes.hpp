// Messages for users. The daemon prints each once, and its status report has all of them.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace forebay::daemon {

// Kinds of messages that are given only once, however often their cause recurs.
enum class NoteOnce {
    no_descriptors,  // there is none for the log of one more process
    other_clock,     // a process has another clock than the daemon
    uncaptured,      // an uncaptured program runs
    journal_failed,
};

class DaemonNotes {
public:
    void add(std::string text) { notes_.push_back(std::move(text)); }
    // Does nothing if a note of this kind was added before.
    void add_once(NoteOnce kind, std::string text);
    [[nodiscard]] const std::vector<std::string>& all() const noexcept { return notes_; }
    // The notes that were added since the last call.
    [[nodiscard]] std::vector<std::string> take_new();

private:
    std::vector<std::string> notes_;
    std::set<NoteOnce> added_;
    std::size_t returned_ = 0;  // how many notes take_new() has returned
};

}  // namespace forebay::daemon
