// The whole of forebay-ior, from its words to its exit status; called by all ranks after MPI_Init.
#pragma once

#include "benchmarks/measure/exit_status.hpp"
#include "benchmarks/measure/transfer_clock.hpp"
#include "benchmarks/session/janitor.hpp"

#include <string>
#include <vector>

namespace forebay::bench {

struct ProgramInvocation {
    std::vector<std::string> words;  // as given by the shell, including the program's name
    std::vector<std::string> shown;  // as a user would type them
    std::string version;
    Janitor* janitor = nullptr;
    // Taken early, so that the clock's rate is calibrated over a longer interval.
    measure::TickReading began;
};

// The exit status is the same on all ranks.
[[nodiscard]] measure::ExitStatus run_program(const ProgramInvocation& invocation);

}  // namespace forebay::bench
