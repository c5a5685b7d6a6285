// forebay-ior from its words to its exit status; called by all ranks after MPI_Init.
#pragma once

#include "benchmarks/measure/exit_status.hpp"
#include "benchmarks/measure/transfer_clock.hpp"
#include "benchmarks/session/janitor.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

struct ProgramInvocation {
    std::vector<std::string> words;  // as the shell gave them, with the program's name
    std::vector<std::string> shown;  // as a user would type them
    std::string version;
    Janitor* janitor = nullptr;
    measure::TickReading began;  // taken a while before, which makes the clock's rate exact
};

// The same on all ranks.
[[nodiscard]] measure::ExitStatus run_program(const ProgramInvocation& invocation);

}  // namespace forebay::bench
