/* Sends the descriptor of a file that it writes over a socket, by sendmsg and by sendmmsg, to a
 * program that knows of no pool. Each reads what the other one wrote, by one offset. */
#define _GNU_SOURCE
#include "common.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

static unsigned char bytes[300000];

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(2 * sizeof(int))];
};

/* A message of one byte, with so many descriptors. */
static struct msghdr message_of(struct iovec* piece, union control* control, const int* fds,
                                size_t count) {
    struct msghdr message = {.msg_iov = piece, .msg_iovlen = 1};
    if (count > 0) {
        memset(control, 0, sizeof *control);
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        control->header.cmsg_level = SOL_SOCKET;
        control->header.cmsg_type = SCM_RIGHTS;
        control->header.cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(&control->header), fds, count * sizeof(int));
    }
    return message;
}

static void receive(int socket, int* fds, size_t count) {
    char one = 0;
    struct iovec piece = {&one, 1};
    union control control;
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    need(recvmsg(socket, &message, 0) == 1, "recvmsg");
    if (count > 0) {
        need(message.msg_controllen > 0, "no descriptors");
        memcpy(fds, CMSG_DATA(&control.header), count * sizeof(int));
    }
}

static void turn(int socket) { need(write(socket, "t", 1) == 1, "the other one's turn"); }
static void await(int socket) {
    char one = 0;
    need(read(socket, &one, 1) == 1, "waiting for the other one");
}

/* The program without a pool. */
static int be_receiver(int socket) {
    need(getenv("LD_PRELOAD") == NULL, "it is not without the pool");
    int fds[2];
    receive(socket, fds, 2);
    say_bytes("received, read", bytes, read(fds[0], bytes, 2000));
    say_bytes("all of it", bytes, pread(fds[0], bytes, sizeof bytes, 0));
    say("write", write(fds[0], "by the receiver", 15));
    say("pwrite", pwrite(fds[0], "before", 6, 100));
    say_bytes("the other file", bytes, pread(fds[1], bytes, sizeof bytes, 0));
    turn(socket);
    await(socket);
    say_bytes("what was written since", bytes, pread(fds[0], bytes, sizeof bytes, 0));
    say_bytes("here", bytes, read(fds[0], bytes, 10));
    receive(socket, NULL, 0);
    receive(socket, fds, 1);
    say_bytes("sent by sendmmsg", bytes, pread(fds[0], bytes, sizeof bytes, 0));
    say("pwrite", pwrite(fds[0], "again", 5, 50));
    turn(socket);
    return 0;
}

static void wrong_messages(int socket) {
    struct iovec piece = {(char[]){'x'}, 1};
    const int fds[] = {9999, -1};
    union control control;
    struct msghdr message = message_of(&piece, &control, fds, 2);
    say("no such descriptors", sendmsg(socket, &message, 0));
    control.header.cmsg_len = 3;
    say("too short", sendmsg(socket, &message, 0));
    control.header.cmsg_len = 1 << 20;
    say("too long", sendmsg(socket, &message, 0));
    message.msg_control = (void*)16;
    say("control that is not there", sendmsg(socket, &message, 0));
    struct msghdr* const volatile nowhere = (struct msghdr*)16;
    say("message that is not there", sendmsg(socket, nowhere, 0));
    say("messages that are not there", sendmmsg(socket, (struct mmsghdr*)nowhere, 2, 0));
}

int main(int argc, char** argv) {
    if (argc == 2) {
        return be_receiver(atoi(argv[1]));
    }
    int ends[2];
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    const pid_t child = fork();
    if (child == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", ends[1]);
        close(ends[0]);
        unsetenv("LD_PRELOAD");
        execl("/proc/self/exe", "sent", number, (char*)NULL);
        _exit(9);
    }
    const int socket = ends[0];
    close(ends[1]);
    const int fd = open_new("sent");
    const int other = open_new("other");
    const int kept = open_new("kept");
    const int third = open_new("third");
    fill(bytes, sizeof bytes, 0, 1);
    need(write(fd, bytes, sizeof bytes) == sizeof bytes, "write");
    need(write(other, bytes, 5000) == 5000, "write");
    need(write(kept, bytes, 7000) == 7000, "write");
    need(write(third, bytes, 9000) == 9000, "write");
    say("lseek", lseek(fd, 1000, SEEK_SET));
    wrong_messages(socket);

    struct iovec piece = {(char[]){'x'}, 1};
    union control control;
    const int both[] = {fd, other};
    const struct msghdr message = message_of(&piece, &control, both, 2);
    need(sendmsg(socket, &message, 0) == 1, "sendmsg");
    await(socket);
    say("lseek", lseek(fd, 0, SEEK_CUR));
    say_bytes("read", bytes, read(fd, bytes, 300));
    say_bytes("pread", bytes, pread(fd, bytes, sizeof bytes, 50));
    say("write", write(fd, "by the sender", 13));
    say("pwrite", pwrite(fd, "sender", 6, 2));
    turn(socket);
    struct mmsghdr two[2] = {{.msg_hdr = message_of(&piece, NULL, NULL, 0)},
                             {.msg_hdr = message_of(&piece, &control, &third, 1)}};
    need(sendmmsg(socket, two, 2, 0) == 2, "sendmmsg");
    await(socket);
    say_bytes("pread", bytes, pread(third, bytes, sizeof bytes, 0));
    need(pwrite(kept, "still", 5, 3) == 5, "pwrite");
    int status = 0;
    waitpid(child, &status, 0);
    say("receiver", WEXITSTATUS(status));
    return 0;
}
