// The names of back ends, and those of IOR that are not built.
#include "benchmarks/ior/program/backend.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace forebay::bench {

namespace {

struct NamedBackend {
    std::string_view name;
    std::unique_ptr<IorBackend> (*make)(const BackendContext&);
};

constexpr auto built = std::to_array<NamedBackend>({
    {"POSIX", make_posix},
    {"MPIIO", make_mpiio},
#ifdef FOREBAY_HAVE_HDF5
    {"HDF5", make_hdf5},
#endif
#ifdef FOREBAY_HAVE_PNETCDF
    {"NCMPI", make_pnetcdf},
#endif
    {"MMAP", make_mmap},
    {"DUMMY", make_dummy},
});

std::string built_names() {
    std::string names;
    for (const NamedBackend& one : built) {
        names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
    return names;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

}  // namespace

Result<std::string> backend_name(const std::string& api) {
    std::string name = upper(api);
    for (const NamedBackend& one : built) {
        if (one.name == name) {
            return name;
        }
    }
    return failure({ErrorCode::argument, 0,
                    fmt::format("not built: {} (the {} build has {}). Give -a one of these.", api,
                                FOREBAY_MPI_FAMILY, built_names())});
}

Result<std::unique_ptr<IorBackend>> make_backend(const BackendContext& context) {
    const auto name = backend_name(context.options->api);
    if (!name) {
        return tl::unexpected<Error>(name.error());
    }
    const auto* found = std::find_if(built.begin(), built.end(),
                                     [&](const NamedBackend& one) { return one.name == *name; });
    return found->make(context);
}

Error open_error(const OpenRequest& request, Error said) {
    const std::size_t slash = request.path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : request.path.substr(0, slash + 1);
    const bool may = request.access == BackendAccess::write
                         ? ::access(parent.c_str(), W_OK) == 0
                         : ::access(request.path.c_str(), R_OK) == 0;
    return !may && (errno == EROFS || errno == EACCES) ? system_error(errno, "open " + request.path)
                                                       : std::move(said);
}

Result<void> remove_file(const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
        return failure(system_error(errno, "remove " + path));
    }
    return {};
}

}  // namespace forebay::bench
