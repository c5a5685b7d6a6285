// C streams, one case after the other; says what each call returns, and how long the file then is:
// with the pool as without, the same bytes are still in the program's own buffer.
#define _GNU_SOURCE
#include "streams.h"
#include "cases.h"

#include <pthread.h>
#include <signal.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <wchar.h>

static unsigned char out[1 << 18];
static unsigned char in[1 << 18];

static void say_size(const char* name) {
    struct stat found;
    say(name, stat(name, &found) == 0 ? (long)found.st_size : -1);
}

static void written(void) {
    FILE* stream = opened("written", "w");
    fill(out, sizeof out, 0, 1);
    for (int i = 0; i < 200; ++i) {
        say("fwrite", (long)fwrite(out + i * 100, 100, 1, stream));
        say_size("written");
    }
    say("fprintf", fprintf(stream, "%d %s %.3f\n", 7, "words", 1.5));
    say("fputs", fputs("a line\n", stream));
    say("fputc", fputc('x', stream));
    say("putc_unlocked", putc_unlocked('y', stream));
    say("putw", putw(0x01020304, stream));
    say("fwrite large", (long)fwrite(out, 1, 100000, stream));
    say_size("written");
    say("fwrite_unlocked", (long)fwrite_unlocked(out, 3, 5000, stream));
    say_size("written");
    say("ftell", ftell(stream));
    say("fflush", fflush(stream));
    say_size("written");
    say("fseek", fseek(stream, 5, SEEK_SET));
    say("fputs", fputs("over", stream));
    say("fseek", fseek(stream, -5, SEEK_END));
    say_size("written");
    say("fprintf", fprintf(stream, "%20d", 12345));
    say("fflush all", fflush(NULL));
    say_size("written");
    say("fseek behind", fseek(stream, 1000000, SEEK_SET));
    say("fputs", fputs("far", stream));
    say("fclose", fclose(stream));
    say_size("written");
    say_all("written");
}

static void read_back(void) {
    FILE* stream = opened("lines", "w");
    for (int i = 0; i < 3000; ++i) {
        fprintf(stream, "%d:%d,%s\n", i, i * 7, i % 3 == 0 ? "three" : "other");
    }
    say("fclose", fclose(stream));
    stream = opened("lines", "r");
    int a = 0;
    int b = 0;
    char word[40];
    for (int i = 0; i < 1000; ++i) {
        need(fscanf(stream, "%d:%d,%39s", &a, &b, word) == 3 && a == i && b == i * 7, "fscanf");
    }
    say("ftell", ftell(stream));
    char text[100];
    say("fgets", fgets(text, sizeof text, stream) != NULL);
    say("fgets", fgets(text, sizeof text, stream) != NULL);
    say_bytes("line", text, (long)strlen(text));
    char* line = NULL;
    size_t room = 0;
    say("getline", getline(&line, &room, stream));
    say("getdelim", getdelim(&line, &room, ',', stream));
    say_bytes("part", line, (long)strlen(line));
    free(line);
    say("getc", getc(stream));
    say("ungetc", ungetc('Q', stream));
    say("ungetc", ungetc('R', stream));
    say("ftell", ftell(stream));
    say("fread", (long)fread(in, 1, 10000, stream));
    say_bytes("fread", in, 10000);
    say("getw", getw(stream));
    say("fread_unlocked", (long)fread_unlocked(in, 7, 1000, stream));
    say_bytes("fread", in, 7000);
    say("fread all", (long)fread(in, 1, sizeof in, stream));
    say("feof", feof(stream) != 0);
    say("fgetc", fgetc(stream));
    rewind(stream);
    say("feof", feof(stream) != 0);
    say("fgetc", fgetc(stream));
    say("fputc to what is read", fputc('x', stream));
    say("errno", errno);
    say("ferror", ferror(stream) != 0);
    clearerr(stream);
    say("ferror", ferror(stream) != 0);
    say("fclose", fclose(stream));
    // A file grows behind a stream that has read it to the end.
    stream = opened("grows", "w");
    FILE* const reading = opened("grows", "r");
    say("fgetc", fgetc(reading));
    say("fputs", fputs("more", stream));
    say("fflush", fflush(stream));
    say("fgetc", fgetc(reading));
    clearerr(reading);
    say("fgetc", fgetc(reading));
    say("fclose", fclose(reading) + fclose(stream));
}

static void both(void) {
    filled("both", 20000, 2);
    FILE* stream = opened("both", "r+");
    for (int i = 0; i < 40; ++i) {
        say("fread", (long)fread(in, 1, (size_t)(i * 37 % 500), stream));
        say_bytes("fread", in, i * 37 % 500);
        say("fseek", fseek(stream, 0, SEEK_CUR));
        say("fwrite", (long)fwrite(out + 10000, 1, (size_t)(i * 53 % 300), stream));
        say("ftell", ftell(stream));
        say("fseek", fseek(stream, i * 331 % 15000, i % 2 == 0 ? SEEK_SET : SEEK_CUR));
    }
    say("fclose", fclose(stream));
    say_all("both");
    // libc lets a program do so without fseek, too, if it reads less than a buffer at a time.
    stream = opened("both", "r+");
    for (int i = 0; i < 40; ++i) {
        say("fread", (long)fread(in, 1, (size_t)(1 + i * 137 % 4095), stream));
        say_bytes("fread", in, 1 + i * 137 % 4095);
        say("fwrite", (long)fwrite(out + 5000, 1, (size_t)(1 + i * 53 % 300), stream));
        say("ftell", ftell(stream));
        if (i % 8 == 7) {
            rewind(stream);
        }
    }
    say("fclose", fclose(stream));
    say_all("both");
    stream = opened("both.new", "w+");
    say("fgetc of nothing", fgetc(stream));
    say("fputs", fputs("0123456789", stream));
    rewind(stream);
    say("fgetc", fgetc(stream));
    say("ungetc another", ungetc('Z', stream));
    say("fseek", fseek(stream, 4, SEEK_CUR));
    say("fgetc", fgetc(stream));
    say("ungetc", ungetc('Y', stream));
    say("fputc", fputc('!', stream));
    say("fflush", fflush(stream));
    say("ftell", ftell(stream));
    say("fgetc", fgetc(stream));
    say("fclose", fclose(stream));
    say_all("both.new");
}

static void buffers(void) {
    static char own[20000];
    const int kinds[] = {_IOFBF, _IOLBF, _IONBF};
    const size_t sizes[] = {0, 1, 7, 64, 4096, 10000};
    fill(out, sizeof out, 0, 3);
    for (size_t i = 0; i < sizeof out; i += 61) {
        out[i] = '\n';
    }
    for (size_t i = 0; i < 36; ++i) {
        FILE* const stream = opened("buffers", i % 2 == 0 ? "w" : "w+");
        say("bytes of a buffer that nobody used", (long)__fbufsize(stream) % 4096);
        char* const memory = i / 18 == 0 ? own : NULL;
        say("setvbuf", setvbuf(stream, memory, kinds[i % 3], sizes[i / 3 % 6]));
        for (int each = 0; each < 12; ++each) {
            say("fwrite", (long)fwrite(out + each * 100, 1, (size_t)(each * 97 % 700), stream));
            say("pending", (long)__fpending(stream));
            say_size("buffers");
        }
        say("large", (long)fwrite(out, 1, 15000, stream));
        say("pending", (long)__fpending(stream));
        say("line", __flbf(stream) != 0);
        say("size", (long)__fbufsize(stream));
        say("writing", __fwriting(stream) != 0);
        say("writable", __fwritable(stream) != 0);
        say("readable", __freadable(stream) != 0);
        if (i % 4 == 0) {
            __fpurge(stream);
        }
        say("setvbuf later", setvbuf(stream, NULL, kinds[(i + 1) % 3], 0));
        say("fputs", fputs("behind\nand", stream));
        say_size("buffers");
        setlinebuf(stream);
        say("fputs", fputs("a\nb", stream));
        say_size("buffers");
        say("fclose", fclose(stream));
        say_all("buffers");
    }
    FILE* stream = opened("buffers", "w");
    setbuf(stream, NULL);
    say("fputs", fputs("none", stream));
    say_size("buffers");
    setbuffer(stream, own, 10);
    say("fputs", fputs("some", stream));
    say_size("buffers");
    __fsetlocking(stream, FSETLOCKING_BYCALLER);
    flockfile(stream);
    say("ftrylockfile", ftrylockfile(stream));
    say("fputs_unlocked", fputs_unlocked("locked", stream));
    funlockfile(stream);
    funlockfile(stream);
    _flushlbf();
    say("fclose", fclose(stream));
    say_size("buffers");
}

static void positions(void) {
    filled("positions", 30000, 4);
    FILE* const stream = opened("positions", "r+");
    const long places[] = {0, 1, 4095, 4096, 4097, 8191, 12345, 29999, 30000, 30001, 100000};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        say("fseeko", fseeko(stream, places[i], SEEK_SET));
        say("ftello", ftello(stream));
        say("fgetc", fgetc(stream));
        fpos_t here;
        say("fgetpos", fgetpos(stream, &here));
        say("fseek", fseek(stream, -places[i] / 2, SEEK_CUR));
        say("fread", (long)fread(in, 1, 3000, stream));
        say_bytes("fread", in, 3000);
        say("fsetpos", fsetpos(stream, &here));
        say("ftell", ftell(stream));
        say("fgetc", fgetc(stream));
        say("fseek", fseek(stream, -places[i], SEEK_END));
        say("ftell", ftell(stream));
        say("fflush", fflush(stream));
        say("lseek", lseek(fileno(stream), 0, SEEK_CUR));
        say("fgetc", fgetc(stream));
        say("fflush", fflush(stream));
        say("lseek", lseek(fileno(stream), 0, SEEK_CUR));
        fseek(stream, places[i] % 30000, SEEK_SET);
        say("fputs", fputs("here", stream));
        say("fflush", fflush(stream));
        say("lseek", lseek(fileno(stream), 0, SEEK_CUR));
    }
    say("fseek before", fseek(stream, -1, SEEK_SET));
    say("fseek wrong", fseek(stream, 0, 9));
    say("lseek", lseek(fileno(stream), 100, SEEK_SET));
    say("ftell", ftell(stream));
    say("fgetc", fgetc(stream));
    say("fclose", fclose(stream));
    say_all("positions");
}

static void modes(void) {
    static const char* const all[] = {
        "r",          "rb",      "r+",  "rb+", "r+b",    "rt",       "re",          "rbe+",
        "rm",         "rc",      "rx",  "w",   "wb",     "w+",       "wb+",         "w+b",
        "wx",         "w+x",     "wbe", "wm",  "a",      "a+",       "ab+e",        "ax",
        "",           "q",       "+r",  "rw",  "r+++++", "rbbbbbb+", "w,ccs=UTF-8", "r+,ccs=UTF-8",
        "r,ccs=NONE", "wbbbbb+", "w ",  "r+m", "we+",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        for (int there = 0; there < 2; ++there) {
            unlink("modes");
            if (there != 0) {
                filled("modes", 5000, 5);
            }
            printf("%s %d ", all[i], there);
            FILE* const stream = fopen("modes", all[i]);
            if (stream == NULL) {
                printf("%s\n", strerrorname_np(errno));
                continue;
            }
            const int fd = fileno(stream);
            say("flags", fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND));
            say("closed by exec", fcntl(fd, F_GETFD));
            say("ftell", ftell(stream));
            say("orientation", fwide(stream, 0));
            say("fgetc", fgetc(stream));
            say("fseek", fseek(stream, 10, SEEK_SET));
            say("fputs", fputs("put", stream));
            say("errors", ferror(stream) != 0);
            say("ftell", ftell(stream));
            say("fclose", fclose(stream));
            say_size("modes");
        }
    }
    say("no folder", fopen("none/modes", "w") == NULL ? -1 : 0);
    FILE* const folder = fopen(".", "r");
    say("folder", folder != NULL);
    say("fgetc", fgetc(folder));
    say("fclose", fclose(folder));
    say("write a folder", fopen(".", "w") == NULL ? -1 : 0);
    say_all("modes");
}

static void descriptors(void) {
    int fd = open_new("descriptors");
    need(write(fd, "0123456789", 10) == 10, "write");
    say("not to be read", fdopen(open("descriptors", O_WRONLY), "r") == NULL ? -1 : 0);
    say("not to be written", fdopen(open("descriptors", O_RDONLY), "w") == NULL ? -1 : 0);
    say("no mode", fdopen(fd, "x") == NULL ? -1 : 0);
    say("none", fdopen(4711, "r") == NULL ? -1 : 0);
    FILE* stream = fdopen(fd, "r+");
    need(stream != NULL && fileno(stream) == fd, "fdopen");
    say("ftell", ftell(stream));
    say("fputs", fputs("stream", stream));
    say("write", write(fd, "call", 4));
    say("fflush", fflush(stream));
    struct stat found;
    say("fstat", fstat(fileno(stream), &found));
    say("size", found.st_size);
    say("ftruncate", ftruncate(fileno(stream), 17));
    say("fsync", fsync(fileno(stream)));
    rewind(stream);
    say("fread", (long)fread(in, 1, 100, stream));
    say_bytes("fread", in, 17);
    const int other = dup(fd);
    say("fclose", fclose(stream));
    say("closed", fcntl(fd, F_GETFD));
    stream = fdopen(other, "w");  // nothing is emptied
    say("ftell", ftell(stream));
    say("fputs", fputs("doubled", stream));
    say("fcntl", fcntl(other, F_SETFL, O_APPEND));
    say("fputs", fputs("appended", stream));
    say("fclose", fclose(stream));
    say_all("descriptors");
    stream = fdopen(open("descriptors", O_RDWR), "a");
    say("ftell", ftell(stream));
    say("flags", (fcntl(fileno(stream), F_GETFL) & O_APPEND) != 0);
    say("fputs", fputs("end", stream));
    say("ftell", ftell(stream));
    say("fclose", fclose(stream));
    // Another file below a stream, and none.
    stream = opened("below", "w");
    say("fputs", fputs("first", stream));
    say("fflush", fflush(stream));
    fd = open_new("below.other");
    say("dup2", dup2(fd, fileno(stream)) == fileno(stream));
    say("fputs", fputs("second", stream));
    say("fclose", fclose(stream));
    stream = opened("below.third", "w");
    say("fputs", fputs("lost", stream));
    say("close", close(fileno(stream)));
    say("fflush", fflush(stream));
    say("ferror", ferror(stream) != 0);
    say("fclose", fclose(stream));
    // Several on one file, and what the pool cannot see.
    stream = opened("shared", "w+");
    FILE* const again = opened("shared", "r+");
    say("fputs", fputs("aaaaaaaaaa", stream));
    say("fflush", fflush(stream));
    say("fputs", fputs("bbb", again));
    say("fflush", fflush(again));
    void* const mapped = mmap(NULL, 10, PROT_READ, MAP_SHARED, fileno(stream), 0);
    say("mapped", memcmp(mapped, "bbbaaaaaaa", 10));
    say("fputs", fputs("cc", again));
    say("fflush", fflush(again));
    say("mapped", memcmp(mapped, "bbbccaaaaa", 10));
    say("munmap", munmap(mapped, 10));
    fputs("tail", stream);
    say("fclose", fclose(stream) + fclose(again));
    say_all("shared");
    close(fd);
}

static void reopened(void) {
    static const char* const names[] = {"reopened", "/dev/null", "none/reopened", "reopened.2"};
    static const char* const all[] = {"w", "r+", "a", "w+", "r"};
    for (int i = 0; i < 80; ++i) {
        FILE* stream = opened("reopened.first", "w+");
        fprintf(stream, "before %d", i);
        if (i % 3 == 0) {
            rewind(stream);
            say("fgetc", fgetc(stream));
        }
        const int fd = fileno(stream);
        // i % 5: the same file again
        const char* const name = i % 5 == 0 ? NULL : names[i % 4];
        FILE* const same = freopen(name, all[i % 5], stream);
        say("freopen", same == NULL ? -1 : same == stream);
        say_size("reopened.first");
        if (same == NULL) {
            // Its memory stays, as without the pool.
            continue;
        }
        say("descriptor", fileno(stream) == fd);
        say("orientation", fwide(stream, 0));
        say("ftell", ftell(stream));
        say("fputs", fputs("after", stream));
        if (i % 7 == 0) {
            say("again", freopen("reopened.third", "w", stream) == stream);
            say("fputs", fputs("third", stream));
        }
        say("fclose", fclose(stream));
        say_size("reopened.first");
    }
    FILE* stream = opened("/dev/null", "r");
    say("from elsewhere", freopen("reopened", "w", stream) == stream);
    say("fputs", fputs("into the pool", stream));
    say("fclose", fclose(stream));
    say_all("reopened");
    fflush(stdout);
    const int kept = dup(1);
    say("stdout", freopen("reopened.stdout", "w", stdout) == stdout);
    printf("to the file\n");
    fflush(stdout);
    dup2(kept, 1);
    say_all("reopened.stdout");
}

static FILE* held;
static void at_exit(void) { fputs("by atexit", held); }

static void child_ends(int how) {
    const pid_t child = fork();
    if (child == 0) {
        FILE* const own = opened("left.own", "w");
        fputs("own", own);
        fprintf(held, "child %d ", how);
        switch (how) {
            case 0: exit(0);
            case 1: _exit(0);
            case 2: atexit(at_exit); exit(0);
            case 3: fcloseall(); _exit(0);
            case 4: quick_exit(0);
            case 5: kill(getpid(), SIGKILL); break;
            default: execlp("true", "true", (char*)NULL);
        }
        _exit(9);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say("child", status);
    say_size("left");
    say_size("left.own");
}

static void left(void) {
    for (int how = 0; how < 7; ++how) {
        held = opened("left", how % 2 == 0 ? "w" : "w+");
        fprintf(held, "before %d ", how);
        child_ends(how);
        fprintf(held, "after %d ", how);
        say("fclose", fclose(held));
        say_all("left");
    }
    // A child that ends gives back the bytes that were read and not used.
    filled("left.read", 9000, 6);
    FILE* const reading = opened("left.read", "r");
    say("fread", (long)fread(in, 1, 100, reading));
    held = opened("left", "w");
    child_ends(0);
    say("lseek", lseek(fileno(reading), 0, SEEK_CUR));
    say("fread", (long)fread(in, 1, 5000, reading));
    say_bytes("fread", in, 5000);
    say("fclose", fclose(reading));
    fputs("parent ", held);
    say("fflush", fflush(held));
    FILE* const pipe = popen("cat >> left", "w");
    fputs("by popen ", pipe);
    say("pclose", pclose(pipe));
    fseek(held, 0, SEEK_END);
    say("system", system("printf 'by system ' >> left"));
    fseek(held, 0, SEEK_END);
    fputs("end", held);
    FILE* const forgotten = opened("left.forgotten", "w");
    fprintf(forgotten, "closed by exit");
    atexit(at_exit);
}

static void* line_thread(void* stream) {
    for (int i = 0; i < 3000; ++i) {
        flockfile(stream);
        fprintf(stream, "%05d ", i);
        fputs("of a thread\n", stream);
        funlockfile(stream);
        if (i % 100 == 0) {
            fflush(NULL);
            FILE* const other = fopen("threads.other", "w");
            fprintf(other, "%d", i);
            fclose(other);
        }
    }
    return NULL;
}

static void threads(void) {
    FILE* const stream = opened("threads", "w+");
    pthread_t all[4];
    for (int i = 0; i < 4; ++i) {
        need(pthread_create(&all[i], NULL, line_thread, stream) == 0, "pthread_create");
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(all[i], NULL);
    }
    say("ftell", ftell(stream));
    rewind(stream);
    long sum = 0;
    int number = 0;
    int lines = 0;
    char word[10];
    while (fscanf(stream, "%d of a %9[a-z]\n", &number, word) == 2) {
        sum += number;
        ++lines;
    }
    say("lines", lines);
    say("sum", sum);
    say("fclose", fclose(stream));
    unlink("threads");  // in another order each time
    unlink("threads.other");
    filled("threads.done", 10, 7);
}

// As gnuplot and many a model write their logs; and streams that are no files.
static void others(void) {
    for (int i = 0; i < 5; ++i) {
        FILE* const log = opened("others.log", "a");
        say("ftell", ftell(log));
        say("fprintf", fprintf(log, "run %d\n", i));
        say("ftell", ftell(log));
        say("fclose", fclose(log));
    }
    FILE* const log = opened("others.log", "a+");
    char text[20] = "";
    say("fgets", fgets(text, sizeof text, log) != NULL);
    say("fprintf", fprintf(log, "end of %s", text));
    say("fclose", fclose(log));
    say_all("others.log");
    FILE* const memory = fmemopen(out, 100, "w+");
    say("fputs", fputs("in memory", memory));
    say("fileno", fileno(memory));
    say("fclose", fclose(memory));
    char* grown = NULL;
    size_t bytes = 0;
    FILE* const growing = open_memstream(&grown, &bytes);
    say("fputs", fputs("more memory", growing));
    say("fclose", fclose(growing));
    say("bytes", (long)bytes);
    free(grown);
    FILE* const temporary = tmpfile();
    say("fputs", fputs("temporary", temporary));
    rewind(temporary);
    say("fgetc", fgetc(temporary));
    say("fclose", fclose(temporary));
    FILE* const from = popen("echo said", "r");
    say("fgets", fgets(text, sizeof text, from) != NULL);
    say("pclose", pclose(from));
    filled("others.done", 10, 8);
}

int main(int argc, char** argv) {
    const struct test_case cases[] = {
        {"written", written},         {"read", read_back},      {"both", both},
        {"buffers", buffers},         {"positions", positions}, {"modes", modes},
        {"descriptors", descriptors}, {"reopened", reopened},   {"left", left},
        {"threads", threads},         {"others", others}};
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
