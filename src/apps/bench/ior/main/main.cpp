// forebay-ior: IOR's command lines, with numbers that can be trusted. One build per MPI family.
#include "apps/bench/ior/program.hpp"
#include "apps/bench/session/output.hpp"
#include "measure/monitor.hpp"

#include <exception>
#include <fmt/format.h>
#include <mpi.h>

int main(int argc, char** argv) {
    forebay::bench::Janitor janitor = forebay::bench::Janitor::of_this_node();
    // The monitor's thread makes no MPI call but MPI_Abort.
    int provided = 0;
    {
        const forebay::measure::StopSignalsWait inherited;  // by the MPI's threads
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    }
    forebay::bench::Invocation invocation;
    invocation.version = FOREBAY_VERSION;
    invocation.janitor = &janitor;
    for (int i = 0; i < argc; ++i) {
        invocation.words.emplace_back(argv[i]);
    }
    try {
        const auto status = forebay::bench::run_program(invocation);
        MPI_Finalize();
        return forebay::measure::code(status);
    } catch (const std::exception& error) {
        // One rank alone cannot go on, and the others must not wait for it.
        forebay::bench::complain(
            fmt::format("out of resources ({}). Use less memory.", error.what()));
        MPI_Abort(MPI_COMM_WORLD,
                  forebay::measure::code(forebay::measure::ExitStatus::input_output));
    }
    return forebay::measure::code(forebay::measure::ExitStatus::input_output);
}
