// The exported table of PoolCalls, by which Forebay's other libraries in this process use the pool;
// see pool/client/calls.hpp.
#include "pool/client/calls.hpp"

#include "capture/captured.hpp"
#include "pool/capture/connection/lending.hpp"
#include "pool/capture/files/groups.hpp"
#include "pool/capture/files/path_filter.hpp"

extern "C" {

[[gnu::visibility("default")]] extern const forebay::pool::PoolCalls forebay_pool_calls;

const forebay::pool::PoolCalls forebay_pool_calls{
    .version = forebay::pool::calls_version,
    .covers = &forebay::capture::covers,
    .open = &forebay::capture::captured::open,
    .close = &forebay::capture::captured::close,
    .pread = &forebay::capture::captured::pread,
    .pwrite = &forebay::capture::captured::pwrite,
    .fsync = &forebay::capture::captured::fsync,
    .nodes = &forebay::capture::nodes_of_job,
    .group_opens = &forebay::capture::group_opens,
    .open_part = &forebay::capture::open_part,
    .knows = &forebay::capture::knows,
    .settle = &forebay::capture::settle,
    .arrives = &forebay::capture::arrives,
    .lend_log = &forebay::capture::lend_log,
    .reach_log = &forebay::capture::reach_log,
    .lend = &forebay::capture::lend,
    .write_lent = &forebay::capture::write_lent,
    .give_back = &forebay::capture::give_back,
    .prepare = &forebay::capture::prepare,
};
}
