// The rule for aggregators per node as a table, and a plausibility check on the real machine.
#include "storage/posix/machine.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>

namespace forebay::adapters {
namespace {

// The Python package counts on the largest of them, and its tests read the same table.
TEST(NodeHardware, AggregatorsFollowInterfacesAndCores) {
    std::ifstream in(std::string(FOREBAY_SOURCE_DIR) + "/schema/examples/node_limits.tsv");
    int examples = 0;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("#")) {
            continue;
        }
        std::istringstream columns(line);
        NodeHardware machine;
        std::int32_t aggregators = 0;
        columns >> machine.cores >> machine.network_interfaces >> aggregators;
        ASSERT_FALSE(columns.fail()) << line;
        EXPECT_EQ(aggregators_per_node(machine), aggregators) << line;
        examples += 1;
    }
    EXPECT_GT(examples, 10);
}

TEST(NodeHardware, ThisOneHasCores) { EXPECT_GE(inspect_machine().cores, 1); }

// A directory that imitates /sys.
class Sys {
public:
    Sys() { std::filesystem::create_directories(root_); }
    Sys(const Sys&) = delete;
    Sys& operator=(const Sys&) = delete;
    ~Sys() { std::filesystem::remove_all(root_); }
    void cpu(int number, const std::string& siblings) const {
        const auto folder =
            root_ / ("devices/system/cpu/cpu" + std::to_string(number)) / "topology";
        std::filesystem::create_directories(folder);
        std::ofstream{folder / "thread_siblings_list"} << siblings << '\n';
    }
    void online(const std::string& cpus) const {
        std::ofstream{root_ / "devices/system/cpu/online"} << cpus << '\n';
    }
    void folder(const std::string& name) const {
        std::filesystem::create_directories(root_ / name);
    }
    [[nodiscard]] NodeHardware inspect() const { return inspect_machine(root_.string()); }

private:
    std::filesystem::path root_ =
        std::filesystem::temp_directory_path() / ("forebay_sys_" + std::to_string(::getpid()));
};

TEST(NodeHardware, CountsCoresNotThreadsAndDevicesNotBridges) {
    const Sys sys;
    sys.cpu(0, "0,2");
    sys.online("0-3");
    sys.folder("devices/system/cpu/cpufreq");
    sys.folder("class/net/lo");
    sys.folder("class/net/eth0/device");
    EXPECT_EQ(sys.inspect().cores, 2);
    EXPECT_EQ(sys.inspect().network_interfaces, 1);
    sys.folder("class/infiniband/mlx5_0");
    sys.folder("class/infiniband/mlx5_1");
    EXPECT_EQ(sys.inspect().network_interfaces, 2);
}

TEST(NodeHardware, ReadsListsWithHoles) {
    const Sys sys;
    sys.cpu(0, "0");
    sys.online("0-2,5,7-8");
    EXPECT_EQ(sys.inspect().cores, 6);
    sys.cpu(0, "0,64-66");
    sys.online("0-127");
    EXPECT_EQ(sys.inspect().cores, 32);
    sys.online("nonsense");
    EXPECT_EQ(sys.inspect().cores, 1);
}

TEST(NodeHardware, NothingToReadIsOneCoreAndNoInterface) {
    const NodeHardware machine = inspect_machine("/nowhere");
    EXPECT_EQ(machine.cores, 1);
    EXPECT_EQ(machine.network_interfaces, 0);
}

}  // namespace
}  // namespace forebay::adapters
