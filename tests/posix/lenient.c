/* Preloaded before AddressSanitizer's run time: dd and split ask aligned_alloc for sizes that are
 * no multiple of the alignment. libc allows this, the sanitizer does not. */
#include <malloc.h>

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
