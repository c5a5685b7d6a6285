// netCDF files (CDF-5) by PnetCDF. It is found when Forebay is built, for the MPI family that it
// was built with (cmake/pnetcdf.cmake); without it such files are refused. PnetCDF makes and reads
// the header, and reads arrays; their bytes are written where it says they begin, since it does not
// look at how much of them was written.
#include "foundation/base/printable.hpp"
#include "output/mpi/agreement.hpp"
#include "output/mpi/array_file.hpp"
#include "output/mpi/byte_file.hpp"
#include "output/plan/writer_domains.hpp"

#include <bit>
#include <fmt/format.h>
#include <map>
#ifdef FOREBAY_HAVE_PNETCDF
#include <pnetcdf.h>
#endif

namespace forebay::output {
#ifdef FOREBAY_HAVE_PNETCDF
namespace {

struct NetcdfType {
    nc_type type;
    MPI_Datatype memory;
};

NetcdfType netcdf_type(ElementType type) {
    switch (type) {
        case ElementType::int8: return {NC_BYTE, MPI_SIGNED_CHAR};
        case ElementType::int16: return {NC_SHORT, MPI_SHORT};
        case ElementType::int32: return {NC_INT, MPI_INT};
        case ElementType::int64: return {NC_INT64, MPI_LONG_LONG};
        case ElementType::real32: return {NC_FLOAT, MPI_FLOAT};
        default: return {NC_DOUBLE, MPI_DOUBLE};
    }
}

ErrorCode code_of_netcdf(int status) {
    switch (status) {
        case NC_ENO_SPACE: return ErrorCode::no_space;
        case NC_EQUOTA: return ErrorCode::quota;
        case NC_EPERM: return ErrorCode::read_only;
        case NC_ENOENT: return ErrorCode::no_such_file;
        case NC_EACCESS: return ErrorCode::access;
        default: return ErrorCode::input_output;
    }
}

// An ArrayPart as PnetCDF's get_varn wants it.
class VariablePart {
public:
    VariablePart(const ArrayVariable& variable, const ArrayPart& part) {
        const std::size_t steps = variable.has_steps ? 1 : 0;
        for (const ArrayBox& box : boxes_of(variable.shape, part.range)) {
            std::vector<MPI_Offset> start(steps, part.step);
            std::vector<MPI_Offset> count(steps, 1);
            start.insert(start.end(), box.start.begin(), box.start.end());
            count.insert(count.end(), box.count.begin(), box.count.end());
            starts_.push_back(std::move(start));
            counts_.push_back(std::move(count));
        }
        for (std::size_t i = 0; i < starts_.size(); ++i) {
            start_pointers_.push_back(starts_[i].data());
            count_pointers_.push_back(counts_[i].data());
        }
    }
    [[nodiscard]] int boxes() const noexcept { return static_cast<int>(starts_.size()); }
    [[nodiscard]] MPI_Offset* const* starts() const noexcept { return start_pointers_.data(); }
    [[nodiscard]] MPI_Offset* const* counts() const noexcept { return count_pointers_.data(); }

private:
    std::vector<std::vector<MPI_Offset>> starts_;
    std::vector<std::vector<MPI_Offset>> counts_;
    std::vector<MPI_Offset*> start_pointers_;
    std::vector<MPI_Offset*> count_pointers_;
};

class NetcdfFile final : public ArrayFile {
public:
    // `bytes`: of a new file.
    NetcdfFile(int id, MPI_Comm writers, std::string path, ByteFile bytes)
        : id_(id),
          is_first_(rank_in(writers) == 0),
          path_(std::move(path)),
          bytes_(std::move(bytes)) {}
    ~NetcdfFile() override { static_cast<void>(NetcdfFile::close()); }

    Result<void> define(const FileSchema& schema) override;
    Result<void> begin_step(std::int64_t step, double time) override;
    Result<void> write(const ArrayPart& part, std::span<const std::byte> bytes) override;
    Result<void> end_array(std::size_t) override { return {}; }
    Result<void> end_step() override;

    Result<void> find(const ArrayVariable& variable) override;
    Result<std::int64_t> steps() override;
    Result<void> read(const ArrayPart& part, std::span<std::byte> bytes) override;
    Result<void> close() override;

private:
    struct OpenVariable {
        ArrayVariable array;
        int id = 0;
        MPI_Offset begin = 0;  // where it begins in a new file
    };

    [[nodiscard]] Result<void> checked(int status, std::string_view verb) const;
    Result<void> define_time();
    Result<void> locate();
    Result<void> define_variable(const ArrayVariable& variable);
    Result<int> dimension(const std::string& name, std::int64_t size);
    Result<void> put_text(const TextAttribute& attribute);
    [[nodiscard]] Result<std::int64_t> dimension_size(int dimension) const;

    int id_;
    bool is_open_ = true;
    bool is_first_;
    std::string path_;
    int time_dimension_ = -1;
    int time_ = -1;
    std::map<std::string, int, std::less<>> dimensions_;
    std::vector<OpenVariable> variables_;
    ByteFile bytes_;
    MPI_Offset time_begin_ = 0;
    MPI_Offset step_bytes_ = 0;
    std::int64_t step_ = 0;
    double step_time_ = 0;
};

Result<void> NetcdfFile::checked(int status, std::string_view verb) const {
    if (status == NC_NOERR) {
        return {};
    }
    const ErrorCode code = code_of_netcdf(status);
    return failure(
        Error{code, 0,
              fmt::format("cannot {} {} (PnetCDF says: {}). {}", verb, printable_name(path_),
                          ncmpi_strerror(status), advice_on(code))});
}

Result<void> NetcdfFile::define(const FileSchema& schema) {
    Result<void> done;
    const auto next = [&](auto step) {
        if (done) {
            done = step();
        }
    };
    next([&] { return put_text({"", "Conventions", "CF-1.8"}); });
    if (std::ranges::any_of(schema.variables, &ArrayVariable::has_steps)) {
        next([&] { return define_time(); });
    }
    for (const ArrayVariable& variable : schema.variables) {
        next([&] { return define_variable(variable); });
    }
    for (const TextAttribute& attribute : schema.attributes) {
        next([&] { return put_text(attribute); });
    }
    next([&] { return checked(ncmpi_enddef(id_), "define the variables of"); });
    next([&] { return locate(); });
    return done;
}

// Where in the file the arrays are; the header is already there, all of it.
Result<void> NetcdfFile::locate() {
    MPI_Offset header = 0;
    int status = ncmpi_inq_header_size(id_, &header);
    if (status == NC_NOERR && time_ >= 0) {
        status = ncmpi_inq_varoffset(id_, time_, &time_begin_);
    }
    if (status == NC_NOERR) {
        status = ncmpi_inq_recsize(id_, &step_bytes_);
    }
    for (OpenVariable& variable : variables_) {
        if (status == NC_NOERR) {
            status = ncmpi_inq_varoffset(id_, variable.id, &variable.begin);
        }
    }
    if (status != NC_NOERR || !is_first_) {
        return checked(status, "define the variables of");
    }
    const Result<std::int64_t> size = bytes_.size();
    if (!size) {
        return tl::unexpected(size.error());
    }
    return *size >= header
               ? Result<void>{}
               : failure(Error{ErrorCode::no_space, 0,
                               fmt::format("cannot write {} ({} of {} bytes of its header were "
                                           "written). {}",
                                           printable_name(path_), *size, header,
                                           advice_on(ErrorCode::no_space))});
}

Result<void> NetcdfFile::define_time() {
    if (Result<void> made =
            checked(ncmpi_def_dim(id_, "time", NC_UNLIMITED, &time_dimension_), "define time in");
        !made) {
        return made;
    }
    return checked(ncmpi_def_var(id_, "time", NC_DOUBLE, 1, &time_dimension_, &time_),
                   "define time in");
}

Result<void> NetcdfFile::define_variable(const ArrayVariable& variable) {
    std::vector<int> dimensions;
    if (variable.has_steps) {
        dimensions.push_back(time_dimension_);
    }
    for (std::size_t i = 0; i < variable.shape.size(); ++i) {
        const Result<int> made = dimension(variable.dimensions[i], variable.shape[i]);
        if (!made) {
            return tl::unexpected(made.error());
        }
        dimensions.push_back(*made);
    }
    const nc_type type = netcdf_type(variable.type).type;
    const std::string verb = fmt::format("define {} in", printable_name(variable.name));
    int id = 0;
    if (Result<void> made =
            checked(ncmpi_def_var(id_, variable.name.c_str(), type,
                                  static_cast<int>(dimensions.size()), dimensions.data(), &id),
                    verb);
        !made) {
        return made;
    }
    variables_.push_back({variable, id});
    if (variable.has_gaps) {
        const FillValue fill = fill_value_of(variable.type);
        if (Result<void> put =
                checked(ncmpi_put_att(id_, id, "_FillValue", type, 1, fill.data()), verb);
            !put) {
            return put;
        }
    }
    return variable.units.empty() ? Result<void>{}
                                  : put_text({variable.name, "units", variable.units});
}

Result<int> NetcdfFile::dimension(const std::string& name, std::int64_t size) {
    if (const auto found = dimensions_.find(name); found != dimensions_.end()) {
        return found->second;
    }
    int id = 0;
    const Result<void> made = checked(ncmpi_def_dim(id_, name.c_str(), size, &id),
                                      fmt::format("define dimension {} in", printable_name(name)));
    if (!made) {
        return tl::unexpected(made.error());
    }
    dimensions_.emplace(name, id);
    return id;
}

Result<void> NetcdfFile::put_text(const TextAttribute& attribute) {
    int variable = NC_GLOBAL;
    const std::string verb = fmt::format("set attribute {}:{} of", printable(attribute.variable),
                                         printable(attribute.name));
    if (!attribute.variable.empty()) {
        if (Result<void> found =
                checked(ncmpi_inq_varid(id_, attribute.variable.c_str(), &variable), verb);
            !found) {
            return found;
        }
    }
    return checked(
        ncmpi_put_att_text(id_, variable, attribute.name.c_str(),
                           static_cast<MPI_Offset>(attribute.text.size()), attribute.text.c_str()),
        verb);
}

Result<void> NetcdfFile::begin_step(std::int64_t step, double time) {
    step_ = step;
    step_time_ = time;
    return {};
}

Result<void> NetcdfFile::write(const ArrayPart& part, std::span<const std::byte> bytes) {
    const OpenVariable& variable = variables_[part.variable];
    const std::size_t element = bytes_of(variable.array.type);
    const ElementBytes ordered(bytes, element, std::endian::native != std::endian::big);
    const std::int64_t step_begin = variable.array.has_steps ? part.step * step_bytes_ : 0;
    return bytes_.write(
        variable.begin + step_begin + part.range.begin * static_cast<std::int64_t>(element),
        ordered.get());
}

// PnetCDF counts a step when its time is put. Its bytes are written before, so that there is room
// for them: PnetCDF would not see that there is none.
Result<void> NetcdfFile::end_step() {
    if (time_ < 0) {
        return {};
    }
    Result<void> wrote;
    if (is_first_) {
        const ElementBytes time(std::as_bytes(std::span(&step_time_, 1)), sizeof step_time_,
                                std::endian::native != std::endian::big);
        wrote = bytes_.write(time_begin_ + step_ * step_bytes_, time.get());
    }
    const MPI_Offset start = step_;
    const MPI_Offset count = is_first_ && wrote ? 1 : 0;
    const Result<void> put =
        checked(ncmpi_put_vara_double_all(id_, time_, &start, &count, &step_time_), "write");
    return wrote ? put : wrote;
}

Result<std::int64_t> NetcdfFile::dimension_size(int dimension) const {
    MPI_Offset size = 0;
    const Result<void> told = checked(ncmpi_inq_dimlen(id_, dimension, &size), "read");
    return told ? Result<std::int64_t>(size) : tl::unexpected(told.error());
}

Result<void> NetcdfFile::find(const ArrayVariable& variable) {
    const std::string verb = fmt::format("find {} in", printable_name(variable.name));
    OpenVariable found{variable};
    int dimensions = 0;
    nc_type type = NC_NAT;
    int unlimited = -1;
    if (Result<void> told =
            checked(ncmpi_inq_varid(id_, variable.name.c_str(), &found.id), verb)
                .and_then(
                    [&] { return checked(ncmpi_inq_varndims(id_, found.id, &dimensions), verb); })
                .and_then([&] { return checked(ncmpi_inq_vartype(id_, found.id, &type), verb); })
                .and_then([&] { return checked(ncmpi_inq_unlimdim(id_, &unlimited), verb); });
        !told) {
        return told;
    }
    std::vector<int> ids(static_cast<std::size_t>(dimensions));
    if (Result<void> told = checked(ncmpi_inq_vardimid(id_, found.id, ids.data()), verb); !told) {
        return told;
    }
    std::vector<std::int64_t> shape;
    for (int i = 0; i < dimensions; ++i) {
        if (i > 0 || ids[0] != unlimited) {
            const Result<std::int64_t> size = dimension_size(ids[static_cast<std::size_t>(i)]);
            if (!size) {
                return tl::unexpected(size.error());
            }
            shape.push_back(*size);
        }
    }
    found.array.has_steps = dimensions > 0 && ids[0] == unlimited;
    if (shape != variable.shape || type != netcdf_type(variable.type).type) {
        return failure(another_shape(variable, path_, shape));
    }
    variables_.push_back(std::move(found));
    return {};
}

Result<std::int64_t> NetcdfFile::steps() {
    int unlimited = -1;
    if (const Result<void> told = checked(ncmpi_inq_unlimdim(id_, &unlimited), "read"); !told) {
        return tl::unexpected(told.error());
    }
    return unlimited < 0 ? Result<std::int64_t>(0) : dimension_size(unlimited);
}

Result<void> NetcdfFile::read(const ArrayPart& part, std::span<std::byte> bytes) {
    const OpenVariable& variable = variables_[part.variable];
    const VariablePart boxes(variable.array, part);
    return checked(ncmpi_get_varn_all(id_, variable.id, boxes.boxes(), boxes.starts(),
                                      boxes.counts(), bytes.data(), part.range.length(),
                                      netcdf_type(variable.array.type).memory),
                   "read");
}

Result<void> NetcdfFile::close() {
    if (!is_open_) {
        return {};
    }
    is_open_ = false;
    const Result<void> written = bytes_.close();
    const Result<void> closed = checked(ncmpi_close(id_), "close");
    return written ? closed : written;
}

}  // namespace

Result<std::unique_ptr<ArrayFile>> open_netcdf_file(MPI_Comm writers, const std::string& path,
                                                    FilePurpose purpose) {
    int id = 0;
    const bool creates = purpose == FilePurpose::create;
    const int status = creates ? ncmpi_create(writers, path.c_str(), NC_CLOBBER | NC_64BIT_DATA,
                                              MPI_INFO_NULL, &id)
                               : ncmpi_open(writers, path.c_str(), NC_NOWRITE, MPI_INFO_NULL, &id);
    if (status != NC_NOERR) {
        const ErrorCode code = code_of_netcdf(status);
        return failure(
            Error{code, 0,
                  fmt::format("cannot {} {} (PnetCDF says: {}). {}", creates ? "create" : "open",
                              printable_name(path), ncmpi_strerror(status), advice_on(code))});
    }
    ByteFile bytes;
    if (creates) {
        Result<ByteFile> opened = ByteFile::open(writers, path);
        if (!opened) {
            ncmpi_abort(id);
            return tl::unexpected(opened.error());
        }
        bytes = std::move(*opened);
    }
    return std::make_unique<NetcdfFile>(id, writers, path, std::move(bytes));
}
#else
Result<std::unique_ptr<ArrayFile>> open_netcdf_file(MPI_Comm, const std::string& path,
                                                    FilePurpose) {
    return failure(Error{ErrorCode::unsupported, 0,
                         fmt::format("cannot use {} as a netCDF file (Forebay was built without a "
                                     "PnetCDF of this MPI). Load its module and build Forebay "
                                     "again, or give the option format=fortran.",
                                     printable_name(path))});
}
#endif

}  // namespace forebay::output
