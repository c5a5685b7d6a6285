// Shared by reading and writing by HDF5: objects with an owner, errors as values, types. Empty
// where there is no HDF5.
#pragma once

#ifdef FOREBAY_HAVE_HDF5
#include "foundation/base/printable.hpp"
#include "foundation/base/result.hpp"
#include "output/mpi/array_file.hpp"
#include "output/plan/element_type.hpp"
#include "output/plan/writer_domains.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <hdf5.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace forebay::output {

// An object of HDF5 with one owner, which closes it.
class HdfObject {
public:
    using CloseCall = herr_t (*)(hid_t);
    HdfObject() = default;
    HdfObject(hid_t id, CloseCall closing) noexcept : id_(id), close_(closing) {}
    HdfObject(HdfObject&& other) noexcept
        : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    HdfObject& operator=(HdfObject&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    HdfObject(const HdfObject&) = delete;
    HdfObject& operator=(const HdfObject&) = delete;
    ~HdfObject() { static_cast<void>(close()); }

    [[nodiscard]] hid_t get() const noexcept { return id_; }
    [[nodiscard]] bool valid() const noexcept { return id_ >= 0; }
    herr_t close() noexcept { return valid() ? close_(std::exchange(id_, -1)) : 0; }

private:
    hid_t id_ = -1;
    CloseCall close_ = nullptr;
};

// HDF5 prints its errors, unless told otherwise; afterwards it is again as the program wants it.
class QuietErrors {
public:
    QuietErrors() noexcept {
        H5Eget_auto2(H5E_DEFAULT, &call_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, call_, data_); }
    QuietErrors(const QuietErrors&) = delete;
    QuietErrors& operator=(const QuietErrors&) = delete;

private:
    H5E_auto2_t call_ = nullptr;
    void* data_ = nullptr;
};

// The innermost of HDF5's error messages.
inline std::string hdf5_message() {
    std::string text;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, const H5E_error2_t* error, void* target) -> herr_t {
            auto& found = *static_cast<std::string*>(target);
            if (found.empty() && error->desc != nullptr) {
                found = error->desc;
            }
            return 0;
        },
        &text);
    return text;
}

// `good`: an HDF5 call went well (its id or herr_t is not negative). `doing`: such as "write".
inline Result<void> hdf5_result(std::int64_t good, std::string_view doing,
                                const std::string& path) {
    if (good >= 0) {
        return {};
    }
    const std::string text = hdf5_message();
    const ErrorCode code = text.find("No space left") != std::string::npos
                               ? ErrorCode::no_space
                               : ErrorCode::input_output;
    return failure(Error{code, 0,
                         fmt::format("cannot {} {} (HDF5 says: {}). {}", doing,
                                     printable_name(path), printable(text), advice_on(code))});
}

inline hid_t hdf5_type(ElementType type) {
    switch (type) {
        case ElementType::int8: return H5T_NATIVE_INT8;
        case ElementType::int16: return H5T_NATIVE_INT16;
        case ElementType::int32: return H5T_NATIVE_INT32;
        case ElementType::int64: return H5T_NATIVE_INT64;
        case ElementType::real32: return H5T_NATIVE_FLOAT;
        default: return H5T_NATIVE_DOUBLE;
    }
}

// The elements of a part in the file, and in memory.
inline std::pair<HdfObject, HdfObject> hdf5_selection(const HdfObject& dataset,
                                                      const ArrayVariable& variable,
                                                      const ArrayPart& part) {
    HdfObject there(H5Dget_space(dataset.get()), H5Sclose);
    const auto elements = static_cast<hsize_t>(std::max<std::int64_t>(1, part.range.length()));
    HdfObject here(H5Screate_simple(1, &elements, nullptr), H5Sclose);
    H5Sselect_none(there.get());
    if (part.range.empty()) {
        H5Sselect_none(here.get());
    }
    for (const ArrayBox& box : boxes_of(variable.shape, part.range)) {
        std::vector<hsize_t> start(box.start.begin(), box.start.end());
        std::vector<hsize_t> count(box.count.begin(), box.count.end());
        if (variable.has_steps) {
            start.insert(start.begin(), static_cast<hsize_t>(part.step));
            count.insert(count.begin(), 1);
        }
        H5Sselect_hyperslab(there.get(), H5S_SELECT_OR, start.data(), nullptr, count.data(),
                            nullptr);
    }
    return {std::move(there), std::move(here)};
}

}  // namespace forebay::output
#endif
