// The stand-ins for functions of a newer libc do what libc's own do, where this libc has them.
#include "foundation/kernel/older_functions.hpp"

#include "foundation/kernel/random.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>

namespace forebay::kernel {
namespace {

class OlderFunctions : public ::testing::Test {
protected:
    OlderFunctions() {
        std::string name = ::testing::TempDir() + "older_functions_XXXXXX";
        folder_ = ::mkdtemp(name.data());
        ::symlink("target", path("link").c_str());
        fd_ = ::open(path("target").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0640);
        static_cast<void>(::pwrite(fd_, "forebay", 7, 0));
    }
    ~OlderFunctions() override {
        ::close(fd_);
        for (const char* name : {"link", "target", "made"}) {
            ::unlink(path(name).c_str());
        }
        ::rmdir(folder_.c_str());
    }
    OlderFunctions(const OlderFunctions&) = delete;
    OlderFunctions& operator=(const OlderFunctions&) = delete;

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

    std::string folder_;
    int fd_ = -1;
};

bool is_same(const struct stat& one, const struct stat& other) {
    return std::memcmp(&one, &other, sizeof one) == 0;
}

TEST_F(OlderFunctions, TellOfFilesAsLibcDoes) {
    struct stat ours{};
    struct stat libcs{};
    EXPECT_EQ(forebay_stat(path("link").c_str(), &ours), 0);
    EXPECT_EQ(::stat(path("link").c_str(), &libcs), 0);
    EXPECT_EQ(ours.st_size, 7);
    EXPECT_TRUE(is_same(ours, libcs));
    EXPECT_EQ(forebay_lstat(path("link").c_str(), &ours), 0);
    EXPECT_EQ(::lstat(path("link").c_str(), &libcs), 0);
    EXPECT_TRUE(S_ISLNK(ours.st_mode));
    EXPECT_TRUE(is_same(ours, libcs));
    EXPECT_EQ(forebay_fstat(fd_, &ours), 0);
    EXPECT_EQ(::fstat(fd_, &libcs), 0);
    EXPECT_TRUE(is_same(ours, libcs));
    const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(forebay_fstatat(folder, "link", &ours, AT_SYMLINK_NOFOLLOW), 0);
    EXPECT_TRUE(S_ISLNK(ours.st_mode));
    ::close(folder);
    EXPECT_EQ(forebay_stat(path("missing").c_str(), &ours), -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(forebay_fstat(-1, &ours), -1);
    EXPECT_EQ(errno, EBADF);
}

TEST_F(OlderFunctions, MakeFiles) {
    EXPECT_EQ(forebay_mknod(path("made").c_str(), S_IFREG | 0600, 0), 0);
    struct stat made{};
    EXPECT_EQ(::stat(path("made").c_str(), &made), 0);
    EXPECT_TRUE(S_ISREG(made.st_mode));
    EXPECT_EQ(forebay_mknod(path("made").c_str(), S_IFREG | 0600, 0), -1);
    EXPECT_EQ(errno, EEXIST);
    constexpr dev_t too_large = dev_t{1} << 40U;
    EXPECT_EQ(forebay_mknodat(AT_FDCWD, path("other").c_str(), S_IFCHR | 0600, too_large), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST(OlderRandom, NumbersDiffer) {
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 100; ++i) {
        numbers.insert(random_number());
    }
    EXPECT_EQ(numbers.size(), 100U);
    EXPECT_NE(forebay_arc4random(), forebay_arc4random());
}

timespec after(clockid_t clock, std::int64_t milliseconds) {
    timespec time{};
    ::clock_gettime(clock, &time);
    const std::int64_t ns =
        std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec + milliseconds * 1'000'000;
    return {ns / 1'000'000'000, ns % 1'000'000'000};
}

bool is_over(clockid_t clock, const timespec& time) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return now.tv_sec > time.tv_sec || (now.tv_sec == time.tv_sec && now.tv_nsec >= time.tv_nsec);
}

using ClockWait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);

int wait_as_if_older(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                     const timespec* until) {
    return wait_by_calendar(condition, mutex, clock, *until);
}

class OlderWait : public ::testing::TestWithParam<ClockWait> {
protected:
    pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

TEST_P(OlderWait, EndsAtItsTimeAndNotBefore) {
    for (const std::int64_t milliseconds : {-1'000, 0, 20}) {
        const timespec until = after(CLOCK_MONOTONIC, milliseconds);
        ::pthread_mutex_lock(&mutex_);
        int error = 0;
        while (error == 0) {
            error = GetParam()(&condition_, &mutex_, CLOCK_MONOTONIC, &until);
        }
        ::pthread_mutex_unlock(&mutex_);
        EXPECT_EQ(error, ETIMEDOUT);
        EXPECT_TRUE(is_over(CLOCK_MONOTONIC, until));
    }
}

TEST_P(OlderWait, EndsWhereItIsWoken) {
    bool is_set = false;
    std::thread waker{[&] {
        ::pthread_mutex_lock(&mutex_);
        is_set = true;
        ::pthread_cond_signal(&condition_);
        ::pthread_mutex_unlock(&mutex_);
    }};
    const timespec until = after(CLOCK_MONOTONIC, 600'000);
    int error = 0;
    ::pthread_mutex_lock(&mutex_);
    while (!is_set && error == 0) {
        error = GetParam()(&condition_, &mutex_, CLOCK_MONOTONIC, &until);
    }
    ::pthread_mutex_unlock(&mutex_);
    waker.join();
    EXPECT_EQ(error, 0);
}

INSTANTIATE_TEST_SUITE_P(Both, OlderWait,
                         ::testing::Values(&forebay_cond_clockwait, &wait_as_if_older));

TEST(OlderObjects, AreFoundByAnAddressInThem) {
    ForebayFoundObject own{};
    auto* const here = reinterpret_cast<void*>(&is_over);
    ASSERT_EQ(forebay_find_object(here, &own), 0);
    EXPECT_LE(own.begin, here);
    EXPECT_GT(own.end, here);
    ForebayFoundObject libcs{};
    ASSERT_EQ(forebay_find_object(::dlsym(RTLD_DEFAULT, "getpid"), &libcs), 0);
    EXPECT_NE(libcs.begin, own.begin);
    int local = 0;
    EXPECT_EQ(forebay_find_object(&local, &libcs), -1);  // on the stack
}

TEST(OlderObjects, AreThoseThatANewerLibcFinds) {
    using FindObject = int (*)(void*, ForebayFoundObject*);
    const auto newer = reinterpret_cast<FindObject>(::dlsym(RTLD_DEFAULT, "_dl_find_object"));
    if (newer == nullptr) {
        GTEST_SKIP() << "this libc has no _dl_find_object";
    }
    for (const char* name : {"getpid", "_ZSt9terminatev"}) {
        ForebayFoundObject ours{};
        ForebayFoundObject libcs{};
        ASSERT_EQ(forebay_find_object(::dlsym(RTLD_DEFAULT, name), &ours), 0);
        ASSERT_EQ(newer(::dlsym(RTLD_DEFAULT, name), &libcs), 0);
        EXPECT_EQ(ours.begin, libcs.begin);
        EXPECT_EQ(ours.end, libcs.end);
        EXPECT_EQ(ours.frames, libcs.frames);
    }
}

}  // namespace
}  // namespace forebay::kernel
