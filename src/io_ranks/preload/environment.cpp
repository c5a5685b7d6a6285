// Rewrites the launchers' variables to what the program is to see.
#include "io_ranks/preload/environment.hpp"

#include <cstdio>
#include <cstdlib>

namespace forebay::io_ranks {

namespace {

struct RankVariable {
    const char* name;
    int RankPlacement::* value;
};

// Variables that Hydra, Open MPI, PMIx, Slurm, MVAPICH2, Cray PALS and ALPS, Flux and JSM (jsrun)
// set, and those that users of PyTorch set. A launcher's number of slots (OMPI_UNIVERSE_SIZE) is
// not among them.
constexpr RankVariable variables[] = {
    {"PMI_SIZE", &RankPlacement::size},
    {"PMI_RANK", &RankPlacement::rank},
    {"PMIX_RANK", &RankPlacement::rank},
    {"OMPI_COMM_WORLD_SIZE", &RankPlacement::size},
    {"OMPI_COMM_WORLD_RANK", &RankPlacement::rank},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", &RankPlacement::local_size},
    {"OMPI_COMM_WORLD_LOCAL_RANK", &RankPlacement::local_rank},
    {"OMPI_COMM_WORLD_NODE_RANK", &RankPlacement::local_rank},
    {"MPI_LOCALNRANKS", &RankPlacement::local_size},
    {"MPI_LOCALRANKID", &RankPlacement::local_rank},
    {"MV2_COMM_WORLD_SIZE", &RankPlacement::size},
    {"MV2_COMM_WORLD_RANK", &RankPlacement::rank},
    {"MV2_COMM_WORLD_LOCAL_SIZE", &RankPlacement::local_size},
    {"MV2_COMM_WORLD_LOCAL_RANK", &RankPlacement::local_rank},
    {"PALS_RANKID", &RankPlacement::rank},
    {"PALS_LOCAL_RANKID", &RankPlacement::local_rank},
    {"PALS_LOCAL_SIZE", &RankPlacement::local_size},
    {"ALPS_APP_PE", &RankPlacement::rank},
    {"FLUX_JOB_SIZE", &RankPlacement::size},
    {"FLUX_TASK_RANK", &RankPlacement::rank},
    {"FLUX_TASK_LOCAL_ID", &RankPlacement::local_rank},
    {"JSM_NAMESPACE_SIZE", &RankPlacement::size},
    {"JSM_NAMESPACE_RANK", &RankPlacement::rank},
    {"JSM_NAMESPACE_LOCAL_RANK", &RankPlacement::local_rank},
    {"SLURM_NTASKS", &RankPlacement::size},
    {"SLURM_NPROCS", &RankPlacement::size},
    {"SLURM_STEP_NUM_TASKS", &RankPlacement::size},
    {"SLURM_PROCID", &RankPlacement::rank},
    {"SLURM_LOCALID", &RankPlacement::local_rank},
    {"WORLD_SIZE", &RankPlacement::size},
    {"RANK", &RankPlacement::rank},
    {"LOCAL_WORLD_SIZE", &RankPlacement::local_size},
    {"LOCAL_RANK", &RankPlacement::local_rank},
};

constexpr int digits_max = 9;

}  // namespace

void rewrite_environment(const RankPlacement& now) noexcept {
    for (const RankVariable& variable : variables) {
        if (number_in(variable.name, -1) < 0) {
            continue;
        }
        char text[16];
        std::snprintf(text, sizeof text, "%d", now.*variable.value);
        setenv(variable.name, text, 1);
    }
}

int number_in(const char* variable, int otherwise) noexcept {
    const char* text = std::getenv(variable);
    if (text == nullptr || *text == '\0') {
        return otherwise;
    }
    int number = 0;
    for (int at = 0; text[at] != '\0'; ++at) {
        if (text[at] < '0' || text[at] > '9' || at == digits_max) {
            return otherwise;
        }
        number = number * 10 + (text[at] - '0');
    }
    return number;
}

}  // namespace forebay::io_ranks
