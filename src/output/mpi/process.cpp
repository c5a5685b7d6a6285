// The only mutable static of the output API, whose functions take files, grids and variables by
// number.
#include "output/mpi/process.hpp"

namespace forebay::output {

OutputSession& session() noexcept {
    static OutputSession one;
    return one;
}

}  // namespace forebay::output
