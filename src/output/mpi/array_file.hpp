// A file of arrays, as the API sees it: what PnetCDF and Fortran records have in common.
#pragma once

#include "foundation/base/printable.hpp"
#include "foundation/base/result.hpp"
#include "output/plan/element_type.hpp"
#include "output/plan/output_options.hpp"
#include "output/plan/patch.hpp"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

namespace forebay::output {

struct TextAttribute {
    std::string variable;  // empty: of the file
    std::string name;
    std::string text;
};

// A variable of a file. The dimensions' names go with the shape; a variable with steps has one more
// dimension, `time`, in front.
struct ArrayVariable {
    std::string name;
    ElementType type = ElementType::real64;
    std::vector<std::string> dimensions;
    std::vector<std::int64_t> shape;
    std::string units;
    bool has_steps = true;
    bool has_gaps = false;  // some elements are no rank's

    [[nodiscard]] std::int64_t elements() const { return *elements_of(shape); }
};

struct FileSchema {
    std::vector<ArrayVariable> variables;
    std::vector<TextAttribute> attributes;
};

// Elements of one variable in one step.
struct ArrayPart {
    std::size_t variable = 0;  // index in FileSchema::variables
    std::int64_t step = 0;
    ElementRange range;  // empty: this writer takes part with nothing
};

// The error of a variable that has the shape `there`, or another type, in the file that is read.
[[nodiscard]] inline Error another_shape(const ArrayVariable& variable, const std::string& path,
                                         const std::vector<std::int64_t>& there) {
    return {
        ErrorCode::argument, 0,
        fmt::format("{} has another shape or type in {} (shape {} there, {} here). Define it as "
                    "it is in the file.",
                    printable_name(variable.name), printable_name(path), fmt::join(there, "×"),
                    fmt::join(variable.shape, "×"))};
}

// The error of a netCDF-4 file without HDF5.
[[nodiscard]] inline Error no_hdf5(const std::string& path) {
    return {ErrorCode::unsupported, 0,
            fmt::format("cannot use {} as a netCDF-4 file (Forebay was built without a parallel "
                        "HDF5 of this MPI). Load its module and build Forebay again, or give "
                        "another format.",
                        printable_name(path))};
}

// All functions are collective over the ranks that have the file open, its writers, but each may
// fail on one of them only. After a failure the others are still called, for the sake of the other
// writers.
class ArrayFile {
public:
    ArrayFile() = default;
    ArrayFile(const ArrayFile&) = delete;
    ArrayFile& operator=(const ArrayFile&) = delete;
    virtual ~ArrayFile() = default;

    // New files: before all others. Contract: called once.
    virtual Result<void> define(const FileSchema& schema) = 0;
    virtual Result<void> begin_step(std::int64_t step, double time) = 0;
    // All writers have written all arrays of the step. A reader sees the step from now on.
    virtual Result<void> end_step() = 0;
    // A variable of a step is written in parts, by as many calls on each writer, and then ended.
    virtual Result<void> write(const ArrayPart& part, std::span<const std::byte> bytes) = 0;
    virtual Result<void> end_array(std::size_t variable) = 0;

    // Files that were there: adds the variable of that name, which must have this type and shape.
    virtual Result<void> find(const ArrayVariable& variable) = 0;
    virtual Result<std::int64_t> steps() = 0;
    virtual Result<void> read(const ArrayPart& part, std::span<std::byte> bytes) = 0;

    virtual Result<void> close() = 0;
};

enum class FilePurpose : std::uint8_t { create, open };

// `writers`: the communicator of the ranks that write or read; it outlives the file.
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_netcdf_file(MPI_Comm writers,
                                                                  const std::string& path,
                                                                  FilePurpose purpose);
// `compress`: 0, or the level of deflate, which only one writer can do.
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> create_netcdf4_file(MPI_Comm writers,
                                                                     const std::string& path,
                                                                     std::int32_t compress);
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> open_netcdf4_file(MPI_Comm readers,
                                                                   const std::string& path);
[[nodiscard]] Result<std::unique_ptr<ArrayFile>> create_fortran_file(MPI_Comm writers,
                                                                     const std::string& path,
                                                                     const RecordFormat& format);

}  // namespace forebay::output
