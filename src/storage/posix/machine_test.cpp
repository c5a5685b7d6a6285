// The rule for aggregators per node as a table, and a plausibility check on the real machine.
#include "storage/posix/machine.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay::adapters {
namespace {

TEST(NodeHardware, AggregatorsFollowInterfacesAndCores) {
    EXPECT_EQ(aggregators_per_node({1, 0}), 1);
    EXPECT_EQ(aggregators_per_node({2, 1}), 1);
    EXPECT_EQ(aggregators_per_node({32, 1}), 4);
    EXPECT_EQ(aggregators_per_node({16, 1}), 2);
    EXPECT_EQ(aggregators_per_node({8, 2}), 2);
    EXPECT_EQ(aggregators_per_node({128, 8}), 4);
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
