#include "foundation/base/report.hpp"

#include <gtest/gtest.h>

namespace forebay {
namespace {

TEST(Report, IsOneLineThatSteersNoTerminal) {
    testing::internal::CaptureStderr();
    report("forebay-mount", "/a/\x1b[31mb\nforebay-mount: c is not moved. Move it.");
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "forebay-mount: /a/\\033[31mb\\nforebay-mount: c is not moved. Move it.\n");
}

}  // namespace
}  // namespace forebay
