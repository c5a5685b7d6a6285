// Real programs of this machine, and files that only look like them.
#include "pool/slurm/program_reach.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using forebay::slurm::program_file;
using forebay::slurm::why_not_captured;

class ProgramReach : public testing::Test {
protected:
    ProgramReach() { std::filesystem::create_directories(folder_); }
    ~ProgramReach() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& text, mode_t mode = 0755) {
        const std::string path = folder_ + "/file";
        std::ofstream{path, std::ios::binary} << text;
        ::chmod(path.c_str(), mode);
        return path;
    }

    const std::string folder_ = FOREBAY_TEST_DIR "/program_reach." + std::to_string(::getpid());
};

TEST_F(ProgramReach, ADynamicProgramAndItsScriptsAreCaptured) {
    EXPECT_EQ(why_not_captured("/bin/sh"), "");
    EXPECT_EQ(why_not_captured(file("#!/bin/sh\n")), "");
    EXPECT_EQ(why_not_captured(file("#! /usr/bin/env -S sh -e\n")), "");
}

TEST_F(ProgramReach, AProgramWithoutALoaderIsNot) {
    std::string text(64 + 56, '\0');
    text.replace(0, 5,
                 "\x7f"
                 "ELF"
                 "\x02");
    EXPECT_EQ(why_not_captured(file(text)), "it is statically linked");
    text[4] = '\x01';
    EXPECT_EQ(why_not_captured(file(text)), "it is no program of 64 bits");
    EXPECT_EQ(why_not_captured(file("#!" + folder_ + "/gone\n")), "it cannot be read");
}

TEST_F(ProgramReach, AProgramWithRightsOfItsOwnIsNot) {
    EXPECT_EQ(why_not_captured(file("#!/bin/sh\n", 04755)), "it has another user's rights");
}

TEST_F(ProgramReach, AListOfProgramsIsNot) {
    EXPECT_EQ(why_not_captured(file("0 ./a\n1 ./b\n")), "it is neither a program nor a script");
    EXPECT_EQ(why_not_captured(file("")), "it is neither a program nor a script");
}

TEST_F(ProgramReach, AScriptOfItselfEnds) {
    EXPECT_EQ(why_not_captured(file("#!" + folder_ + "/file\n")), "it is a script of scripts");
}

TEST_F(ProgramReach, AWordIsFoundAsExecvpFindsIt) {
    file("#!/bin/sh\n");
    EXPECT_EQ(program_file("./file", folder_, ""), folder_ + "/./file");
    EXPECT_EQ(program_file("/x/y", folder_, ""), "/x/y");
    EXPECT_EQ(program_file("file", "/", "/nowhere:" + folder_), folder_ + "/file");
    EXPECT_EQ(program_file("file", folder_, "/nowhere:."), folder_ + "/./file");
    EXPECT_EQ(program_file("file", folder_, "/nowhere"), "");
}

}  // namespace
