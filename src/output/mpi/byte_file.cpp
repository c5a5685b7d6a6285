// Independent writes by MPI-IO. A short one is continued, which tells why it was short.
#include "output/mpi/byte_file.hpp"

#include "foundation/base/printable.hpp"
#include "output/mpi/agreement.hpp"
#include "output/plan/fortran_record.hpp"

#include <fmt/format.h>
#include <utility>

namespace forebay::output {

ByteFile::ByteFile(ByteFile&& other) noexcept
    : file_(std::exchange(other.file_, MPI_FILE_NULL)), path_(std::move(other.path_)) {}

ByteFile& ByteFile::operator=(ByteFile&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
    return *this;
}

ByteFile::~ByteFile() { static_cast<void>(close()); }

std::string ByteFile::doing(const char* verb) const {
    return fmt::format("{} {}", verb, printable_name(path_));
}

Result<ByteFile> ByteFile::open(MPI_Comm writers, const std::string& path) {
    MPI_File file = MPI_FILE_NULL;
    const Result<void> opened = file_result(
        MPI_File_open(writers, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        fmt::format("create {}", printable_name(path)));
    return opened ? Result<ByteFile>(ByteFile(file, path)) : tl::unexpected(opened.error());
}

Result<void> ByteFile::set_size(std::int64_t bytes) {
    return file_result(MPI_File_set_size(file_, bytes), doing("set the size of"));
}

Result<void> ByteFile::write(std::int64_t at, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        MPI_Status status;
        const auto size = static_cast<int>(bytes.size());
        if (Result<void> wrote =
                file_result(MPI_File_write_at(file_, at, bytes.data(), size, MPI_BYTE, &status),
                            doing("write"));
            !wrote) {
            return wrote;
        }
        int count = 0;
        PMPI_Get_count(&status, MPI_BYTE, &count);
        if (count <= 0 || count > size) {
            return failure(Error{
                ErrorCode::input_output, 0,
                fmt::format("cannot write {} ({} of {} bytes were written). {}",
                            printable_name(path_), count, size, advice_on(ErrorCode::no_space))});
        }
        at += count;
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
    return {};
}

Result<void> ByteFile::read(std::int64_t at, std::span<std::byte> bytes) {
    MPI_Status status;
    return file_result(MPI_File_read_at(file_, at, bytes.data(), static_cast<int>(bytes.size()),
                                        MPI_BYTE, &status),
                       doing("read"));
}

Result<std::int64_t> ByteFile::size() const {
    MPI_Offset bytes = 0;
    const Result<void> told = file_result(MPI_File_get_size(file_, &bytes), doing("look at"));
    return told ? Result<std::int64_t>(bytes) : tl::unexpected(told.error());
}

Result<void> ByteFile::close() {
    return file_ == MPI_FILE_NULL ? Result<void>{}
                                  : file_result(MPI_File_close(&file_), doing("close"));
}

ElementBytes::ElementBytes(std::span<const std::byte> bytes, std::size_t element_bytes,
                           bool swapped)
    : bytes_(bytes) {
    if (swapped && element_bytes > 1) {
        swapped_.assign(bytes.begin(), bytes.end());
        swap_elements(swapped_, element_bytes);
        bytes_ = swapped_;
    }
}

}  // namespace forebay::output
