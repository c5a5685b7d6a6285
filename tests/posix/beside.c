/* Writes below the folder of its first word by calls and by a stream, reads that back, and says how
 * many bytes were right. "lock" locks its memory before, "time" prints what the clock says, "wait"
 * waits at the end until its standard input ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { pieces = 400, piece = 3001, lines = 500 };

static char folder[3000];

static void stop(const char* what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static unsigned char byte_at(long at) { return (unsigned char)(at * 7 % 251); }

static void* write_pieces(void* unused) {
    (void)unused;
    char name[4000];
    snprintf(name, sizeof name, "%s/pieces", folder);
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (file < 0) stop("open");
    for (long number = 0; number < pieces; ++number) {
        unsigned char* bytes = malloc(piece);
        for (long at = 0; at < piece; ++at) bytes[at] = byte_at(number * piece + at);
        if (write(file, bytes, piece) != piece) stop("write");
        free(bytes);
    }
    if (fsync(file) != 0 || close(file) != 0) stop("close");
    return NULL;
}

static void write_lines(void) {
    char name[4000];
    snprintf(name, sizeof name, "%s/lines", folder);
    FILE* file = fopen(name, "w");
    if (!file) stop("fopen");
    for (int number = 0; number < lines; ++number) fprintf(file, "line %d\n", number);
    if (fclose(file) != 0) stop("fclose");
}

static long read_back(void) {
    char name[4000];
    snprintf(name, sizeof name, "%s/pieces", folder);
    FILE* file = fopen(name, "r");
    if (!file) stop("fopen to read");
    long right = 0;
    for (int got = getc(file); got != EOF; got = getc(file), ++right)
        if (got != byte_at(right)) stop("a wrong byte");
    fclose(file);
    return right;
}

int main(int count, char** words) {
    if (count < 2) return 2;
    snprintf(folder, sizeof folder, "%s", words[1]);
    const char* how = count > 2 ? words[2] : "";
    if (strcmp(how, "lock") == 0 && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        printf("mlockall: %s\n", strerror(errno));
    if (strcmp(how, "time") == 0)
        printf("year %ld\n", 1970 + (long)(time(NULL) / (365.2425 * 86400)));
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_pieces, NULL) != 0) stop("pthread_create");
    pthread_join(thread, NULL);
    write_lines();
    printf("%ld bytes are right\n", read_back());
    fflush(stdout);
    if (strcmp(how, "wait") == 0)
        while (getchar() != EOF) {
        }
    return 0;
}
