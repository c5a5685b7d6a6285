/* Where the bytes of a striped file lie, as on Lustre: stripe number s is in the object of target
 * s mod count, behind the stripes of that target that come before it.
 *
 *   file      0 1 2 3 4 5 6 7      object 0   0 3 6
 *   count 3                        object 1   1 4 7
 *                                  object 2   2 5      */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* count 0: no layout yet. */
struct stripes {
    uint32_t bytes;
    uint16_t count;
};

/* Bytes that lie together in one object. */
struct part {
    uint32_t target;
    off_t at; /* in the object */
    size_t length;
};

/* The first part of `length` bytes of the file from `at` on. */
static inline struct part first_part(struct stripes stripes, off_t at, size_t length) {
    const off_t stripe = at / stripes.bytes, within = at % stripes.bytes;
    const size_t room = (size_t)(stripes.bytes - within);
    return (struct part){.target = (uint32_t)(stripe % stripes.count),
                         .at = stripe / stripes.count * stripes.bytes + within,
                         .length = length < room ? length : room};
}

/* Bytes that a target's object has of the first `length` bytes of the file. */
static inline off_t object_bytes(struct stripes stripes, uint32_t target, off_t length) {
    const off_t bytes = stripes.bytes, before = (off_t)target * bytes;
    const off_t rest = length % (bytes * stripes.count) - before;
    return length / (bytes * stripes.count) * bytes + (rest < 0 ? 0 : rest < bytes ? rest : bytes);
}
