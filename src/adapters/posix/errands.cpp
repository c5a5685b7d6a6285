// Threads are made when they are needed: errands are rare, and most are short.
#include "adapters/posix/errands.hpp"

#include <algorithm>
#include <csignal>
#include <pthread.h>
#include <utility>

namespace forebay::adapters {

ErrandThreads::~ErrandThreads() {
    for (Errand& errand : errands_) {
        if (errand.thread.joinable()) {
            errand.thread.join();
        }
    }
}

void ErrandThreads::begin(std::uint64_t ticket, std::function<std::int64_t()> call) {
    errands_.emplace_back();
    errands_.back().ticket = ticket;
    errands_.back().call = std::move(call);
    start_waiting();
}

void ErrandThreads::start_waiting() {
    std::size_t threads = 0;
    for (Errand& errand : errands_) {
        if (threads == threads_max) {
            return;
        }
        ++threads;
        if (errand.thread.joinable()) {
            continue;
        }
        // Signals are for the thread that expects them.
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        errand.thread = std::thread{[this, &errand] {
            const Ended answer{errand.ticket, errand.call()};
            errand.call = nullptr;
            const std::scoped_lock lock{mutex_};
            errand.answer = answer;
            errand.over = true;
        }};
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
}

std::vector<ports::Errands::Ended> ErrandThreads::ended() {
    std::vector<Ended> answers;
    if (errands_.empty()) {
        return answers;
    }
    std::list<Errand> over;
    {
        const std::scoped_lock lock{mutex_};
        for (auto at = errands_.begin(); at != errands_.end();) {
            const auto next = std::next(at);
            if (at->over) {
                over.splice(over.end(), errands_, at);
            }
            at = next;
        }
    }
    for (Errand& errand : over) {
        errand.thread.join();
        answers.push_back(errand.answer);
    }
    start_waiting();
    return answers;
}

}  // namespace forebay::adapters
