// Encodes layouts as JSON.
#include "storage/layout/document/document.hpp"

#include "storage/layout/stripes.hpp"

#include <nlohmann/json.hpp>

namespace forebay::apps {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "forebay.layout/1";

const char* name_of(layout::LayoutSource source) noexcept {
    switch (source) {
        case layout::LayoutSource::lustre: return "lustre";
        case layout::LayoutSource::ceph: return "ceph";
        case layout::LayoutSource::none: break;
    }
    return "none";
}

const char* name_of(layout::DataPlacement placement) noexcept {
    switch (placement) {
        case layout::DataPlacement::metadata: return "metadata";
        case layout::DataPlacement::released: return "released";
        case layout::DataPlacement::foreign: return "foreign";
        case layout::DataPlacement::striped: break;
    }
    return "striped";
}

const char* name_of(layout::ComponentRole role) noexcept {
    switch (role) {
        case layout::ComponentRole::extension: return "extension";
        case layout::ComponentRole::parity: return "parity";
        case layout::ComponentRole::data: break;
    }
    return "data";
}

const char* name_of(ports::PathKind kind) noexcept {
    return kind == ports::PathKind::directory ? "directory" : "file";
}

Json json_of(const layout::Component& one, bool is_chosen) {
    Json end = nullptr;
    if (one.end != layout::end_of_file) {
        end = one.end;
    }
    return {{"begin", one.begin},
            {"end", end},
            {"placement", name_of(one.placement)},
            {"role", name_of(one.role)},
            {"stripe_count", one.stripe_count},
            {"stripe_bytes", one.stripe_bytes},
            {"object_bytes", one.object_bytes},
            {"pool", one.pool},
            {"osts", one.osts},
            {"mirror", one.mirror},
            {"initialised", one.initialised},
            {"stale", one.stale},
            {"chosen", is_chosen}};
}

Json text_or_null(const std::optional<std::string>& text) {
    return text ? Json(*text) : Json(nullptr);
}

// Paths may not be valid UTF-8; invalid bytes are replaced rather than losing the line.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string to_json(const std::string& path, const layout::DescribedPath& described,
                    const layout::LayoutChange* change) {
    const layout::FileLayout& found = described.layout;
    const layout::Component* chosen = layout::chosen(found, described.bytes);
    const FileStripes stripes = layout::stripes_of(found, described.bytes);
    Json components = Json::array();
    for (const layout::Component& one : found.components) {
        components.push_back(json_of(one, &one == chosen));
    }
    const bool is_known = chosen == nullptr || chosen->stripe_count != layout::all_targets;
    return text_of(
        {{"schema", schema},
         {"path", path},
         {"kind", name_of(described.kind)},
         {"bytes", described.bytes},
         {"file_system", name_of(found.source)},
         {"from", described.from},
         {"targets", is_known ? Json(stripes.targets) : Json(nullptr)},
         {"stripe_bytes", stripes.stripe_bytes},
         {"components", components},
         {"made", change != nullptr && change->made},
         {"complaint",
          change == nullptr ? Json(nullptr) : text_or_null(layout::complaint(path, *change))}});
}

std::string to_json(const std::string& path, const Error& error) {
    return text_of({{"schema", schema}, {"path", path}, {"error", error.message}});
}

}  // namespace forebay::apps
