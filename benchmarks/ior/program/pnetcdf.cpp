// NCMPI: PnetCDF, one variable of bytes in a CDF-5 file. Built if the MPI family has PnetCDF
// (Debian packages it for Open MPI).
#include "benchmarks/ior/program/backend.hpp"

#ifdef FOREBAY_HAVE_PNETCDF
#include <fmt/format.h>
#include <pnetcdf.h>

namespace forebay::bench {

namespace {

class PnetcdfBackend final : public IorBackend {
public:
    using IorBackend::IorBackend;

    Result<void> open(const OpenRequest& request) override {
        path_ = request.path;
        const MpiInfo info(hints_);
        const int code = request.access == BackendAccess::write
                             ? create(request.comm, info.get())
                             : open_old(request.comm, info.get());
        if (code != NC_NOERR) {
            return failure(open_error(request, wrong(code, "open").value()));
        }
        open_ = true;
        const int mode = options_.collective ? NC_NOERR : ncmpi_begin_indep_data(file_);
        return mode == NC_NOERR ? Result<void>{} : wrong(mode, "open");
    }

    Result<std::int64_t> write(Offset at, std::span<const std::byte> from) override {
        const MPI_Offset begin = at.bytes();
        const auto count = static_cast<MPI_Offset>(from.size());
        const auto* bytes = reinterpret_cast<const signed char*>(from.data());
        const int code = options_.collective
                             ? ncmpi_put_vara_schar_all(file_, variable_, &begin, &count, bytes)
                             : ncmpi_put_vara_schar(file_, variable_, &begin, &count, bytes);
        return code == NC_NOERR ? Result<std::int64_t>(count) : wrong(code, "write");
    }

    Result<std::int64_t> read(Offset at, std::span<std::byte> to) override {
        const MPI_Offset begin = at.bytes();
        const auto count = static_cast<MPI_Offset>(to.size());
        auto* bytes = reinterpret_cast<signed char*>(to.data());
        const int code = options_.collective
                             ? ncmpi_get_vara_schar_all(file_, variable_, &begin, &count, bytes)
                             : ncmpi_get_vara_schar(file_, variable_, &begin, &count, bytes);
        return code == NC_NOERR ? Result<std::int64_t>(count) : wrong(code, "read");
    }

    Result<void> sync() override {
        const int code = ncmpi_sync(file_);
        return code == NC_NOERR ? Result<void>{} : wrong(code, "sync");
    }

    Result<void> close() override {
        if (!open_) {
            return {};
        }
        open_ = false;
        const int code = ncmpi_close(file_);
        return code == NC_NOERR ? Result<void>{} : wrong(code, "close");
    }

    [[nodiscard]] std::string version() const override { return ncmpi_inq_libvers(); }
    [[nodiscard]] bool together() const noexcept override { return options_.collective; }
    [[nodiscard]] bool syncs_together() const noexcept override { return true; }
    [[nodiscard]] bool plain_file() const noexcept override { return false; }

private:
    int create(MPI_Comm comm, MPI_Info info) {
        int code = ncmpi_create(comm, path_.c_str(), NC_CLOBBER | NC_64BIT_DATA, info, &file_);
        int dimension = 0;
        if (code == NC_NOERR) {
            code = ncmpi_def_dim(file_, "bytes", geometry_.bytes_of_file(), &dimension);
        }
        if (code == NC_NOERR) {
            code = ncmpi_def_var(file_, "data", NC_BYTE, 1, &dimension, &variable_);
        }
        return code == NC_NOERR ? ncmpi_enddef(file_) : code;
    }

    int open_old(MPI_Comm comm, MPI_Info info) {
        const int code = ncmpi_open(comm, path_.c_str(), NC_NOWRITE, info, &file_);
        return code == NC_NOERR ? ncmpi_inq_varid(file_, "data", &variable_) : code;
    }

    [[nodiscard]] tl::unexpected<Error> wrong(int code, const char* what) const {
        return failure({ErrorCode::input_output, 0,
                        fmt::format("cannot {} {} ({}). Look at the file system and its free "
                                    "space.",
                                    what, path_, ncmpi_strerror(code))});
    }

    int file_ = -1;
    int variable_ = 0;
    bool open_ = false;
};

}  // namespace

std::unique_ptr<IorBackend> make_pnetcdf(const BackendContext& context) {
    return std::make_unique<PnetcdfBackend>(context);
}

}  // namespace forebay::bench
#endif
