// Sequential unformatted files of Fortran by MPI-IO: one record for each variable of each step, in
// the order in which the variables were defined.
#include "output/mpi/array_file.hpp"
#include "output/mpi/byte_file.hpp"

namespace forebay::output {
namespace {

class FortranFile final : public ArrayFile {
public:
    FortranFile(ByteFile file, const RecordFormat& format)
        : file_(std::move(file)), format_(format) {}

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

    Result<void> end_step() override { return {}; }

    Result<void> find(const ArrayVariable&) override { return not_to_be_read(); }
    Result<std::int64_t> steps() override { return tl::unexpected(not_to_be_read().error()); }
    Result<void> read(const ArrayPart&, std::span<std::byte>) override { return not_to_be_read(); }

    Result<void> close() override { return file_.close(); }

private:
    [[nodiscard]] std::int64_t bytes_in_record(std::size_t variable) const {
        const ArrayVariable& array = schema_.variables[variable];
        return array.elements() * static_cast<std::int64_t>(bytes_of(array.type));
    }
    static Result<void> not_to_be_read() {
        return failure(Error{ErrorCode::unsupported, 0,
                             "a file of Fortran records cannot be opened by fbo_open (its records "
                             "do not say what they are). Read it by read statements."});
    }

    ByteFile file_;
    RecordFormat format_;
    FileSchema schema_;
    std::int64_t record_begin_ = 0;
};

Result<void> FortranFile::write(const ArrayPart& part, std::span<const std::byte> bytes) {
    if (part.range.empty()) {
        return {};
    }
    const std::size_t element = bytes_of(schema_.variables[part.variable].type);
    const std::int64_t begin = part.range.begin * static_cast<std::int64_t>(element);
    const ElementBytes ordered(bytes, element, format_.order != std::endian::native);
    const std::vector<std::byte> image =
        framed_image(format_, bytes_in_record(part.variable), begin, ordered.get());
    return file_.write(record_begin_ + framed_offset(format_, begin), image);
}

}  // namespace

Result<std::unique_ptr<ArrayFile>> create_fortran_file(MPI_Comm writers, const std::string& path,
                                                       const RecordFormat& format) {
    Result<ByteFile> file = ByteFile::open(writers, path);
    if (!file) {
        return tl::unexpected(file.error());
    }
    if (const Result<void> emptied = file->set_size(0); !emptied) {
        return tl::unexpected(emptied.error());
    }
    return std::make_unique<FortranFile>(std::move(*file), format);
}

}  // namespace forebay::output
