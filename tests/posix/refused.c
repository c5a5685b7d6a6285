/* Runs a program whose system calls are refused, as by a container's seccomp filter:
 * refused ERRNO NUMBER,NUMBER… PROGRAM [ARGUMENT…]. The filter needs no right (no_new_privs). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { refused_max = 200 };

int main(int count, char** words) {
    if (count < 4) {
        return 2;
    }
    const unsigned short error = (unsigned short)atoi(words[1]);
    static struct sock_filter filter[2 * refused_max + 2];
    unsigned short length = 0;
    filter[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    char* at = words[2];
    for (int i = 0; i < refused_max && *at != '\0'; ++i) {
        const unsigned number = (unsigned)strtoul(at, &at, 10);
        at += *at == ',';
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
        filter[length++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 3;
    }
    execvp(words[3], words + 3);
    perror(words[3]);
    return 4;
}
