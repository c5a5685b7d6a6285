// Mappings of other clients' logs, by threads that read them and others that replace them.
#include "pool/client/client_logs.hpp"

#include "pool/client/shared_mapping.hpp"
#include "pool/protocol/log.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <sys/mman.h>

namespace forebay::pool {
namespace {

std::byte* new_log() {
    void* const at = ::mmap(nullptr, LogShape::bytes, PROT_READ,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_NE(at, MAP_FAILED);
    return static_cast<std::byte*>(at);
}

bool is_mapped(std::byte* log) {
    unsigned char in_memory = 0;
    return ::mincore(log, 1, &in_memory) == 0 || errno != ENOMEM;
}

TEST(ClientLogs, AreUnmappedWhenNobodyElseReads) {
    ClientLogs logs;
    std::byte* const first = new_log();
    {
        const ClientLogs::Reading own{logs};
        EXPECT_EQ(logs.replace(1, 10, first), first);
        EXPECT_EQ(logs.find(1, 10), first);
        EXPECT_NE(logs.replace(1, 11, new_log()), nullptr);
        EXPECT_EQ(logs.find(1, 10), nullptr);
        EXPECT_TRUE(is_mapped(first)) << "another thread may have begun to read before";
        EXPECT_NE(logs.replace(1, 12, new_log()), nullptr);
    }
    EXPECT_FALSE(is_mapped(first));
    logs.forget();
}

// A log that cannot be kept until its readers have ended is not replaced; nothing is mapped twice.
TEST(ClientLogs, AreNotLostWhileOthersReadAllTheTime) {
    ClientLogs logs;
    std::vector<std::byte*> all;
    {
        const ClientLogs::Reading own{logs};
        const ClientLogs::Reading other{logs};
        for (std::uint64_t number = 1; number <= 100; ++number) {
            std::byte* const fresh = new_log();
            all.push_back(fresh);
            if (logs.replace(1, number, fresh) == nullptr) {
                EXPECT_FALSE(is_mapped(fresh));
                all.pop_back();
            }
        }
        for (std::byte* const one : all) {
            EXPECT_TRUE(is_mapped(one));
        }
        EXPECT_LT(all.size(), 20U);
    }
    const ClientLogs::Reading own{logs};
    std::byte* const last = new_log();
    EXPECT_EQ(logs.replace(1, 1000, last), last) << "nobody else reads any more";
    logs.forget();
    for (std::byte* const one : all) {
        EXPECT_FALSE(is_mapped(one));
    }
}

}  // namespace
}  // namespace forebay::pool
