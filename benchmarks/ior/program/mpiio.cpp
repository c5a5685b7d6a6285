// MPIIO: explicit offsets, independent or collective, optionally through a view. Hints are read
// back, and those that the MPI has not taken are reported.
#include "benchmarks/ior/program/backend.hpp"
#include "benchmarks/session/mpi_error.hpp"

#include <array>
#include <fmt/format.h>

namespace forebay::bench {

namespace {

class MpiioBackend final : public IorBackend {
public:
    using IorBackend::IorBackend;
    ~MpiioBackend() override { end(); }

    Result<void> open(const OpenRequest& request) override {
        path_ = request.path;
        task_ = request.task;
        const int mode = request.access == BackendAccess::write ? MPI_MODE_CREATE | MPI_MODE_RDWR
                                                                : MPI_MODE_RDONLY;
        const int code =
            MPI_File_open(request.comm, path_.c_str(), mode, MpiInfo(hints_).get(), &file_);
        if (code != MPI_SUCCESS) {
            file_ = MPI_FILE_NULL;
            return failure(mpi_error(code, "open " + path_));
        }
        read_hints_back();
        if (options_.mpiio.preallocate && request.access == BackendAccess::write) {
            const int taken = MPI_File_preallocate(file_, geometry_.bytes_of_file());
            if (taken != MPI_SUCCESS) {
                return failure(mpi_error(taken, "preallocate " + path_));
            }
        }
        return has_view() ? set_view() : Result<void>{};
    }

    Result<std::int64_t> write(Offset at, std::span<const std::byte> from) override {
        return move(options_.collective ? MPI_File_write_at_all : MPI_File_write_at, at, from,
                    "write");
    }

    Result<std::int64_t> read(Offset at, std::span<std::byte> to) override {
        return move(options_.collective ? MPI_File_read_at_all : MPI_File_read_at, at, to, "read");
    }

    Result<void> sync() override {
        const int code = MPI_File_sync(file_);
        return code == MPI_SUCCESS ? Result<void>{} : failure(mpi_error(code, "sync " + path_));
    }

    Result<void> close() override {
        if (file_ == MPI_FILE_NULL) {
            return {};
        }
        free_type();
        const int code = MPI_File_close(&file_);
        return code == MPI_SUCCESS ? Result<void>{} : failure(mpi_error(code, "close " + path_));
    }

    [[nodiscard]] std::string version() const override {
        return fmt::format("({}.{})", MPI_VERSION, MPI_SUBVERSION);
    }
    [[nodiscard]] bool together() const noexcept override { return options_.collective; }
    [[nodiscard]] bool syncs_together() const noexcept override { return true; }
    [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }

private:
    [[nodiscard]] bool has_view() const noexcept {
        return options_.mpiio.file_view || options_.mpiio.strided_datatype;
    }

    // Sets a view of the task's blocks in a shared file, so that they are contiguous for it.
    Result<void> set_view() {
        const bool shared = geometry_.sharing == ior::FileSharing::shared;
        const MPI_Aint stride = geometry_.block_bytes * (shared ? geometry_.tasks : 1);
        MPI_Datatype block = bytes_type(geometry_.block_bytes);
        MPI_Type_create_resized(block, 0, stride, &type_);
        MPI_Type_commit(&type_);
        MPI_Type_free(&block);
        const MPI_Offset begin = shared ? task_ * geometry_.block_bytes : 0;
        const int code = MPI_File_set_view(file_, begin, MPI_BYTE, type_, "native", MPI_INFO_NULL);
        return code == MPI_SUCCESS ? Result<void>{}
                                   : failure(mpi_error(code, "set a view of " + path_));
    }

    // A contiguous datatype of `bytes` bytes, which may exceed the 2^31-1 of MPI's counts.
    static MPI_Datatype bytes_type(std::int64_t bytes) {
        constexpr std::int64_t piece_bytes = std::int64_t{1} << 30;
        MPI_Datatype piece = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(static_cast<int>(piece_bytes), MPI_BYTE, &piece);
        const std::array<int, 2> counts{static_cast<int>(bytes / piece_bytes),
                                        static_cast<int>(bytes % piece_bytes)};
        const std::array<MPI_Aint, 2> places{0, bytes - bytes % piece_bytes};
        const std::array<MPI_Datatype, 2> parts{piece, MPI_BYTE};
        MPI_Datatype all = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(2, counts.data(), places.data(), parts.data(), &all);
        MPI_Type_free(&piece);
        return all;
    }

    [[nodiscard]] MPI_Offset place(Offset at) const noexcept {
        if (!has_view() || geometry_.sharing != ior::FileSharing::shared) {
            return at.bytes();
        }
        const std::int64_t segment = at.bytes() / (geometry_.block_bytes * geometry_.tasks);
        return segment * geometry_.block_bytes + at.bytes() % geometry_.block_bytes;
    }

    template <class Call, class Byte>
    Result<std::int64_t> move(Call call, Offset at, std::span<Byte> bytes, const char* what) {
        MPI_Status status;
        const int code =
            call(file_, place(at), bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &status);
        if (code != MPI_SUCCESS) {
            return failure(mpi_error(code, fmt::format("{} {}", what, path_)));
        }
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        return count;
    }

    void read_hints_back() {
        notes_.clear();
        MPI_Info info = MPI_INFO_NULL;
        if (MPI_File_get_info(file_, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) {
            return;
        }
        std::array<char, MPI_MAX_INFO_VAL + 1> value{};
        for (const auto& [key, wanted] : hints_) {
            int there = 0;
            MPI_Info_get(info, key.c_str(), MPI_MAX_INFO_VAL, value.data(), &there);
            if (there == 0 || wanted != value.data()) {
                notes_.push_back(
                    fmt::format("hint {}={} did not take effect ({}). See --mpiio.showHints for "
                                "those that did.",
                                key, wanted,
                                there != 0 ? fmt::format("the MPI made it {}", value.data())
                                           : std::string("the MPI does not know it")));
            }
        }
        if (options_.mpiio.show_hints) {
            show(info);
        }
        MPI_Info_free(&info);
    }

    void show(MPI_Info info) {
        int count = 0;
        MPI_Info_get_nkeys(info, &count);
        std::array<char, MPI_MAX_INFO_KEY + 1> key{};
        std::array<char, MPI_MAX_INFO_VAL + 1> value{};
        for (int i = 0; i < count; ++i) {
            int there = 0;
            MPI_Info_get_nthkey(info, i, key.data());
            MPI_Info_get(info, key.data(), MPI_MAX_INFO_VAL, value.data(), &there);
            notes_.push_back(fmt::format("hint in effect: {} = {}", key.data(), value.data()));
        }
    }

    void free_type() {
        if (type_ != MPI_DATATYPE_NULL) {
            MPI_Type_free(&type_);
        }
    }
    void end() {
        free_type();
        if (file_ != MPI_FILE_NULL) {
            MPI_File_close(&file_);
        }
    }

    std::int64_t task_ = 0;
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<IorBackend> make_mpiio(const BackendContext& context) {
    return std::make_unique<MpiioBackend>(context);
}

}  // namespace forebay::bench
