// netCDF-4 files by parallel HDF5: HDF5 files with the dimension scales and attributes by which
// netCDF's library knows them. HDF5 is found when Forebay is built, for each MPI family
// (cmake/parallel_hdf5.cmake); without it such files are refused. Source: "netCDF-4 format" in the
// netCDF User's Guide, file format specifications.
#include "foundation/base/printable.hpp"
#include "output/mpi/agreement.hpp"
#include "output/mpi/array_file.hpp"
#include "output/plan/writer_domains.hpp"

#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>
#ifdef FOREBAY_HAVE_HDF5
#include <hdf5.h>
#include <hdf5_hl.h>
#endif

namespace forebay::output {
#ifdef FOREBAY_HAVE_HDF5
namespace {

// A chunk of a variable with steps: one step of it, or less.
constexpr std::int64_t chunk_bytes_max = std::int64_t{4} << 20;
constexpr hsize_t times_per_chunk = 512;

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
std::string hdf5_message() {
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

hid_t hdf5_type(ElementType type) {
    switch (type) {
        case ElementType::int8: return H5T_NATIVE_INT8;
        case ElementType::int16: return H5T_NATIVE_INT16;
        case ElementType::int32: return H5T_NATIVE_INT32;
        case ElementType::int64: return H5T_NATIVE_INT64;
        case ElementType::real32: return H5T_NATIVE_FLOAT;
        default: return H5T_NATIVE_DOUBLE;
    }
}

// One step, or so many of its slowest slices that a chunk is not too large.
std::vector<hsize_t> chunk_of(const ArrayVariable& variable) {
    if (variable.shape.empty()) {
        return {times_per_chunk};
    }
    std::vector<hsize_t> chunk{1};
    auto bytes = static_cast<std::int64_t>(bytes_of(variable.type));
    for (const std::int64_t size : variable.shape) {
        bytes *= size;
    }
    for (const std::int64_t size : variable.shape) {
        const std::int64_t slices = (bytes - 1) / chunk_bytes_max + 1;
        const std::int64_t kept = std::max<std::int64_t>(1, size / slices);
        chunk.push_back(static_cast<hsize_t>(kept));
        bytes = bytes / size * kept;
    }
    return chunk;
}

class Netcdf4File final : public ArrayFile {
public:
    Netcdf4File(HdfObject file, MPI_Comm writers, std::string path, std::int64_t steps)
        : file_(std::move(file)),
          is_first_(rank_in(writers) == 0),
          path_(std::move(path)),
          steps_(steps) {
        collective_ = HdfObject(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
        H5Pset_dxpl_mpio(collective_.get(), H5FD_MPIO_COLLECTIVE);
    }

    Result<void> define(const FileSchema& schema) override;
    Result<void> begin_step(std::int64_t step, double time) override;
    Result<void> write(const ArrayPart& part, std::span<const std::byte> bytes) override;
    Result<void> end_array(std::size_t) override { return {}; }
    Result<void> end_step() override { return {}; }
    Result<void> find(const ArrayVariable& variable) override;
    Result<std::int64_t> steps() override { return steps_; }
    Result<void> read(const ArrayPart& part, std::span<std::byte> bytes) override;
    Result<void> close() override;

private:
    struct OpenDataset {
        ArrayVariable array;
        HdfObject dataset;
    };

    // `good`: an HDF5 call went well (its id or herr_t is not negative).
    [[nodiscard]] Result<void> checked(std::int64_t good, std::string_view verb) const;
    Result<void> make_dimension(const std::string& name, std::int64_t size,
                                const FileSchema& schema);
    Result<HdfObject> make_dataset(const ArrayVariable& variable) const;
    Result<void> mark_scale(const HdfObject& dataset, const std::string& name);
    Result<void> attach(const OpenDataset& variable);
    Result<void> put_text(const TextAttribute& attribute);
    [[nodiscard]] HdfObject* named(std::string_view name);
    // The elements of a part in the file, and in memory.
    [[nodiscard]] std::pair<HdfObject, HdfObject> selection(const OpenDataset& variable,
                                                            const ArrayPart& part) const;

    HdfObject file_;
    HdfObject collective_;
    bool is_first_;
    std::string path_;
    std::map<std::string, HdfObject, std::less<>> scales_;  // dimensions that are no variables
    std::vector<OpenDataset> variables_;
    HdfObject time_;
    int dimension_ids_ = 0;
    std::int64_t steps_ = 0;
};

Result<void> Netcdf4File::checked(std::int64_t good, std::string_view verb) const {
    if (good >= 0) {
        return {};
    }
    const std::string text = hdf5_message();
    const ErrorCode code = text.find("No space left") != std::string::npos
                               ? ErrorCode::no_space
                               : ErrorCode::input_output;
    return failure(Error{code, 0,
                         fmt::format("cannot {} {} (HDF5 says: {}). {}", verb,
                                     printable_name(path_), printable(text), advice_on(code))});
}

HdfObject* Netcdf4File::named(std::string_view name) {
    if (name == "time" && time_.valid()) {
        return &time_;
    }
    for (OpenDataset& variable : variables_) {
        if (variable.array.name == name) {
            return &variable.dataset;
        }
    }
    const auto found = scales_.find(name);
    return found == scales_.end() ? nullptr : &found->second;
}

// A dimension without a variable of its own is a dataset of its length, without data; one that has
// a variable is that variable.
Result<void> Netcdf4File::make_dimension(const std::string& name, std::int64_t size,
                                         const FileSchema& schema) {
    const auto is_variable = std::ranges::find(schema.variables, name, &ArrayVariable::name);
    if (is_variable != schema.variables.end()) {
        const bool is_coordinate = is_variable->dimensions.size() == 1 && !is_variable->has_steps &&
                                   is_variable->dimensions[0] == name;
        return is_coordinate
                   ? Result<void>{}
                   : failure(Error{ErrorCode::unsupported, 0,
                                   fmt::format("{} is a dimension and a variable of other "
                                               "dimensions ({}). Give one of them another name.",
                                               printable(name), printable_name(path_))});
    }
    const std::string verb = fmt::format("define dimension {} in", printable_name(name));
    const auto length = static_cast<hsize_t>(size);
    const HdfObject space(H5Screate_simple(1, &length, nullptr), H5Sclose);
    const HdfObject how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER);
    H5Pset_attr_creation_order(how.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    HdfObject made(H5Dcreate2(file_.get(), name.c_str(), H5T_IEEE_F32BE, space.get(), H5P_DEFAULT,
                              how.get(), H5P_DEFAULT),
                   H5Dclose);
    if (Result<void> good = checked(made.get(), verb); !good) {
        return good;
    }
    // As netCDF's library marks it.
    const std::string label =
        fmt::format("This is a netCDF dimension but not a netCDF variable. {:10}", size);
    Result<void> marked = mark_scale(made, label);
    scales_.emplace(name, std::move(made));
    return marked;
}

Result<void> Netcdf4File::mark_scale(const HdfObject& dataset, const std::string& name) {
    const int id = dimension_ids_++;
    return checked(H5DSset_scale(dataset.get(), name.c_str()), "define a dimension in")
        .and_then([&] {
            return checked(H5LTset_attribute_int(dataset.get(), ".", "_Netcdf4Dimid", &id, 1),
                           "define a dimension in");
        });
}

Result<HdfObject> Netcdf4File::make_dataset(const ArrayVariable& variable) const {
    std::vector<hsize_t> size(variable.shape.begin(), variable.shape.end());
    std::vector<hsize_t> most = size;
    const HdfObject how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER);  // all of it is written
    H5Pset_attr_creation_order(how.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    if (variable.has_steps) {
        const std::vector<hsize_t> chunk = chunk_of(variable);
        size.insert(size.begin(), 0);
        most.insert(most.begin(), H5S_UNLIMITED);
        H5Pset_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data());
    }
    const FillValue fill = fill_value_of(variable.type);
    H5Pset_fill_value(how.get(), hdf5_type(variable.type), fill.data());
    const HdfObject space(H5Screate_simple(static_cast<int>(size.size()), size.data(), most.data()),
                          H5Sclose);
    HdfObject made(H5Dcreate2(file_.get(), variable.name.c_str(), hdf5_type(variable.type),
                              space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
                   H5Dclose);
    const Result<void> good =
        checked(made.get(), fmt::format("define {} in", printable_name(variable.name)));
    return good ? Result<HdfObject>(std::move(made)) : tl::unexpected(good.error());
}

Result<void> Netcdf4File::define(const FileSchema& schema) {
    const QuietErrors quiet;
    Result<void> done = put_text({"", "Conventions", "CF-1.8"});
    const auto next = [&](auto step) {
        if (done) {
            done = step();
        }
    };
    if (std::ranges::any_of(schema.variables, &ArrayVariable::has_steps)) {
        next([&]() -> Result<void> {
            Result<HdfObject> made = make_dataset({"time", ElementType::real64, {}, {}, "", true});
            if (!made) {
                return tl::unexpected(made.error());
            }
            time_ = std::move(*made);
            return mark_scale(time_, "time");
        });
    }
    for (const ArrayVariable& variable : schema.variables) {
        for (std::size_t i = 0; i < variable.shape.size(); ++i) {
            const std::string& name = variable.dimensions[i];
            if (named(name) == nullptr) {
                next([&] { return make_dimension(name, variable.shape[i], schema); });
            }
        }
        next([&]() -> Result<void> {
            Result<HdfObject> made = make_dataset(variable);
            if (!made) {
                return tl::unexpected(made.error());
            }
            variables_.push_back({variable, std::move(*made)});
            const bool is_scale = variable.dimensions[0] == variable.name;
            return is_scale ? mark_scale(variables_.back().dataset, variable.name) : Result<void>{};
        });
    }
    for (const OpenDataset& variable : variables_) {
        next([&] { return attach(variable); });
    }
    for (const TextAttribute& attribute : schema.attributes) {
        next([&] { return put_text(attribute); });
    }
    return done;
}

Result<void> Netcdf4File::attach(const OpenDataset& variable) {
    const ArrayVariable& array = variable.array;
    const std::string verb = fmt::format("define {} in", printable_name(array.name));
    std::vector<std::string> names = array.dimensions;
    if (array.has_steps) {
        names.insert(names.begin(), "time");
    }
    for (std::size_t i = 0; i < names.size() && names[i] != array.name; ++i) {
        if (Result<void> good =
                checked(H5DSattach_scale(variable.dataset.get(), named(names[i])->get(),
                                         static_cast<unsigned>(i)),
                        verb);
            !good) {
            return good;
        }
    }
    if (array.has_gaps) {
        const FillValue fill = fill_value_of(array.type);
        const HdfObject space(H5Screate_simple(1, std::array<hsize_t, 1>{1}.data(), nullptr),
                              H5Sclose);
        const HdfObject made(H5Acreate2(variable.dataset.get(), "_FillValue", hdf5_type(array.type),
                                        space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             H5Aclose);
        if (Result<void> good =
                checked(H5Awrite(made.get(), hdf5_type(array.type), fill.data()), verb);
            !good) {
            return good;
        }
    }
    return array.units.empty() ? Result<void>{} : put_text({array.name, "units", array.units});
}

Result<void> Netcdf4File::put_text(const TextAttribute& attribute) {
    const HdfObject* dataset = attribute.variable.empty() ? &file_ : named(attribute.variable);
    if (dataset == nullptr) {
        return {};  // of `time`, in a file without steps
    }
    const std::string verb = fmt::format("set attribute {}:{} of", printable(attribute.variable),
                                         printable(attribute.name));
    return checked(H5LTset_attribute_string(dataset->get(), ".", attribute.name.c_str(),
                                            attribute.text.c_str()),
                   verb);
}

Result<void> Netcdf4File::begin_step(std::int64_t step, double time) {
    if (!time_.valid()) {
        return {};
    }
    const QuietErrors quiet;
    steps_ = step + 1;
    Result<void> done;
    const auto extend = [&](const HdfObject& dataset, const std::vector<std::int64_t>& shape) {
        std::vector<hsize_t> size{static_cast<hsize_t>(steps_)};
        size.insert(size.end(), shape.begin(), shape.end());
        const Result<void> good = checked(H5Dset_extent(dataset.get(), size.data()), "extend");
        done = done ? good : done;
    };
    extend(time_, {});
    for (const OpenDataset& variable : variables_) {
        if (variable.array.has_steps) {
            extend(variable.dataset, variable.array.shape);
        }
    }
    const auto at = static_cast<hsize_t>(step);
    const hsize_t one = 1;
    const HdfObject there(H5Dget_space(time_.get()), H5Sclose);
    const HdfObject here(H5Screate_simple(1, &one, nullptr), H5Sclose);
    if (is_first_) {
        H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, &at, nullptr, &one, nullptr);
    } else {
        H5Sselect_none(there.get());
        H5Sselect_none(here.get());
    }
    const Result<void> wrote = checked(
        H5Dwrite(time_.get(), H5T_NATIVE_DOUBLE, here.get(), there.get(), collective_.get(), &time),
        "write");
    return done ? wrote : done;
}

std::pair<HdfObject, HdfObject> Netcdf4File::selection(const OpenDataset& variable,
                                                       const ArrayPart& part) const {
    HdfObject there(H5Dget_space(variable.dataset.get()), H5Sclose);
    const auto elements = static_cast<hsize_t>(std::max<std::int64_t>(1, part.range.length()));
    HdfObject here(H5Screate_simple(1, &elements, nullptr), H5Sclose);
    H5Sselect_none(there.get());
    if (part.range.empty()) {
        H5Sselect_none(here.get());
    }
    for (const ArrayBox& box : boxes_of(variable.array.shape, part.range)) {
        std::vector<hsize_t> start(box.start.begin(), box.start.end());
        std::vector<hsize_t> count(box.count.begin(), box.count.end());
        if (variable.array.has_steps) {
            start.insert(start.begin(), static_cast<hsize_t>(part.step));
            count.insert(count.begin(), 1);
        }
        H5Sselect_hyperslab(there.get(), H5S_SELECT_OR, start.data(), nullptr, count.data(),
                            nullptr);
    }
    return {std::move(there), std::move(here)};
}

Result<void> Netcdf4File::write(const ArrayPart& part, std::span<const std::byte> bytes) {
    const QuietErrors quiet;
    const OpenDataset& variable = variables_[part.variable];
    const auto [there, here] = selection(variable, part);
    return checked(H5Dwrite(variable.dataset.get(), hdf5_type(variable.array.type), here.get(),
                            there.get(), collective_.get(), bytes.data()),
                   "write");
}

Result<void> Netcdf4File::read(const ArrayPart& part, std::span<std::byte> bytes) {
    const QuietErrors quiet;
    const OpenDataset& variable = variables_[part.variable];
    // On all readers, before a collective call.
    if (variable.array.has_steps && part.step >= steps_) {
        return failure(Error{ErrorCode::argument, 0,
                             fmt::format("{} has {} steps, and step {} is read (from 0). Ask "
                                         "fbo_steps before.",
                                         printable_name(path_), steps_, part.step)});
    }
    const auto [there, here] = selection(variable, part);
    return checked(H5Dread(variable.dataset.get(), hdf5_type(variable.array.type), here.get(),
                           there.get(), collective_.get(), bytes.data()),
                   "read");
}

Result<void> Netcdf4File::find(const ArrayVariable& variable) {
    const QuietErrors quiet;
    const std::string verb = fmt::format("find {} in", printable_name(variable.name));
    OpenDataset found{
        variable, HdfObject(H5Dopen2(file_.get(), variable.name.c_str(), H5P_DEFAULT), H5Dclose)};
    if (Result<void> good = checked(found.dataset.get(), verb); !good) {
        return good;
    }
    const HdfObject space(H5Dget_space(found.dataset.get()), H5Sclose);
    const HdfObject type(H5Dget_type(found.dataset.get()), H5Tclose);
    const int dimensions = H5Sget_simple_extent_ndims(space.get());
    std::vector<hsize_t> size(static_cast<std::size_t>(std::max(0, dimensions)));
    std::vector<hsize_t> most(size.size());
    H5Sget_simple_extent_dims(space.get(), size.data(), most.data());
    std::vector<std::int64_t> shape(size.begin(), size.end());
    found.array.has_steps = !most.empty() && most[0] == H5S_UNLIMITED;
    if (found.array.has_steps) {
        shape.erase(shape.begin());
    }
    if (shape != variable.shape || H5Tequal(type.get(), hdf5_type(variable.type)) <= 0) {
        return failure(another_shape(variable, path_, shape));
    }
    variables_.push_back(std::move(found));
    return {};
}

Result<void> Netcdf4File::close() {
    const QuietErrors quiet;
    variables_.clear();
    scales_.clear();
    time_ = HdfObject();
    return checked(file_.close(), "close");
}

HdfObject opened(MPI_Comm writers, const std::string& path, FilePurpose purpose) {
    const HdfObject access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_mpio(access.get(), writers, MPI_INFO_NULL);
    if (purpose == FilePurpose::open) {
        return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
    }
    // netCDF's library wants to know in which order things were made.
    const HdfObject how(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_link_creation_order(how.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(how.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, how.get(), access.get()), H5Fclose};
}

// The file's steps, by its dimension `time`.
std::int64_t steps_in(const HdfObject& file) {
    const HdfObject time(H5Dopen2(file.get(), "time", H5P_DEFAULT), H5Dclose);
    const HdfObject space(H5Dget_space(time.get()), H5Sclose);
    return std::max<std::int64_t>(0, H5Sget_simple_extent_npoints(space.get()));
}

}  // namespace

Result<std::unique_ptr<ArrayFile>> open_netcdf4_file(MPI_Comm writers, const std::string& path,
                                                     FilePurpose purpose) {
    const QuietErrors quiet;
    HdfObject file = opened(writers, path, purpose);
    if (!file.valid()) {
        const std::string text = hdf5_message();
        return failure(Error{
            ErrorCode::input_output, 0,
            fmt::format("cannot {} {} (HDF5 says: {}). {}",
                        purpose == FilePurpose::create ? "create" : "open", printable_name(path),
                        printable(text), advice_on(ErrorCode::no_such_file))});
    }
    const std::int64_t steps = purpose == FilePurpose::open ? steps_in(file) : 0;
    return std::make_unique<Netcdf4File>(std::move(file), writers, path, steps);
}
#else
Result<std::unique_ptr<ArrayFile>> open_netcdf4_file(MPI_Comm, const std::string& path,
                                                     FilePurpose) {
    return failure(
        Error{ErrorCode::unsupported, 0,
              fmt::format("cannot use {} as a netCDF-4 file (Forebay was built without a "
                          "parallel HDF5 of this MPI). Load its module and build Forebay "
                          "again, or give another format.",
                          printable_name(path))});
}
#endif

}  // namespace forebay::output
