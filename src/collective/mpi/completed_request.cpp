// Makes an MPI_Request that is complete from the start, by MPI_Grequest_start. The extra_state that
// the MPI keeps for it is the number of bytes itself, so there is nothing to free.
#include "collective/mpi/completed_request.hpp"

#include "collective/mpi/status.hpp"

namespace forebay::interposer {

namespace {

static_assert(sizeof(void*) >= sizeof(std::int64_t));

extern "C" int forebay_request_query(void* state, MPI_Status* status) noexcept {
    set_status(status, reinterpret_cast<std::intptr_t>(state));
    if (status != nullptr && status != MPI_STATUS_IGNORE) {
        status->MPI_SOURCE = MPI_UNDEFINED;
        status->MPI_TAG = MPI_UNDEFINED;
    }
    return MPI_SUCCESS;
}

extern "C" int forebay_request_free(void* /*state*/) noexcept { return MPI_SUCCESS; }

// A completed request cannot be cancelled; the attempt is no error.
extern "C" int forebay_request_cancel(void* /*state*/, int /*complete*/) noexcept {
    return MPI_SUCCESS;
}

}  // namespace

int completed_request(std::int64_t bytes, MPI_Request* request) noexcept {
    *request = MPI_REQUEST_NULL;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a number that is never dereferenced
    void* const state = reinterpret_cast<void*>(static_cast<std::intptr_t>(bytes));
    int code = PMPI_Grequest_start(&forebay_request_query, &forebay_request_free,
                                   &forebay_request_cancel, state, request);
    if (code == MPI_SUCCESS) {
        code = PMPI_Grequest_complete(*request);
        if (code != MPI_SUCCESS) {
            PMPI_Request_free(request);
        }
    }
    if (code != MPI_SUCCESS) {
        *request = MPI_REQUEST_NULL;  // whatever the failed functions have left there
    }
    return code;
}

}  // namespace forebay::interposer
