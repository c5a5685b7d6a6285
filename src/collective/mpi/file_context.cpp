// Errors go into the record, and to the program's error handler.
#include "collective/mpi/file_context.hpp"

#include "collective/mpi/status.hpp"
#include "foundation/base/contracts.hpp"

namespace forebay::interposer {

adapters::MpiCommunicator& FileContext::group() const {
    expects(cached_communicator != nullptr && cached_communicator->group != nullptr,
            "the ranks of a file that is ours have a communicator");
    return *cached_communicator->group;
}

int FileContext::raised(const Error& error) const noexcept {
    return raise(handle, error_class_of(error.code));
}

int FileContext::reported(const Error& error) {
    counters.error(error);
    return raised(error);
}

}  // namespace forebay::interposer
