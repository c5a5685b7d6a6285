// KeyValueOptions about a target that is ill, which two of the command lines have.
#pragma once

#include "worlds/simgrid/lustre.hpp"
#include "worlds/simulate/key_value_options.hpp"

#include <cstdint>

namespace forebay::sim {

// Keys of a Subject that has a `sickness`.
template <class Subject>
Key<Subject> sick_target() {
    return plain<Subject>({"sick_target", "the target that is ill, from 0; -1: none"},
                          {-1, 65535, true}, [](Subject& e) -> auto& { return e.sickness.target; });
}

template <class Subject>
Key<Subject> sick_slower() {
    return plain<Subject>({"sick_slower", "its requests take so many times as long"}, {1, 1e6},
                          [](Subject& e) -> auto& { return e.sickness.slower; });
}

template <class Subject>
Key<Subject> sick_error_from() {
    return plain<Subject>({"sick_error_from", "it fails from this second on; -1: never"}, {-1, 1e9},
                          [](Subject& e) -> auto& { return e.sickness.error_from; });
}

// Refuses a target that is none of so many, and what is said of none.
[[nodiscard]] Result<void> check_sick_target(const adapters::Sickness& sickness,
                                             std::int64_t targets);

}  // namespace forebay::sim
