// Declarations of libc that the generated table of captured functions needs.
#pragma once

#include <aio.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <mntent.h>
#include <nl_types.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <utime.h>
#include <utmp.h>
#include <utmpx.h>
#include <wordexp.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <cwchar>

// The callbacks of nftw and ftw, called for each file.
using NftwVisit = int(const char* path, const struct stat* found, int kind, FTW* place);
using FtwVisit = int(const char* path, const struct stat* found, int kind);
// In <sys/mount.h>. NOLINTNEXTLINE(readability-identifier-naming): libc named it.
struct mount_attr;
using CloneFunction = int(void*);  // the first function of a child of clone()
