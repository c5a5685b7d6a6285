// New netCDF-4 files by HDF5: HDF5 files with the dimension scales and attributes by which netCDF's
// library knows them. Source: "netCDF-4 format" in the netCDF User's Guide, file format
// specifications.
//
// The first writer alone has the file open by HDF5. It makes room for the arrays of a step and
// tells the others where their chunks are; all write these by MPI-IO. HDF5's parallel driver is not
// used: a rank of it that cannot write its metadata leaves the collective call in which the others
// then wait without end, and Open MPI's collective writes end with success on a full disk.
#include "foundation/base/printable.hpp"
#include "output/mpi/agreement.hpp"
#include "output/mpi/array_file.hpp"
#include "output/mpi/byte_file.hpp"
#include "output/mpi/hdf5_object.hpp"
#include "output/plan/chunk_grid.hpp"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <map>
#ifdef FOREBAY_HAVE_HDF5
#include <hdf5_hl.h>
#endif

namespace forebay::output {
#ifdef FOREBAY_HAVE_HDF5
namespace {

constexpr std::int64_t chunk_bytes_max = std::int64_t{4} << 20;
constexpr hsize_t times_per_chunk = 512;
// HDF5's metadata are kept together, so that chunks mostly lie one behind the other.
constexpr hsize_t metadata_block_bytes = hsize_t{256} << 10;

// Written to a chunk by HDF5 and looked for where the chunk is thought to be.
using ChunkMark = std::array<std::uint64_t, 2>;

// Compressed chunks that are written in parts are kept until they are complete.
constexpr std::size_t compressed_cache_bytes = std::size_t{4} * chunk_bytes_max;

ChunkGrid chunks_of(const ArrayVariable& variable, bool is_chunked) {
    const auto element = static_cast<std::int64_t>(bytes_of(variable.type));
    return {variable.shape,
            is_chunked ? chunk_bytes_max / element : std::numeric_limits<std::int64_t>::max()};
}

class Netcdf4Writer final : public ArrayFile {
public:
    // `file`: on the first writer.
    Netcdf4Writer(HdfObject file, ByteFile bytes, MPI_Comm writers, std::string path,
                  std::int32_t compress)
        : file_(std::move(file)),
          bytes_(std::move(bytes)),
          writers_(writers),
          is_first_(rank_in(writers) == 0),
          path_(std::move(path)),
          compress_(compress) {}

    Result<void> define(const FileSchema& schema) override;
    Result<void> begin_step(std::int64_t step, double time) override;
    Result<void> write(const ArrayPart& part, std::span<const std::byte> bytes) override;
    Result<void> end_array(std::size_t) override { return {}; }
    Result<void> end_step() override;
    Result<void> find(const ArrayVariable&) override { return not_to_be_read(); }
    Result<std::int64_t> steps() override { return tl::unexpected(not_to_be_read().error()); }
    Result<void> read(const ArrayPart&, std::span<std::byte>) override { return not_to_be_read(); }
    Result<void> close() override;

private:
    struct NewVariable {
        ArrayVariable array;
        ChunkGrid chunks;     // of a variable without steps: one, the whole array
        HdfObject dataset{};  // on the first writer
        // Where the chunks of the step begin in the file, and how far behind those of the last one.
        std::vector<std::uint64_t> begins{};
        std::uint64_t stride = 0;
    };

    [[nodiscard]] Result<void> checked(std::int64_t good, std::string_view verb) const {
        return hdf5_result(good, verb, path_);
    }
    [[nodiscard]] Result<void> not_to_be_read() const {
        return failure(Error{ErrorCode::argument, 0,
                             fmt::format("{} is being made. Open it by fbo_open when it is closed.",
                                         printable_name(path_))});
    }
    // The first writer has all of the array.
    [[nodiscard]] bool by_hdf5(const ArrayVariable& array) const {
        return compress_ > 0 || array.elements() <= domain_elements_min;
    }
    // These are called on the first writer only.
    Result<void> define_all(const FileSchema& schema);
    Result<void> define_time();
    Result<void> make_dimension(const std::string& name, std::int64_t size,
                                const FileSchema& schema);
    [[nodiscard]] Result<HdfObject> make_dataset(const ArrayVariable& variable,
                                                 const ChunkGrid& chunks) const;
    Result<void> mark_scale(const HdfObject& dataset, const std::string& name);
    Result<void> attach(const NewVariable& variable);
    Result<void> put_text(const TextAttribute& attribute);
    [[nodiscard]] HdfObject* named(std::string_view name);
    Result<void> set_steps(std::int64_t steps);
    Result<void> put_time(double time);
    Result<void> locate_array(NewVariable& variable);
    Result<void> locate_chunks(NewVariable& variable);
    [[nodiscard]] Result<bool> lies_at(const NewVariable& variable, std::int64_t chunk,
                                       std::uint64_t begin);
    [[nodiscard]] Result<std::uint64_t> looked_up(const NewVariable& variable,
                                                  std::int64_t chunk) const;
    Result<void> put(const NewVariable& variable, const ArrayPart& part,
                     const std::byte* bytes) const;
    // Collective.
    void share_begins(NewVariable& variable) const;

    HdfObject file_;
    ByteFile bytes_;
    MPI_Comm writers_;
    bool is_first_;
    std::string path_;
    std::int32_t compress_;
    std::map<std::string, HdfObject, std::less<>> scales_;  // dimensions that are no variables
    std::vector<NewVariable> variables_;
    HdfObject time_;
    int dimension_ids_ = 0;
    std::int64_t step_ = 0;        // the one that is under way, or the last one
    std::int64_t steps_ = 0;       // that are complete
    std::int64_t steps_room_ = 0;  // that the datasets have room for
    std::uint64_t marks_ = 0;
};

HdfObject* Netcdf4Writer::named(std::string_view name) {
    if (name == "time" && time_.valid()) {
        return &time_;
    }
    for (NewVariable& variable : variables_) {
        if (variable.array.name == name) {
            return &variable.dataset;
        }
    }
    const auto found = scales_.find(name);
    return found == scales_.end() ? nullptr : &found->second;
}

// A dimension without a variable of its own is a dataset of its length, without data; one that has
// a variable is that variable.
Result<void> Netcdf4Writer::make_dimension(const std::string& name, std::int64_t size,
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

Result<void> Netcdf4Writer::mark_scale(const HdfObject& dataset, const std::string& name) {
    const int id = dimension_ids_++;
    return checked(H5DSset_scale(dataset.get(), name.c_str()), "define a dimension in")
        .and_then([&] {
            return checked(H5LTset_attribute_int(dataset.get(), ".", "_Netcdf4Dimid", &id, 1),
                           "define a dimension in");
        });
}

Result<HdfObject> Netcdf4Writer::make_dataset(const ArrayVariable& variable,
                                              const ChunkGrid& chunks) const {
    std::vector<hsize_t> size(variable.shape.begin(), variable.shape.end());
    std::vector<hsize_t> most = size;
    const HdfObject how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    const HdfObject access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    H5Pset_fill_time(how.get(), H5D_FILL_TIME_NEVER);  // all of it is written
    H5Pset_alloc_time(how.get(), compress_ > 0 ? H5D_ALLOC_TIME_INCR : H5D_ALLOC_TIME_EARLY);
    H5Pset_attr_creation_order(how.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    std::vector<hsize_t> chunk(chunks.chunk_shape().begin(), chunks.chunk_shape().end());
    if (variable.has_steps) {
        size.insert(size.begin(), 0);
        most.insert(most.begin(), H5S_UNLIMITED);
        chunk.insert(chunk.begin(), chunk.empty() ? times_per_chunk : 1);
    }
    if (variable.has_steps || compress_ > 0) {
        H5Pset_chunk(how.get(), static_cast<int>(chunk.size()), chunk.data());
    }
    if (compress_ > 0) {
        H5Pset_shuffle(how.get());
        H5Pset_deflate(how.get(), static_cast<unsigned>(compress_));
    }
    if (!variable.shape.empty() && (compress_ > 0 || !by_hdf5(variable))) {
        // Where others write the chunks, HDF5 must not keep any.
        H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT,
                           compress_ > 0 ? compressed_cache_bytes : 0, H5D_CHUNK_CACHE_W0_DEFAULT);
    }
    const FillValue fill = fill_value_of(variable.type);
    H5Pset_fill_value(how.get(), hdf5_type(variable.type), fill.data());
    const HdfObject space(H5Screate_simple(static_cast<int>(size.size()), size.data(), most.data()),
                          H5Sclose);
    HdfObject made(H5Dcreate2(file_.get(), variable.name.c_str(), hdf5_type(variable.type),
                              space.get(), H5P_DEFAULT, how.get(), access.get()),
                   H5Dclose);
    const Result<void> good =
        checked(made.get(), fmt::format("define {} in", printable_name(variable.name)));
    return good ? Result<HdfObject>(std::move(made)) : tl::unexpected(good.error());
}

Result<void> Netcdf4Writer::define_time() {
    Result<HdfObject> made = make_dataset({"time", ElementType::real64, {}, {}, "", true}, {});
    if (!made) {
        return tl::unexpected(made.error());
    }
    time_ = std::move(*made);
    return mark_scale(time_, "time");
}

Result<void> Netcdf4Writer::define_all(const FileSchema& schema) {
    Result<void> done = put_text({"", "Conventions", "CF-1.8"});
    const auto next = [&](auto step) {
        if (done) {
            done = step();
        }
    };
    if (std::ranges::any_of(schema.variables, &ArrayVariable::has_steps)) {
        next([&] { return define_time(); });
    }
    for (NewVariable& variable : variables_) {
        const ArrayVariable& array = variable.array;
        for (std::size_t i = 0; i < array.shape.size(); ++i) {
            const std::string& name = array.dimensions[i];
            const HdfObject* found = named(name);
            if (found == nullptr || !found->valid()) {
                next([&] { return make_dimension(name, array.shape[i], schema); });
            }
        }
        next([&]() -> Result<void> {
            Result<HdfObject> made = make_dataset(array, variable.chunks);
            if (!made) {
                return tl::unexpected(made.error());
            }
            variable.dataset = std::move(*made);
            const bool is_scale = array.dimensions[0] == array.name;
            return is_scale ? mark_scale(variable.dataset, array.name) : Result<void>{};
        });
    }
    for (const NewVariable& variable : variables_) {
        next([&] { return attach(variable); });
    }
    for (const TextAttribute& attribute : schema.attributes) {
        next([&] { return put_text(attribute); });
    }
    for (NewVariable& variable : variables_) {
        if (!variable.array.has_steps && !by_hdf5(variable.array)) {
            next([&] { return locate_array(variable); });
        }
    }
    next([&] { return checked(H5Fflush(file_.get(), H5F_SCOPE_LOCAL), "write"); });
    return done;
}

Result<void> Netcdf4Writer::define(const FileSchema& schema) {
    for (const ArrayVariable& array : schema.variables) {
        variables_.push_back({array, chunks_of(array, array.has_steps || compress_ > 0)});
        variables_.back().begins.resize(
            static_cast<std::size_t>(variables_.back().chunks.chunks()));
    }
    Result<void> done;
    if (is_first_) {
        const QuietErrors quiet;
        done = define_all(schema);
    }
    for (NewVariable& variable : variables_) {
        if (!variable.array.has_steps && !by_hdf5(variable.array)) {
            share_begins(variable);
        }
    }
    return done;
}

Result<void> Netcdf4Writer::attach(const NewVariable& variable) {
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

Result<void> Netcdf4Writer::put_text(const TextAttribute& attribute) {
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

// All datasets get room for as many steps.
Result<void> Netcdf4Writer::set_steps(std::int64_t steps) {
    Result<void> done;
    const auto resize = [&](const HdfObject& dataset, const std::vector<std::int64_t>& shape) {
        std::vector<hsize_t> size{static_cast<hsize_t>(steps)};
        size.insert(size.end(), shape.begin(), shape.end());
        const Result<void> good = checked(H5Dset_extent(dataset.get(), size.data()), "extend");
        done = done ? good : done;
    };
    resize(time_, {});
    for (const NewVariable& variable : variables_) {
        if (variable.array.has_steps) {
            resize(variable.dataset, variable.array.shape);
        }
    }
    steps_room_ = steps;
    return done;
}

Result<void> Netcdf4Writer::put_time(double time) {
    const auto at = static_cast<hsize_t>(step_);
    const hsize_t one = 1;
    const HdfObject there(H5Dget_space(time_.get()), H5Sclose);
    const HdfObject here(H5Screate_simple(1, &one, nullptr), H5Sclose);
    H5Sselect_hyperslab(there.get(), H5S_SELECT_SET, &at, nullptr, &one, nullptr);
    return checked(
        H5Dwrite(time_.get(), H5T_NATIVE_DOUBLE, here.get(), there.get(), H5P_DEFAULT, &time),
        "write");
}

Result<void> Netcdf4Writer::begin_step(std::int64_t step, double time) {
    step_ = step;
    const bool has_steps =
        std::ranges::any_of(variables_, [](const NewVariable& one) { return one.array.has_steps; });
    if (!has_steps) {
        return {};
    }
    Result<void> done;
    if (is_first_) {
        const QuietErrors quiet;
        done = set_steps(step + 1).and_then([&] { return put_time(time); });
    }
    for (NewVariable& variable : variables_) {
        if (!variable.array.has_steps || by_hdf5(variable.array)) {
            continue;
        }
        if (is_first_ && done) {
            const QuietErrors quiet;
            done = locate_chunks(variable);
        }
        share_begins(variable);
    }
    return done;
}

Result<void> Netcdf4Writer::put(const NewVariable& variable, const ArrayPart& part,
                                const std::byte* bytes) const {
    const auto [there, here] = hdf5_selection(variable.dataset, variable.array, part);
    return checked(H5Dwrite(variable.dataset.get(), hdf5_type(variable.array.type), here.get(),
                            there.get(), H5P_DEFAULT, bytes),
                   "write");
}

// Where an array without steps is.
Result<void> Netcdf4Writer::locate_array(NewVariable& variable) {
    const haddr_t begin = H5Dget_offset(variable.dataset.get());
    variable.begins[0] = begin;
    return checked(begin == HADDR_UNDEF ? -1 : 0, "find the place of an array in");
}

// HDF5 looks for one chunk by going through all of the dataset, so it is asked only where a chunk
// does not lie behind the one before it, or as far behind that of the last step as always.
Result<void> Netcdf4Writer::locate_chunks(NewVariable& variable) {
    const auto bytes = static_cast<std::uint64_t>(variable.chunks.chunk_elements()) *
                       bytes_of(variable.array.type);
    const std::uint64_t last = variable.begins[0];
    std::uint64_t guess = variable.stride == 0 ? 0 : last + variable.stride;
    for (std::size_t chunk = 0; chunk < variable.begins.size(); ++chunk) {
        const auto number = static_cast<std::int64_t>(chunk);
        const Result<bool> guessed = lies_at(variable, number, guess);
        if (!guessed) {
            return tl::unexpected(guessed.error());
        }
        const Result<std::uint64_t> begin =
            *guessed ? Result<std::uint64_t>(guess) : looked_up(variable, number);
        if (!begin) {
            return tl::unexpected(begin.error());
        }
        variable.begins[chunk] = *begin;
        guess = *begin + bytes;
    }
    variable.stride = last > 0 && variable.begins[0] > last ? variable.begins[0] - last : 0;
    return {};
}

// Whether the chunk of the step begins there: HDF5 writes a mark to it, which is read there, and is
// overwritten by the chunk's elements later.
Result<bool> Netcdf4Writer::lies_at(const NewVariable& variable, std::int64_t chunk,
                                    std::uint64_t begin) {
    if (begin == 0) {
        return false;
    }
    const ElementRange range = variable.chunks.range_of(chunk);
    const ChunkMark mark{0x666f72656261792eU, ++marks_};
    const auto elements = static_cast<std::int64_t>(sizeof mark / bytes_of(variable.array.type));
    if (range.length() < elements) {
        return false;
    }
    const ArrayPart part{0, step_, {range.begin, range.begin + elements}};
    if (const Result<void> wrote = put(variable, part, std::as_bytes(std::span(mark)).data());
        !wrote) {
        return tl::unexpected(wrote.error());
    }
    ChunkMark found{};
    const Result<void> got =
        bytes_.read(static_cast<std::int64_t>(begin), std::as_writable_bytes(std::span(found)));
    return got ? Result<bool>(found == mark) : tl::unexpected(got.error());
}

Result<std::uint64_t> Netcdf4Writer::looked_up(const NewVariable& variable,
                                               std::int64_t chunk) const {
    const std::vector<std::int64_t> first = variable.chunks.first_of(chunk);
    std::vector<hsize_t> index{static_cast<hsize_t>(step_)};
    index.insert(index.end(), first.begin(), first.end());
    haddr_t begin = HADDR_UNDEF;
    unsigned filters = 0;
    hsize_t bytes = 0;
    const herr_t good =
        H5Dget_chunk_info_by_coord(variable.dataset.get(), index.data(), &filters, &begin, &bytes);
    const Result<void> found =
        checked(begin == HADDR_UNDEF ? -1 : good, "find the place of an array in");
    return found ? Result<std::uint64_t>(begin) : tl::unexpected(found.error());
}

void Netcdf4Writer::share_begins(NewVariable& variable) const {
    PMPI_Bcast(variable.begins.data(), static_cast<int>(variable.begins.size()), MPI_UINT64_T, 0,
               writers_);
}

Result<void> Netcdf4Writer::write(const ArrayPart& part, std::span<const std::byte> bytes) {
    if (part.range.empty()) {
        return {};
    }
    const NewVariable& variable = variables_[part.variable];
    if (by_hdf5(variable.array)) {
        const QuietErrors quiet;
        return put(variable, part, bytes.data());
    }
    const std::size_t element = bytes_of(variable.array.type);
    for (const ChunkPiece& piece : variable.chunks.pieces_of(part.range)) {
        const auto from = static_cast<std::size_t>(piece.range.begin - part.range.begin) * element;
        const auto size = static_cast<std::size_t>(piece.range.length()) * element;
        const std::uint64_t at = variable.begins[static_cast<std::size_t>(piece.chunk)] +
                                 static_cast<std::uint64_t>(piece.at) * element;
        if (Result<void> wrote =
                bytes_.write(static_cast<std::int64_t>(at), bytes.subspan(from, size));
            !wrote) {
            return wrote;
        }
    }
    return {};
}

// Writes all that a reader needs to see the step, so that steps outlive the program.
Result<void> Netcdf4Writer::end_step() {
    if (is_first_) {
        const QuietErrors quiet;
        if (Result<void> written = checked(H5Fflush(file_.get(), H5F_SCOPE_LOCAL), "write");
            !written) {
            return written;
        }
    }
    steps_ = step_ + 1;
    return {};
}

Result<void> Netcdf4Writer::close() {
    const Result<void> written = bytes_.close();
    if (!is_first_ || !file_.valid()) {
        return written;
    }
    const QuietErrors quiet;
    Result<void> done;
    if (time_.valid() && steps_room_ > steps_) {
        done = set_steps(steps_);  // one of them failed
    }
    variables_.clear();
    scales_.clear();
    time_ = HdfObject();
    const Result<void> closed = checked(file_.close(), "close");
    done = done ? closed : done;
    return written ? done : written;
}

HdfObject created(const std::string& path) {
    const HdfObject access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    // No bytes of an array are kept: other ranks write their neighbours.
    H5Pset_sieve_buf_size(access.get(), 0);
    H5Pset_meta_block_size(access.get(), metadata_block_bytes);
#if H5_VERSION_GE(1, 10, 7)
    // As with HDF5's parallel driver. Some file systems have no locks.
    H5Pset_file_locking(access.get(), false, true);
#endif
    // netCDF's library wants to know in which order things were made.
    const HdfObject how(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
    H5Pset_link_creation_order(how.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(how.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, how.get(), access.get()), H5Fclose};
}

}  // namespace

Result<std::unique_ptr<ArrayFile>> create_netcdf4_file(MPI_Comm writers, const std::string& path,
                                                       std::int32_t compress) {
    Result<ByteFile> bytes = ByteFile::open(writers, path);
    if (!bytes) {
        return tl::unexpected(bytes.error());
    }
    HdfObject file;
    Result<void> mine;
    if (rank_in(writers) == 0) {
        const QuietErrors quiet;
        file = created(path);
        mine = hdf5_result(file.get(), "create", path);
    }
    int good = mine ? 1 : 0;
    PMPI_Bcast(&good, 1, MPI_INT, 0, writers);
    if (good == 0) {
        return mine ? failure(Error{ErrorCode::input_output, 0,
                                    fmt::format("cannot create {}. {}", printable_name(path),
                                                advice_on(ErrorCode::input_output))})
                    : tl::unexpected(mine.error());
    }
    return std::make_unique<Netcdf4Writer>(std::move(file), std::move(*bytes), writers, path,
                                           compress);
}
#else
Result<std::unique_ptr<ArrayFile>> create_netcdf4_file(MPI_Comm, const std::string& path,
                                                       std::int32_t) {
    return failure(no_hdf5(path));
}
#endif

}  // namespace forebay::output
