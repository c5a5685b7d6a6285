// Watches uncaptured processes by pidfd, which becomes readable when the process ends and, unlike a
// process number, is never reused. Before Linux 5.3 there are none; only the connections count
// then.
#include "pool/daemon/requests/uncaptured.hpp"

#include "foundation/base/contracts.hpp"
#include "foundation/kernel/newer_calls.hpp"

#include <poll.h>
#include <sys/types.h>
#include <unistd.h>

namespace forebay::daemon {

void UncapturedPrograms::disconnected() noexcept {
    expects(connections_ > 0, "a connection that ends had begun");
    --connections_;
}

void UncapturedPrograms::watch(std::int64_t process) {
    expects(process > 0, "a process is watched by its number here");
    OwnFd fd{kernel::pidfd_open(static_cast<pid_t>(process))};
    if (fd.valid()) {
        processes_.push_back({process, std::move(fd)});
    }
}

void UncapturedPrograms::forget(std::int64_t process) {
    std::erase_if(processes_, [&](const Watched& one) { return one.number == process; });
}

bool UncapturedPrograms::all_have_ended() {
    std::erase_if(processes_, [](const Watched& watched) {
        pollfd one{watched.process.get(), POLLIN, 0};
        return ::poll(&one, 1, 0) > 0;
    });
    return connections_ == 0 && processes_.empty();
}

}  // namespace forebay::daemon
