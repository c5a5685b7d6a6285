/* Measures the round trip of a message of 128 bytes to another process on this machine; both wait
 * in poll(2). Prints one JSON line: nanoseconds, p50 and p90.
 *
 *   pool_messages alone COUNT
 *       Over a Unix socket, as to a daemon, and over TCP.
 *
 *   pool_messages passed COUNT OTHERS
 *       Over a Unix socket to a process that forwards each message over TCP to one of OTHERS
 *       processes in turn, and the answer back: the time of a request for which a daemon has to ask
 *       another daemon. */
#define _GNU_SOURCE
#include "ranks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { others_max = 64 };

static void fail(const char* what) {
    fprintf(stderr, "pool_messages: cannot %s (%s). Free what is short.\n", what, strerror(errno));
    exit(1);
}

enum { message_bytes = 128 };

static void pass_message(int fd, int out) {
    char message[message_bytes] = {0};
    for (size_t done = 0; done < sizeof message;) {
        struct pollfd one = {.fd = fd, .events = out ? POLLOUT : POLLIN};
        if (poll(&one, 1, -1) != 1) {
            fail("wait for a message");
        }
        const ssize_t got = out ? send(fd, message, sizeof message - done, MSG_NOSIGNAL)
                                : recv(fd, message, sizeof message - done, 0);
        if (got <= 0) {
            fail("pass a message");
        }
        done += (size_t)got;
    }
}

static void tcp_pair(int* pair) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    const int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr*)&at, sizeof at) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr*)&at, &length) != 0 ||
        connect(pair[0], (struct sockaddr*)&at, sizeof at) != 0) {
        fail("connect");
    }
    pair[1] = accept(listener, NULL, NULL);
    close(listener);
    for (int i = 0; i < 2; ++i) {
        setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
}

static void messages(int count) {
    double* took = calloc((size_t)count, sizeof *took);
    if (count < 1 || took == NULL) {
        fail("pass so many messages");
    }
    for (int tcp = 0; tcp < 2; ++tcp) {
        int pair[2];
        if (tcp) {
            tcp_pair(pair);
        } else if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
            fail("make a socket");
        }
        const pid_t other = fork();
        for (int i = 0; i < count; ++i) {
            const double begin = now();
            pass_message(pair[other == 0], other != 0);
            pass_message(pair[other == 0], other == 0);
            took[i] = now() - begin;
        }
        if (other == 0) {
            _exit(0);
        }
        waitpid(other, NULL, 0);
        qsort(took, (size_t)count, sizeof *took, ascending);
        printf("%s_p50_ns\":%.0f,\"%s_p90_ns\":%.0f%s", tcp ? ",\"tcp" : "{\"unix",
               took[count / 2] * 1e9, tcp ? "tcp" : "unix", took[count * 9 / 10] * 1e9,
               tcp ? "}\n" : "");
    }
}

/* Answers messages until this process is killed. */
static void answer(int fd) {
    for (;;) {
        pass_message(fd, 0);
        pass_message(fd, 1);
    }
}

static void pass_on(int fd, const int* others, int count) {
    for (int i = 0;; ++i) {
        pass_message(fd, 0);
        pass_message(others[i % count], 1);
        pass_message(others[i % count], 0);
        pass_message(fd, 1);
    }
}

static void passed(int count, int others) {
    double* took = calloc((size_t)count, sizeof *took);
    int ends[others_max], pair[2];
    pid_t processes[others_max + 1];
    if (count < 1 || others < 1 || others > others_max || took == NULL) {
        fail("pass so many messages");
    }
    for (int i = 0; i < others; ++i) {
        tcp_pair(pair);
        ends[i] = pair[0];
        processes[i] = fork();
        if (processes[i] == 0) {
            answer(pair[1]);
        }
        close(pair[1]);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
        fail("make a socket");
    }
    processes[others] = fork();
    if (processes[others] == 0) {
        pass_on(pair[1], ends, others);
    }
    for (int i = 0; i < count; ++i) {
        const double begin = now();
        pass_message(pair[0], 1);
        pass_message(pair[0], 0);
        took[i] = now() - begin;
    }
    for (int i = 0; i <= others; ++i) {
        kill(processes[i], SIGKILL);
        waitpid(processes[i], NULL, 0);
    }
    qsort(took, (size_t)count, sizeof *took, ascending);
    printf("{\"p50_ns\":%.0f,\"p90_ns\":%.0f}\n", took[count / 2] * 1e9,
           took[count * 9 / 10] * 1e9);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "alone") == 0 && argc == 3) {
        messages(atoi(argv[2]));
    } else if (strcmp(what, "passed") == 0 && argc == 4) {
        passed(atoi(argv[2]), atoi(argv[3]));
    } else {
        fprintf(stderr, "usage: the first lines of evaluation/pool/messages.c\n");
        return 2;
    }
    return 0;
}
