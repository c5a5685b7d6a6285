// Compares the document with the example that both languages decode.
#include "storage/layout/document/document.hpp"

#include "foundation/record/example_check.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace forebay::apps {
namespace {

using Json = nlohmann::json;

layout::FileLayout progressive() {
    layout::FileLayout layout{layout::LayoutSource::lustre, {{}, {}}};
    layout::Component& first = layout.components[0];
    first.end = 1 << 20;
    first.placement = layout::DataPlacement::metadata;
    first.stripe_bytes = 1 << 20;
    layout::Component& second = layout.components[1];
    second.begin = 1 << 20;
    second.stripe_count = 3;
    second.stripe_bytes = 1 << 20;
    second.pool = "flash";
    second.osts = {4, 1, 7};
    return layout;
}

TEST(Document, is_the_example) {
    const std::string path = "/scratch/restart";
    layout::LayoutChange change;
    change.source = layout::LayoutSource::lustre;
    change.made = true;
    change.layout = progressive();
    change.differs = "3 stripes instead of 8 stripes";
    const layout::DescribedPath described{ports::PathKind::file, 0, progressive(), path};
    const auto wanted = record::example("layout-1.jsonl");
    ASSERT_EQ(wanted.size(), 2U);
    EXPECT_EQ(Json::parse(to_json(path, described, &change)), wanted[0]);
    EXPECT_EQ(Json::parse(to_json("/nowhere", system_error(2, "look at /nowhere"))), wanted[1]);
}

TEST(Document, all_targets_are_no_number) {
    layout::FileLayout layout{layout::LayoutSource::lustre, {{}}};
    layout.components[0].stripe_count = layout::all_targets;
    const layout::DescribedPath described{ports::PathKind::directory, 0, layout, ""};
    const Json made = Json::parse(to_json("/scratch", described, nullptr));
    EXPECT_TRUE(made["targets"].is_null());
    EXPECT_EQ(made["kind"], "directory");
    EXPECT_TRUE(made["complaint"].is_null());
}

TEST(Document, a_path_that_is_not_utf8_does_not_lose_the_rest) {
    const layout::DescribedPath described{ports::PathKind::file, 0, {}, ""};
    EXPECT_TRUE(Json::accept(to_json("/tmp/\xff", described, nullptr)));
}

}  // namespace
}  // namespace forebay::apps
