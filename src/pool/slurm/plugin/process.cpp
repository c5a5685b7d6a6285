// spank_forebay.so, the plugin that gives srun, sbatch and salloc the options --forebay and
// --forebay-record (docs/slurm-plugin.md). In slurmstepd it starts a pool for the tasks of a step
// on its node, and ends it when the last of them has ended. Without these options it does nothing.
//
// Which identity the callbacks below have in slurmstepd (slurm/spank.h): init, task_post_fork,
// task_exit and exit run as root, user_init with the user's effective ids, and all of them in the
// same process. Slurm loads the plugin into srun, sbatch, salloc and slurmd, too.
#include "foundation/base/printable.hpp"
#include "foundation/kernel/calls.hpp"
#include "pool/slurm/pool_keeper.hpp"
#include "pool/slurm/program_reach.hpp"
#include "pool/slurm/run_line.hpp"
#include "pool/slurm/step_log.hpp"
#include "pool/slurm/step_options.hpp"
#include "pool/slurm/user_identity.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
extern "C" {
#include <slurm/slurm.h>
#include <slurm/spank.h>

// The macro defines constants, which are not seen from outside unless they are declared so.
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(forebay, 1)
}
#pragma GCC visibility pop

namespace {

using forebay::printable;
using forebay::printable_name;
using forebay::slurm::KeeperEnd;
using forebay::slurm::PoolKeeper;
using forebay::slurm::StepName;
using forebay::slurm::UserIdentity;

constexpr int going_on = 0;
constexpr char pool_variable[] = "FOREBAY_POOL_SOCKET";  // of tasks that have a pool
constexpr int failing = -1;  // where plugstack.conf says `required`, the step fails

// The user's options, and the pool of this step. A plugin has no other place for them than
// variables of the process, and Slurm has one such process for each step of a node.
struct StepState {
    std::optional<std::string> pool;    // the value of --forebay
    std::optional<std::string> record;  // the value of --forebay-record
    std::unique_ptr<PoolKeeper> keeper;
    UserIdentity identity;
    StepName name;
    std::vector<std::string> folders;  // for a log: where the tasks start, and the user's own
    std::uint32_t tasks_left = 0;
    bool is_first_node = true;
    bool has_pool = false;  // false: there is a record only
};

StepState& state() {
    static StepState one;
    return one;
}

// To the user: at srun, its standard error; in slurmstepd, that of the step's first task.
void tell(std::string_view text) { slurm_spank_log("%s", printable(text).c_str()); }

int take_pool_option(int /*value*/, const char* text, int /*remote*/) {
    try {
        const std::string value = text == nullptr ? "" : text;
        if (const auto paths = forebay::slurm::pooled_paths(value); !paths) {
            tell("forebay: " + paths.error().message);
            return failing;
        }
        state().pool = value;
        return going_on;
    } catch (const std::exception&) {
        return failing;
    }
}

int take_record_option(int /*value*/, const char* text, int /*remote*/) {
    try {
        state().record = text == nullptr ? "" : text;
        return going_on;
    } catch (const std::exception&) {
        return failing;
    }
}

// Slurm takes pointers to changeable characters, and changes none.
template <std::size_t length>
char* words(const char (&text)[length]) noexcept {
    return const_cast<char*>(&text[0]);
}

template <class Value>
Value item(spank_t spank, spank_item_t which, Value otherwise) {
    Value value = otherwise;
    return spank_get_item(spank, which, &value) == ESPANK_SUCCESS ? value : otherwise;
}

UserIdentity identity_of(spank_t spank) {
    UserIdentity identity;
    identity.user = item<uid_t>(spank, S_JOB_UID, static_cast<uid_t>(-1));
    identity.group = item<gid_t>(spank, S_JOB_GID, static_cast<gid_t>(-1));
    gid_t* groups = nullptr;
    int count = 0;
    if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) == ESPANK_SUCCESS) {
        identity.groups.assign(groups, groups + count);
    }
    return identity;
}

std::vector<std::string> environment_of(spank_t spank) {
    std::vector<std::string> environment;
    for (char** one = item<char**>(spank, S_JOB_ENV, nullptr); one != nullptr && *one != nullptr;
         ++one) {
        environment.emplace_back(*one);
    }
    return environment;
}

// The command in the tree in which this plugin is installed: TREE/lib/forebay/slurm/this file.
std::string installed_command() {
    Dl_info facts{};
    std::array<char, PATH_MAX> real{};
    if (::dladdr(reinterpret_cast<const void*>(&installed_command), &facts) == 0 ||
        ::realpath(facts.dli_fname, real.data()) == nullptr) {
        return "";
    }
    std::string path = real.data();
    path.resize(path.rfind('/') + 1);
    return path + FOREBAY_COMMAND_FROM_PLUGIN;
}

std::string current_folder() {
    std::array<char, PATH_MAX> folder{};
    return forebay::kernel::getcwd(folder.data(), folder.size()) > 0 ? folder.data() : "/";
}

bool is_pool_wanted() {
    const auto& wanted = state().pool;
    return wanted && *wanted != "off";
}

// A step of a program, and not the batch script or what salloc and the system run.
bool is_usual_step(spank_t spank) {
    return item<std::uint32_t>(spank, S_JOB_STEPID, SLURM_BATCH_SCRIPT) <= SLURM_MAX_NORMAL_STEP_ID;
}

std::vector<std::string> program_of(spank_t spank) {
    int count = 0;
    char** arguments = nullptr;
    if (spank_get_item(spank, S_JOB_ARGV, &count, &arguments) != ESPANK_SUCCESS) {
        return {};
    }
    return {arguments, arguments + count};
}

// The line by which the user's own command has pools on several nodes. In slurmstepd nobody knows
// the words of srun.
std::string line_to_paste(spank_t spank) {
    constexpr std::size_t line_bytes_max = 1 << 16;
    std::vector<std::string> words;
    if (spank_context() == S_CTX_LOCAL) {
        const auto text = forebay::kernel::contents("/proc/self/cmdline", line_bytes_max);
        words = forebay::slurm::words_of(text.value_or(""));
    }
    const auto paths = forebay::slurm::pooled_paths(state().pool.value_or(""));
    return forebay::slurm::run_line(words, program_of(spank).size(),
                                    paths ? *paths : std::vector<std::string>{"PATH"});
}

// False, and told to the user: a pool would be wrong here.
bool is_one_node(spank_t spank) {
    const auto nodes = item<std::uint32_t>(spank, S_JOB_NNODES, 1);
    if (nodes > 1) {
        tell(
            fmt::format("forebay: no pool for a step of {} nodes (daemons that the Slurm plugin "
                        "starts do not know each other: a node would not see what another one "
                        "has in its pool). In the job's script, say instead:",
                        nodes));
        tell("  " + line_to_paste(spank));
    }
    return nodes <= 1;
}

// The path of the command, or "" if there is none; then the user was told why.
std::string command_for(int count, char* arguments[]) {
    const auto options = forebay::slurm::site_options(
        std::span<char* const>{arguments, static_cast<std::size_t>(std::max(count, 0))});
    if (!options) {
        tell("forebay: " + options.error().message);
        return "";
    }
    std::string command = options->command.empty() ? installed_command() : options->command;
    if (forebay::kernel::access(command.c_str(), X_OK) != 0) {
        tell(
            fmt::format("forebay: no pool on {} ({} cannot be run: {}). Leave --forebay out, or "
                        "ask whoever runs this cluster to install Forebay on its nodes.",
                        state().name.host, printable_name(command), std::strerror(errno)));
        return "";
    }
    return command;
}

std::vector<std::string> command_words(const std::string& command, bool has_pool) {
    std::vector<std::string> words{command, "run"};
    if (has_pool) {
        const auto paths = forebay::slurm::pooled_paths(state().pool.value_or(""));
        for (const std::string& path : paths ? *paths : std::vector<std::string>{}) {
            words.push_back("--pool=" + path);
        }
        words.insert(words.end(), {"--set", "pool_nodes=1"});
    }
    // The other nodes' processes write to the same record, but a run is one line in it.
    if (state().record && state().is_first_node) {
        words.push_back("--record=" + *state().record);
    }
    return words;
}

// Sends a text to the user, line by line.
void tell_lines(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        tell(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// The first line of the summary ends with the seconds and the status, in parentheses, of a program
// that only waited. What is before is the verdict, if there is one.
void tell_summary(std::string_view line) {
    constexpr std::string_view beginning = "── forebay: ";
    if (line.starts_with(beginning)) {
        line.remove_prefix(beginning.size());
        const std::size_t end = line.rfind(" (");
        const auto verdict =
            end == std::string_view::npos ? std::string{} : ": " + std::string{line.substr(0, end)};
        tell(fmt::format("── forebay: step {} on {}{}", state().name.step, state().name.host,
                         verdict));
    } else if (!line.empty()) {
        tell(line);
    }
}

// Where a program cannot be captured, its processes do not see what is in the pool. So nothing may
// be: as `forebay run` has it, too.
bool is_captured(const std::vector<std::string>& program, std::span<const std::string> environment,
                 const std::string& folder) {
    namespace slurm = forebay::slurm;
    const std::string word = program.empty() ? "" : program.front();
    const std::string file = slurm::program_file(
        word, folder, slurm::value_in(environment, "PATH").value_or("/usr/bin:/bin"));
    const std::string why =
        file.empty() ? std::string{"it is not found here"} : slurm::why_not_captured(file);
    if (!why.empty()) {
        tell(
            fmt::format("forebay: warning: {} does not go through the pool ({}). It writes to the "
                        "file system, and so does what it starts. Leave --forebay out.",
                        printable_name(word), why));
    }
    return why.empty();
}

void give_variables(spank_t spank, const PoolKeeper& keeper) {
    for (const std::string& one : keeper.variables()) {
        const std::size_t end = one.find('=');
        spank_setenv(spank, one.substr(0, end).c_str(), one.c_str() + end + 1, 1);
    }
    const auto& record = state().record;
    if (record && !state().is_first_node) {
        const std::string path =
            record->starts_with('/') ? *record : state().folders.front() + "/" + *record;
        spank_setenv(spank, "FOREBAY_RECORD", path.c_str(), 1);
    }
}

int start_keeper(spank_t spank, int count, char* arguments[]) {
    StepState& step = state();
    const std::vector<std::string> environment = environment_of(spank);
    // A pool that was started around this step is used by it anyhow.
    step.has_pool = is_pool_wanted() && !forebay::slurm::value_in(environment, &pool_variable[0]);
    if ((!step.has_pool && !step.record) || !is_usual_step(spank)) {
        return going_on;
    }
    step.name = forebay::slurm::step_name(item<std::uint32_t>(spank, S_JOB_ID, 0),
                                          item<std::uint32_t>(spank, S_JOB_STEPID, 0));
    if (step.has_pool && !is_one_node(spank)) {
        return failing;
    }
    const std::string command = command_for(count, arguments);
    if (command.empty()) {
        return failing;
    }
    step.identity = identity_of(spank);
    step.folders = {current_folder(), forebay::slurm::value_in(environment, "HOME").value_or("")};
    step.tasks_left = item<std::uint32_t>(spank, S_JOB_LOCAL_TASK_COUNT, 1);
    step.is_first_node = item<std::uint32_t>(spank, S_JOB_NODEID, 0) == 0;
    forebay::slurm::KeeperPlan plan{command_words(command, step.has_pool), program_of(spank),
                                    forebay::slurm::command_environment(environment),
                                    step.identity};
    if (step.has_pool && !is_captured(plan.program, environment, step.folders.front())) {
        std::erase_if(plan.environment, [](const std::string& one) {
            return one.starts_with("FOREBAY_POOL_DURABILITY=");
        });
        plan.environment.emplace_back("FOREBAY_POOL_DURABILITY=global");
    }
    auto keeper = PoolKeeper::start(plan);
    if (!keeper) {
        tell_lines(keeper.error().message);
        return failing;
    }
    give_variables(spank, *keeper);
    keeper->pass_on(tell_summary);  // warnings
    step.keeper = std::make_unique<PoolKeeper>(std::move(*keeper));
    return going_on;
}

// Keeps what the user should know and may not see any more.
void keep_log(const KeeperEnd& end) {
    const StepState& step = state();
    std::string text = end.text;
    if (!end.is_told()) {
        for (const std::string& line : forebay::slurm::lines_of_kill(end, step.name)) {
            tell(line);
            text += line + '\n';
        }
    }
    const std::string path =
        forebay::slurm::write_log(step.name, step.folders, text, step.identity);
    if (path.empty()) {
        slurm_error("forebay: no log of step %s can be written", step.name.step.c_str());
    } else {
        tell("forebay: this is also in " + printable_name(path));
    }
}

void end_keeper() {
    StepState& step = state();
    if (!step.keeper) {
        return;
    }
    const std::unique_ptr<PoolKeeper> keeper = std::move(step.keeper);
    const KeeperEnd end = keeper->finish([&](std::string_view line) {
        if (step.has_pool) {
            tell_summary(line);
        }
    });
    if (end.status != 0) {
        keep_log(end);
    }
}

// No exception goes to Slurm, which is in C.
template <class Action>
int guarded(Action action) noexcept {
    try {
        return action();
    } catch (const std::exception& problem) {
        slurm_error("forebay: cannot go on (%s)", problem.what());
        return failing;
    }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int slurm_spank_init(spank_t spank, int /*count*/, char** /*arguments*/) {
    // In slurmd and for prolog and epilog there are no options.
    if (spank_context() == S_CTX_SLURMD || spank_context() == S_CTX_JOB_SCRIPT) {
        return going_on;
    }
    spank_option pool{words("forebay"),
                      words("pool:PATH[,PATH...]"),
                      words("tasks do not wait for their files below PATH (one node; off: none)"),
                      1,
                      0,
                      take_pool_option};
    spank_option record{words("forebay-record"),
                        words("FILE"),
                        words("append a record of the step's files to FILE (forebay report)"),
                        1,
                        0,
                        take_record_option};
    return spank_option_register(spank, &pool) == ESPANK_SUCCESS &&
                   spank_option_register(spank, &record) == ESPANK_SUCCESS
               ? going_on
               : failing;
}

// In srun, before anything is started. The daemons of `forebay run --pool` are a step, too.
int slurm_spank_local_user_init(spank_t spank, int /*count*/, char** /*arguments*/) {
    return guarded([&] {
        const bool is_inside = std::getenv(&pool_variable[0]) != nullptr;
        return is_pool_wanted() && !is_inside && !is_one_node(spank) ? failing : going_on;
    });
}

int slurm_spank_user_init(spank_t spank, int count, char** arguments) {
    return guarded([&] { return start_keeper(spank, count, arguments); });
}

// Once the first task is in its control group, and before it runs the user's program.
int slurm_spank_task_post_fork(spank_t spank, int /*count*/, char** /*arguments*/) {
    return guarded([&] {
        const auto task = item<pid_t>(spank, S_TASK_PID, 0);
        if (state().keeper && task > 0 && item<int>(spank, S_TASK_ID, 0) == 0 &&
            !state().keeper->join_group_of(task)) {
            slurm_error("forebay: the pool of step %s is not in its control group",
                        state().name.step.c_str());
        }
        return going_on;
    });
}

int slurm_spank_task_exit(spank_t /*spank*/, int /*count*/, char** /*arguments*/) {
    return guarded([&] {
        if (state().tasks_left > 0 && --state().tasks_left == 0) {
            end_keeper();
        }
        return going_on;
    });
}

// Where tasks could not be started.
int slurm_spank_exit(spank_t /*spank*/, int /*count*/, char** /*arguments*/) {
    return guarded([&] {
        end_keeper();
        return going_on;
    });
}
}
#pragma GCC visibility pop
