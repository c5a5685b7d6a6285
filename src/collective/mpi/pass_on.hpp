// A call to the MPI's own function that is ready to be made, on any handle: a reference to a
// callable (function_ref). It does not own the callable, and lives for one call.
#pragma once

#include <memory>
#include <mpi.h>
#include <type_traits>

namespace forebay::interposer {

class PassOn {
public:
    template <class Callable>
        requires(!std::is_same_v<std::remove_cvref_t<Callable>, PassOn>)
    PassOn(const Callable& callable) noexcept  // NOLINT(google-explicit-constructor): a reference
        : object_(std::addressof(callable)), call_([](const void* object, MPI_File file) noexcept {
              return (*static_cast<const Callable*>(object))(file);
          }) {}

    int operator()(MPI_File file) const noexcept { return call_(object_, file); }

private:
    const void* object_;
    int (*call_)(const void*, MPI_File) noexcept;
};

}  // namespace forebay::interposer
