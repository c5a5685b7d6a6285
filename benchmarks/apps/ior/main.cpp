// main() of forebay-ior, which takes IOR's command lines. Built once for each MPI family.
#include "benchmarks/ior/program/program.hpp"
#include "benchmarks/session/session.hpp"
#include "benchmarks/session/together.hpp"
#include "benchmarks/session/words.hpp"

int main(int argc, char** argv) {
    using namespace forebay::bench;
    const forebay::measure::TickReading began = forebay::measure::TransferClock::reading();
    Janitor janitor = Janitor::of_this_node();
    const MpiLifetime mpi(&argc, &argv);
    const CommandWords words(argc, argv);
    const ProgramInvocation invocation{.words = words.read,
                                       .shown = words.shown,
                                       .version = FOREBAY_VERSION,
                                       .janitor = &janitor,
                                       .began = began};
    return exit_code([&] { return run_program(invocation); }, "Use less memory.");
}
