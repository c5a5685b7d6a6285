// Reads the examples of schema/, which the tests of both languages decode.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace forebay::record {

// `name` is a file name; each line of the file is one JSON document.
inline std::vector<nlohmann::json> example(const std::string& name) {
    std::ifstream in(FOREBAY_SOURCE_DIR "/schema/examples/" + name);
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
}

}  // namespace forebay::record
