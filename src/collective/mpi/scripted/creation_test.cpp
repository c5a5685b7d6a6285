// Hints for stripes where the file system has none.
#include "collective/mpi/creation.hpp"

#include "collective/mpi/scripted/mpi.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace forebay::interposer::scripted {
namespace {

UserSettings striped(const char* factor, const char* unit) {
    UserSettings settings;
    EXPECT_TRUE(settings.set(Setting::striping_factor, factor));
    EXPECT_TRUE(settings.set(Setting::striping_unit, unit));
    return settings;
}

class CreationOf : public testing::Test {
protected:
    CreationOf() { begin(); }
    ~CreationOf() override { ::unlink(path_.c_str()); }

    std::string path_ = own_path("creation_test");
};

TEST_F(CreationOf, AFileWithoutHintsIsTheMpis) {
    const FileCreation creation = create_striped(path_, MPI_MODE_CREATE, UserSettings());
    EXPECT_FALSE(creation.made);
    EXPECT_FALSE(creation.layout);
    EXPECT_TRUE(creation.warnings.empty());
    EXPECT_NE(::access(path_.c_str(), F_OK), 0);
}

TEST_F(CreationOf, AFileSystemWithoutLayoutsIsToldOfOnce) {
    const UserSettings settings = striped("4", "65536");
    const FileCreation first = create_striped(path_, MPI_MODE_CREATE, settings);
    EXPECT_FALSE(first.made);
    ASSERT_EQ(first.warnings.size(), 1U);
    EXPECT_NE(first.warnings[0].find("no layouts that can be set"), std::string::npos);
    EXPECT_TRUE(create_striped(path_, MPI_MODE_CREATE, settings).warnings.empty());
}

TEST_F(CreationOf, HintsDivideTheWorkWhereNothingIsStriped) {
    std::ofstream(path_) << "x";
    std::vector<std::string> warnings;
    const FileStripes told = found_or_told(path_, striped("4", "65536"), warnings);
    EXPECT_EQ(told.targets, 4);
    EXPECT_EQ(told.stripe_bytes, 65536);
    EXPECT_EQ(found_or_told(path_, striped("4", "0"), warnings).targets, 1) << "no size of stripes";
    EXPECT_TRUE(warnings.empty());
}

}  // namespace
}  // namespace forebay::interposer::scripted
