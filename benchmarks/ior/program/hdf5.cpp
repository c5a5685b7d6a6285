// HDF5: one dataset of 8-byte words, with a hyperslab per transfer, through MPI-IO if the file is
// shared. Built if the MPI family has a parallel HDF5.
#include "benchmarks/ior/program/backend.hpp"

#ifdef FOREBAY_HAVE_HDF5
#include <algorithm>
#include <fmt/format.h>
#include <hdf5.h>

namespace forebay::bench {

namespace {

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* into) {
    *static_cast<std::string*>(into) = error->desc != nullptr ? error->desc : "no reason given";
    return 0;
}

tl::unexpected<Error> hdf5_error(const std::string& doing) {
    std::string why = "HDF5 does not say";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &why);
    H5Eclear2(H5E_DEFAULT);
    return failure(
        {ErrorCode::input_output, 0,
         fmt::format("cannot {} ({}). Look at the file system and its free space.", doing, why)});
}

// An HDF5 identifier and the function that closes it.
class Hdf5Handle {
public:
    Hdf5Handle() = default;
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Hdf5Handle() { reset(); }
    Hdf5Handle(Hdf5Handle&& other) noexcept
        : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    [[nodiscard]] hid_t id() const noexcept { return id_; }
    [[nodiscard]] bool good() const noexcept { return id_ >= 0; }
    herr_t reset() noexcept {
        const herr_t closed = id_ >= 0 ? close_(id_) : 0;
        id_ = -1;
        return closed;
    }

private:
    hid_t id_ = -1;
    herr_t (*close_)(hid_t) = drop_reference;
    static herr_t drop_reference(hid_t id) { return H5Idec_ref(id) < 0 ? -1 : 0; }
};

class Hdf5Backend final : public IorBackend {
public:
    explicit Hdf5Backend(const BackendContext& context) : IorBackend(context) {
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }

    Result<void> open(const OpenRequest& request) override {
        path_ = request.path;
        const Hdf5Handle access = access_list(request.comm);
        const bool writes = request.access == BackendAccess::write;
        file_ =
            Hdf5Handle(writes ? H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id())
                              : H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.id()),
                       H5Fclose);
        if (!file_.good()) {
            return failure(open_error(request, hdf5_error("open " + path_).value()));
        }
        data_ = writes ? create_data()
                       : Hdf5Handle(H5Dopen2(file_.id(), "data", H5P_DEFAULT), H5Dclose);
        if (!data_.good()) {
            return hdf5_error("open the data set of " + path_);
        }
        space_ = Hdf5Handle(H5Dget_space(data_.id()), H5Sclose);
        const hsize_t words = static_cast<hsize_t>(geometry_.transfer_bytes) / word_bytes;
        memory_ = Hdf5Handle(H5Screate_simple(1, &words, nullptr), H5Sclose);
        transfer_ = Hdf5Handle(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
        H5Pset_dxpl_mpio(transfer_.id(),
                         options_.collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
        return {};
    }

    Result<std::int64_t> write(Offset at, std::span<const std::byte> from) override {
        if (!select(at, from.size()) || H5Dwrite(data_.id(), H5T_NATIVE_UINT64, memory_.id(),
                                                 space_.id(), transfer_.id(), from.data()) < 0) {
            return hdf5_error("write " + path_);
        }
        return static_cast<std::int64_t>(from.size());
    }

    Result<std::int64_t> read(Offset at, std::span<std::byte> to) override {
        if (!select(at, to.size()) || H5Dread(data_.id(), H5T_NATIVE_UINT64, memory_.id(),
                                              space_.id(), transfer_.id(), to.data()) < 0) {
            return hdf5_error("read " + path_);
        }
        return static_cast<std::int64_t>(to.size());
    }

    Result<void> sync() override {
        return H5Fflush(file_.id(), H5F_SCOPE_LOCAL) < 0
                   ? Result<void>(hdf5_error("flush " + path_))
                   : Result<void>{};
    }

    Result<void> close() override {
        transfer_.reset();
        memory_.reset();
        space_.reset();
        const herr_t data = data_.reset();
        const herr_t file = file_.reset();
        return data < 0 || file < 0 ? Result<void>(hdf5_error("close " + path_)) : Result<void>{};
    }

    [[nodiscard]] std::string version() const override {
        unsigned major = 0;
        unsigned minor = 0;
        unsigned release = 0;
        H5get_libversion(&major, &minor, &release);
        return fmt::format("{}.{}.{} (Parallel)", major, minor, release);
    }
    [[nodiscard]] bool together() const noexcept override { return options_.collective; }
    [[nodiscard]] bool syncs_together() const noexcept override { return true; }
    [[nodiscard]] bool plain_file() const noexcept override { return false; }

private:
    static constexpr hsize_t word_bytes = 8;

    [[nodiscard]] Hdf5Handle access_list(MPI_Comm comm) const {
        Hdf5Handle list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        H5Pset_fapl_mpio(list.id(), comm, MpiInfo(hints_).get());
        if (options_.hdf5.alignment > 1) {
            H5Pset_alignment(list.id(), 1, static_cast<hsize_t>(options_.hdf5.alignment));
        }
        if (options_.hdf5.collective_metadata) {
            H5Pset_all_coll_metadata_ops(list.id(), true);
            H5Pset_coll_metadata_write(list.id(), true);
        }
        return list;
    }

    [[nodiscard]] Hdf5Handle create_data() const {
        const hsize_t words = static_cast<hsize_t>(geometry_.bytes_of_file()) / word_bytes;
        const Hdf5Handle space(H5Screate_simple(1, &words, nullptr), H5Sclose);
        const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        if (options_.hdf5.no_fill) {
            H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER);
        }
        if (options_.hdf5.chunk_elements > 0) {
            const hsize_t chunk =
                std::min(words, static_cast<hsize_t>(options_.hdf5.chunk_elements));
            H5Pset_chunk(creation.id(), 1, &chunk);
        }
        return {H5Dcreate2(file_.id(), "data", H5T_NATIVE_UINT64, space.id(), H5P_DEFAULT,
                           creation.id(), H5P_DEFAULT),
                H5Dclose};
    }

    [[nodiscard]] bool select(Offset at, std::size_t size) const {
        const hsize_t begin = static_cast<hsize_t>(at.bytes()) / word_bytes;
        const hsize_t count = size / word_bytes;
        return H5Sselect_hyperslab(space_.id(), H5S_SELECT_SET, &begin, nullptr, &count, nullptr) >=
               0;
    }

    Hdf5Handle file_;
    Hdf5Handle data_;
    Hdf5Handle space_;
    Hdf5Handle memory_;
    Hdf5Handle transfer_;
};

}  // namespace

std::unique_ptr<IorBackend> make_hdf5(const BackendContext& context) {
    return std::make_unique<Hdf5Backend>(context);
}

}  // namespace forebay::bench
#endif
