// For Forebay's other libraries in this process: see pool/client/calls.hpp.
#include "pool/client/calls.hpp"

#include "capture/captured.hpp"
#include "pool/capture/connection/lending.hpp"
#include "pool/capture/files/groups.hpp"
#include "pool/capture/files/path_filter.hpp"

extern "C" {

[[gnu::visibility("default")]] extern const forebay::pool::PoolCalls forebay_pool_calls;

const forebay::pool::PoolCalls forebay_pool_calls{
    .version = forebay::pool::calls_version,
    .covers = &forebay::entry::covers,
    .open = &forebay::entry::captured::open,
    .close = &forebay::entry::captured::close,
    .pread = &forebay::entry::captured::pread,
    .pwrite = &forebay::entry::captured::pwrite,
    .fsync = &forebay::entry::captured::fsync,
    .nodes = &forebay::entry::nodes_of_job,
    .group_opens = &forebay::entry::group_opens,
    .open_part = &forebay::entry::open_part,
    .knows = &forebay::entry::knows,
    .settle = &forebay::entry::settle,
    .lend_log = &forebay::entry::lend_log,
    .reach_log = &forebay::entry::reach_log,
    .lend = &forebay::entry::lend,
    .write_lent = &forebay::entry::write_lent,
    .give_back = &forebay::entry::give_back,
    .prepare = &forebay::entry::prepare,
};
}
