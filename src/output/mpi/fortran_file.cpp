// Sequential unformatted files of Fortran by MPI-IO: one record for each variable of each step, in
// the order in which the variables were defined. MPI-IO, and not our own file calls, so that
// Forebay's collective engine and pool see the writes as any program's.
#include "foundation/base/printable.hpp"
#include "output/mpi/agreement.hpp"
#include "output/mpi/array_file.hpp"

#include <fmt/format.h>

namespace forebay::output {
namespace {

class FortranFile final : public ArrayFile {
public:
    FortranFile(MPI_File file, std::string path, const RecordFormat& format)
        : file_(file), path_(std::move(path)), format_(format) {}
    ~FortranFile() override { static_cast<void>(FortranFile::close()); }

    Result<void> define(const FileSchema& schema) override {
        schema_ = schema;
        return {};
    }
    Result<void> begin_step(std::int64_t, double) override { return {}; }
    Result<void> write(const ArrayPart& part, std::span<const std::byte> bytes) override;
    Result<void> end_array(std::size_t variable) override {
        record_begin_ += framed_bytes(format_, bytes_in_record(variable));
        return {};
    }

    Result<void> find(const ArrayVariable&) override { return not_to_be_read(); }
    Result<std::int64_t> steps() override { return tl::unexpected(not_to_be_read().error()); }
    Result<void> read(const ArrayPart&, std::span<std::byte>) override { return not_to_be_read(); }

    Result<void> close() override {
        return file_ == MPI_FILE_NULL ? Result<void>{}
                                      : file_result(MPI_File_close(&file_), doing("close"));
    }

private:
    [[nodiscard]] std::string doing(std::string_view verb) const {
        return fmt::format("{} {}", verb, printable_name(path_));
    }
    [[nodiscard]] std::int64_t bytes_in_record(std::size_t variable) const {
        const ArrayVariable& array = schema_.variables[variable];
        return array.elements() * static_cast<std::int64_t>(bytes_of(array.type));
    }
    static Result<void> not_to_be_read() {
        return failure(Error{ErrorCode::unsupported, 0,
                             "a file of Fortran records cannot be opened by fbo_open (its records "
                             "do not say what they are). Read it by read statements."});
    }

    MPI_File file_;
    std::string path_;
    RecordFormat format_;
    FileSchema schema_;
    std::int64_t record_begin_ = 0;
};

Result<void> FortranFile::write(const ArrayPart& part, std::span<const std::byte> bytes) {
    const std::size_t element = bytes_of(schema_.variables[part.variable].type);
    std::vector<std::byte> image;
    std::int64_t at = record_begin_;
    if (!part.range.empty()) {
        const std::int64_t begin = part.range.begin * static_cast<std::int64_t>(element);
        at += framed_offset(format_, begin);
        std::vector<std::byte> swapped;
        if (format_.order != std::endian::native) {
            swapped.assign(bytes.begin(), bytes.end());
            swap_elements(swapped, element);
            bytes = swapped;
        }
        image = framed_image(format_, bytes_in_record(part.variable), begin, bytes);
    }
    MPI_Status status;
    const auto size = static_cast<int>(image.size());
    if (Result<void> wrote = file_result(
            MPI_File_write_at(file_, at, image.data(), size, MPI_BYTE, &status), doing("write"));
        !wrote) {
        return wrote;
    }
    int count = 0;
    PMPI_Get_count(&status, MPI_BYTE, &count);
    if (count != size) {
        return failure(
            Error{ErrorCode::input_output, 0,
                  fmt::format("cannot write {} ({} of {} bytes were written). {}",
                              printable_name(path_), count, size, advice_on(ErrorCode::no_space))});
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<ArrayFile>> create_fortran_file(MPI_Comm writers, const std::string& path,
                                                       const RecordFormat& format) {
    MPI_File file = MPI_FILE_NULL;
    const std::string doing = fmt::format("create {}", printable_name(path));
    if (const Result<void> opened =
            file_result(MPI_File_open(writers, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY,
                                      MPI_INFO_NULL, &file),
                        doing);
        !opened) {
        return tl::unexpected(opened.error());
    }
    auto made = std::make_unique<FortranFile>(file, path, format);
    if (const Result<void> emptied = file_result(MPI_File_set_size(file, 0), doing); !emptied) {
        return tl::unexpected(emptied.error());
    }
    return made;
}

}  // namespace forebay::output
