// The port FileAttributes over the kernel's calls.
#pragma once

#include "foundation/ports/attributes.hpp"

namespace forebay::adapters {

class PosixAttributes final : public ports::FileAttributes {
public:
    [[nodiscard]] Result<ports::PathFacts> look(const std::string& path) const override;
    [[nodiscard]] Result<std::optional<ports::AttributeValue>> get(const std::string& path,
                                                                   const char* name) const override;
    Result<void> set(const std::string& path, const char* name,
                     std::span<const std::byte> value) override;
    Result<void> make_file(const std::string& path) override;
    Result<void> remove_file(const std::string& path) override;
};

}  // namespace forebay::adapters
