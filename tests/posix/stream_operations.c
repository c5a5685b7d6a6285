// Random operations on C streams by several processes, which take turns; says what each gives.
//   stream_operations SEED COUNT
// Files of one process are used as libc lets a program use them; on files of all, each operation
// begins and ends with fflush, since what is in the buffer of one is unknown to the others.
#define _GNU_SOURCE
#include "common.h"

#include <stdbool.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { processes = 3, streams = 6, own_files = 2, shared_files = 3, turn = 20 };

struct used {
    FILE* stream;
    char name[24];
    bool shared;
    bool wrote;  // last
};

static struct used all[streams];
static unsigned seed;
static int self;
static unsigned char bytes[1 << 17];

static unsigned below(unsigned most) { return (unsigned)rand_r(&seed) % most; }

static size_t some(void) {
    static const unsigned most[] = {2, 30, 300, 3000, 4095, 5000, 60000};
    return below(most[below(7)]);
}

static bool on_file_of(const char* name) {
    for (int i = 0; i < streams; ++i) {
        if (all[i].stream != NULL && strcmp(all[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void choose_name(struct used* one) {
    one->shared = below(3) == 0;
    if (one->shared) {
        snprintf(one->name, sizeof one->name, "shared.%u", below(shared_files));
    } else {
        snprintf(one->name, sizeof one->name, "own.%d.%u", self, below(own_files));
    }
}

static void open_one(struct used* one) {
    static const char* const modes[] = {"r", "r+", "w", "w+", "wx", "a", "a+", "rb+", "w+b", "re"};
    choose_name(one);
    if (!one->shared && on_file_of(one->name)) {
        return;  // it would see the other's buffer or not, as its own happens to be
    }
    const char* const mode = modes[below(10)];
    printf("%d: fopen %s %s ", self, one->name, mode);
    if (below(4) == 0 && mode[0] == 'r') {
        const int fd = open(one->name, O_CREAT | O_RDWR, 0644);
        one->stream = fdopen(fd, mode);
    } else {
        one->stream = fopen(one->name, mode);
    }
    one->wrote = false;
    say("opened", one->stream != NULL ? 0 : -1);
    if (one->stream != NULL && below(3) == 0) {
        static const int kinds[] = {_IOFBF, _IOLBF, _IONBF};
        const unsigned kind = below(3);
        say("setvbuf", setvbuf(one->stream, NULL, kinds[kind], 0));
    }
}

static void close_one(struct used* one) {
    FILE* const stream = one->stream;
    one->stream = NULL;
    say("fclose", fclose(stream));
    const int fd = open(one->name, O_RDONLY);
    say_bytes("all of it", bytes, fd < 0 ? 0 : read(fd, bytes, sizeof bytes));
    close(fd);
}

// Between reading and writing, mostly as C wants it.
static void turn_to(struct used* one, bool writes, size_t count) {
    if (one->wrote != writes && (count >= 4096 || below(3) != 0)) {
        say("fseek", fseek(one->stream, 0, SEEK_CUR));
    }
    one->wrote = writes;
}

static void write_some(struct used* one) {
    const size_t count = some();
    turn_to(one, true, count);
    fill(bytes, count, below(1000), below(100));
    switch (below(4)) {
        case 0:
            for (size_t i = 0; i < count % 100; ++i) {
                fputc(bytes[i] % 20 == 0 ? '\n' : bytes[i], one->stream);
            }
            say("fputc", ferror(one->stream) != 0);
            break;
        case 1: say("fprintf", fprintf(one->stream, "%zu: %d words\n", count, bytes[0])); break;
        default: say("fwrite", (long)fwrite(bytes, 1, count, one->stream));
    }
}

static void read_some(struct used* one) {
    const size_t count = some();
    turn_to(one, false, count);
    switch (below(5)) {
        case 0: {
            char* line = NULL;
            size_t room = 0;
            const long got = say("getline", getline(&line, &room, one->stream) > 0 ? 1 : 0);
            say_bytes("line", line, got > 0 ? (long)strlen(line) : 0);
            free(line);
            break;
        }
        case 1: {
            const int last = fgetc(one->stream);
            say("fgetc", last < 0 ? 0 : last);
            // Another one is read again at once: with it, libc's own fseek goes astray at times.
            if (last >= 0 && below(2) == 0) {
                say("ungetc", ungetc(last, one->stream));
            } else if (last >= 0) {
                say("ungetc", ungetc('u', one->stream));
                say("fgetc", fgetc(one->stream));
            }
            break;
        }
        default: {
            const long got = say("fread", (long)fread(bytes, 1, count, one->stream));
            say_bytes("bytes", bytes, got);
        }
    }
    say("feof", feof(one->stream) != 0);
}

static void move(struct used* one) {
    const long by = (long)below(80000);
    switch (below(5)) {
        case 0: rewind(one->stream); break;
        case 1: say("fseek end", fseek(one->stream, -by / 50, SEEK_END) == 0); break;
        case 2: say("fseek here", fseek(one->stream, by / 50 - 300, SEEK_CUR) == 0); break;
        default: say("fseek", fseek(one->stream, by, SEEK_SET));
    }
    say("ftell", ftell(one->stream));
    one->wrote = below(2) == 0;  // either may follow
}

static void settle(struct used* one) {
    const int moved = fseek(one->stream, 0, SEEK_CUR);
    say("settled", moved == 0 ? fflush(one->stream) : moved);
}

// A child that ends gives back what was read and not used: of a buffer that both have, twice.
static void by_child(struct used* one) {
    for (int i = 0; i < streams; ++i) {
        if (all[i].stream != NULL) {
            settle(&all[i]);
        }
    }
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        fputs("by a child\n", one->stream);
        if (below(2) == 0) {
            _exit(fclose(one->stream) == 0 ? 0 : 1);
        }
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("child", status);
    say("fseek", fseek(one->stream, 0, SEEK_END));
}

static void by_descriptor(struct used* one) {
    const int fd = fileno(one->stream);
    settle(one);
    switch (below(4)) {
        case 0: say("ftruncate", ftruncate(fd, (off_t)below(50000)) == 0); break;
        case 1: say("fsync", fsync(fd)); break;
        case 2: say("pwrite", pwrite(fd, "by pwrite", 9, (off_t)below(50000)) > 0); break;
        default: {
            struct stat found;
            say("fstat", fstat(fd, &found));
            say("size", found.st_size);
        }
    }
    say("fseek", fseek(one->stream, 0, SEEK_CUR));
}

static void reopen(struct used* one) {
    static const char* const modes[] = {"r", "r+", "w+", "a"};
    const char* const mode = modes[below(4)];
    FILE* const same = freopen(below(2) == 0 ? one->name : NULL, mode, one->stream);
    say("freopen", same != NULL ? 0 : -1);
    one->stream = same;
    one->wrote = false;
}

static void name_others(void) {
    char name[24];
    char other[24];
    snprintf(name, sizeof name, "own.%d.%u", self, below(own_files));
    snprintf(other, sizeof other, "renamed.%d.%u", self, below(own_files));
    struct stat found;
    switch (below(3)) {
        case 0: say("unlink", unlink(name)); break;
        case 1: say("rename", rename(name, other)); break;
        default: say("truncate", truncate("shared.1", (off_t)below(40000)));
    }
    fflush(NULL);
    say("stat", stat("shared.1", &found));
}

static void step(void) {
    struct used* const one = &all[below(streams)];
    if (one->stream == NULL) {
        open_one(one);
        return;
    }
    if (one->shared) {
        fflush(one->stream);
    }
    const unsigned what = below(100);
    printf("%d: %u %s ", self, what, one->name);
    if (what < 35) {
        write_some(one);
    } else if (what < 65) {
        read_some(one);
    } else if (what < 80) {
        move(one);
    } else if (what < 86) {
        by_descriptor(one);
    } else if (what < 88) {
        by_child(one);
    } else if (what < 91) {
        reopen(one);
    } else if (what < 93) {
        name_others();
    } else if (what < 95) {
        settle(one);
    } else {
        close_one(one);
    }
    if (one->stream != NULL && one->shared) {
        fflush(one->stream);
    }
}

// With its turn, until there are none; then it ends with everything open.
static void serve(int from, int to, unsigned turns) {
    for (unsigned done = 0; done < turns; ++done) {
        char token = 0;
        need(read(from, &token, 1) == 1, "token");
        for (int i = 0; i < turn; ++i) {
            step();
        }
        fflush(NULL);
        need(write(to, &token, 1) == 1, "token");
    }
    exit(0);
}

int main(int argc, char** argv) {
    need(argc == 3, "arguments");
    const unsigned turns = (unsigned)atoi(argv[2]) / (processes * turn);
    int ends[processes][2];
    for (int i = 0; i < processes; ++i) {
        need(pipe(ends[i]) == 0, "pipe");
    }
    fflush(stdout);
    for (self = 0; self < processes; ++self) {
        seed = (unsigned)atoi(argv[1]) * 100U + (unsigned)self;
        if (fork() == 0) {
            serve(ends[self][0], ends[(self + 1) % processes][1], turns);
        }
    }
    need(write(ends[0][1], "t", 1) == 1, "token");
    int status = 0;
    int failed = 0;
    while (wait(&status) > 0) {
        failed += status != 0;
    }
    printf("failed: %d\n", failed);
    return failed == 0 ? 0 : 1;
}
