// For tests: file systems in memory that treat layouts as Lustre 2.15 and CephFS 16.2 do. A layout
// can only be set on a file without bytes.
#pragma once

#include "foundation/ports/attributes.hpp"
#include "storage/layout/ceph.hpp"
#include "storage/layout/lustre.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

namespace forebay::layout::check {

struct Node {
    ports::PathKind kind = ports::PathKind::file;
    std::int64_t bytes = 0;
    bool placed = false;  // Lustre: the file's targets have been chosen
    std::map<std::string, ports::AttributeValue> attributes;
};

inline ports::AttributeValue bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

class ImaginedFiles final : public ports::FileAttributes {
public:
    explicit ImaginedFiles(LayoutSource kind, std::uint16_t targets = 100)
        : kind_(kind), targets_(targets) {
        add_directory("/");
    }

    Node& add_directory(const std::string& path) {
        Node& node = nodes_[path];
        node.kind = ports::PathKind::directory;
        if (kind_ == LayoutSource::ceph) {
            node.attributes[ceph_entries_attribute] = bytes_of("0");
        }
        return node;
    }
    Node& add_file(const std::string& path, std::int64_t bytes) {
        Node& node = nodes_[path];
        node.bytes = bytes;
        if (kind_ == LayoutSource::ceph) {
            node.attributes[ceph_file_attribute] =
                bytes_of("stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data");
        }
        return node;
    }
    [[nodiscard]] bool has(const std::string& path) const { return nodes_.contains(path); }
    // The next call that changes something fails with this errno.
    void fail_next(int system) { fails_ = system; }
    // The next call that sets an attribute fails with this errno.
    void fail_next_set(int system) { fails_set_ = system; }

    [[nodiscard]] Result<ports::PathFacts> look(const std::string& path) const override {
        const auto found = nodes_.find(path);
        if (found == nodes_.end()) {
            return ports::PathFacts{};
        }
        const std::uint64_t type = kind_ == LayoutSource::lustre ? 0x0BD00BD0 : 0;
        return ports::PathFacts{found->second.kind, found->second.bytes, 1, type};
    }

    [[nodiscard]] Result<std::optional<ports::AttributeValue>> get(
        const std::string& path, const char* name) const override {
        const auto found = nodes_.find(path);
        if (found == nodes_.end()) {
            return failure(system_error(ENOENT, "get"));
        }
        const auto value = found->second.attributes.find(name);
        return value == found->second.attributes.end() ? std::nullopt
                                                       : std::optional(value->second);
    }

    Result<void> set(const std::string& path, const char* name,
                     std::span<const std::byte> value) override {
        if (fails_ != 0) {
            return failure(system_error(std::exchange(fails_, 0), "set"));
        }
        if (fails_set_ != 0) {
            return failure(system_error(std::exchange(fails_set_, 0), "set"));
        }
        Node& node = nodes_.at(path);
        ports::AttributeValue kept(value.begin(), value.end());
        if (node.kind == ports::PathKind::file) {
            if (kind_ == LayoutSource::ceph && node.bytes > 0) {
                return failure(system_error(ENOTEMPTY, "set"));
            }
            if (kind_ == LayoutSource::lustre && node.placed) {
                return {};  // as Lustre does: success without an effect
            }
            if (kind_ == LayoutSource::lustre) {
                place(kept);
                node.placed = true;
            }
        }
        node.attributes[name] = std::move(kept);
        return {};
    }

    Result<void> make_file(const std::string& path) override {
        if (fails_ != 0) {
            return failure(system_error(std::exchange(fails_, 0), "make"));
        }
        if (has(path)) {
            return failure(system_error(EEXIST, "make"));
        }
        add_file(path, 0);
        return {};
    }

    Result<void> remove_file(const std::string& path) override {
        nodes_.erase(path);
        return {};
    }

private:
    // Assigns the requested number of targets, at most those that exist, in order; the default
    // stripe size is 4 MiB.
    void place(ports::AttributeValue& value) const {
        constexpr std::size_t stripe_at = 24;
        constexpr std::size_t count_at = 28;
        std::uint32_t stripe = 0;
        std::memcpy(&stripe, value.data() + stripe_at, sizeof stripe);
        stripe = stripe == 0 ? 4U << 20 : stripe;
        std::memcpy(value.data() + stripe_at, &stripe, sizeof stripe);
        std::uint16_t count = 0;
        std::memcpy(&count, value.data() + count_at, sizeof count);
        count = std::clamp<std::uint16_t>(count, 1, targets_);
        std::memcpy(value.data() + count_at, &count, sizeof count);
        for (std::uint16_t i = 0; i < count; ++i) {
            value.resize(value.size() + 24);
            std::memcpy(value.data() + value.size() - 4, &i, sizeof i);
        }
    }

    LayoutSource kind_;
    std::uint16_t targets_;
    std::map<std::string, Node> nodes_;
    int fails_ = 0;
    int fails_set_ = 0;
};

}  // namespace forebay::layout::check
