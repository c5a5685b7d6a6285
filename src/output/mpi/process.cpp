#include "output/mpi/process.hpp"

namespace forebay::output {

OutputSession& session() noexcept {
    static OutputSession one;
    return one;
}

}  // namespace forebay::output
