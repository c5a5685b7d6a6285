// Reads netCDF-4 files by parallel HDF5, which is found when Forebay is built, for each MPI family
// (cmake/parallel_hdf5.cmake); without it such files are refused.
#include "output/mpi/agreement.hpp"
#include "output/mpi/array_file.hpp"
#include "output/mpi/hdf5_object.hpp"

#include <fmt/format.h>

namespace forebay::output {
#ifdef FOREBAY_HAVE_HDF5
namespace {

class Netcdf4Reader final : public ArrayFile {
public:
    Netcdf4Reader(HdfObject file, std::string path, std::int64_t steps)
        : file_(std::move(file)), path_(std::move(path)), steps_(steps) {
        collective_ = HdfObject(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
        H5Pset_dxpl_mpio(collective_.get(), H5FD_MPIO_COLLECTIVE);
    }

    Result<void> define(const FileSchema&) override { return not_to_be_written(); }
    Result<void> begin_step(std::int64_t, double) override { return not_to_be_written(); }
    Result<void> write(const ArrayPart&, std::span<const std::byte>) override {
        return not_to_be_written();
    }
    Result<void> end_array(std::size_t) override { return not_to_be_written(); }
    Result<void> end_step() override { return not_to_be_written(); }
    Result<void> find(const ArrayVariable& variable) override;
    Result<std::int64_t> steps() override { return steps_; }
    Result<void> read(const ArrayPart& part, std::span<std::byte> bytes) override;
    Result<void> close() override;

private:
    struct OpenDataset {
        ArrayVariable array;
        HdfObject dataset;
    };

    [[nodiscard]] Result<void> checked(std::int64_t good, std::string_view verb) const {
        return hdf5_result(good, verb, path_);
    }
    [[nodiscard]] Result<void> not_to_be_written() const {
        return failure(Error{ErrorCode::argument, 0,
                             fmt::format("{} was opened for reading. Make a file by fbo_create.",
                                         printable_name(path_))});
    }

    HdfObject file_;
    HdfObject collective_;
    std::string path_;
    std::vector<OpenDataset> variables_;
    std::int64_t steps_ = 0;
};

Result<void> Netcdf4Reader::read(const ArrayPart& part, std::span<std::byte> bytes) {
    const QuietErrors quiet;
    const OpenDataset& variable = variables_[part.variable];
    // On all readers, before a collective call.
    if (variable.array.has_steps && part.step >= steps_) {
        return failure(Error{ErrorCode::argument, 0,
                             fmt::format("{} has {} steps, and step {} is read (from 0). Ask "
                                         "fbo_steps before.",
                                         printable_name(path_), steps_, part.step)});
    }
    const auto [there, here] = hdf5_selection(variable.dataset, variable.array, part);
    return checked(H5Dread(variable.dataset.get(), hdf5_type(variable.array.type), here.get(),
                           there.get(), collective_.get(), bytes.data()),
                   "read");
}

Result<void> Netcdf4Reader::find(const ArrayVariable& variable) {
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

Result<void> Netcdf4Reader::close() {
    const QuietErrors quiet;
    variables_.clear();
    return checked(file_.close(), "close");
}

// The file's steps, by its dimension `time`.
std::int64_t steps_in(const HdfObject& file) {
    const HdfObject time(H5Dopen2(file.get(), "time", H5P_DEFAULT), H5Dclose);
    const HdfObject space(H5Dget_space(time.get()), H5Sclose);
    return std::max<std::int64_t>(0, H5Sget_simple_extent_npoints(space.get()));
}

}  // namespace

Result<std::unique_ptr<ArrayFile>> open_netcdf4_file(MPI_Comm readers, const std::string& path) {
    const QuietErrors quiet;
    const HdfObject access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fapl_mpio(access.get(), readers, MPI_INFO_NULL);
    HdfObject file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
    if (Result<void> opened = hdf5_result(file.get(), "open", path); !opened) {
        return tl::unexpected(opened.error());
    }
    const std::int64_t steps = steps_in(file);
    return std::make_unique<Netcdf4Reader>(std::move(file), path, steps);
}
#else
Result<std::unique_ptr<ArrayFile>> open_netcdf4_file(MPI_Comm, const std::string& path) {
    return failure(no_hdf5(path));
}
#endif

}  // namespace forebay::output
