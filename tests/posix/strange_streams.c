// C streams that the pool cannot have, or that are none of libc's usual ones, one case after the
// other: wide characters, standard streams, streams of the program's own making, errors, children.
#define _GNU_SOURCE
#include "cases.h"
#include "streams.h"

#include <pthread.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <wchar.h>

static char all[1 << 17];

// -- wide characters ------------------------------------------------------------------------------

static void write_wide(FILE* stream, int how) {
    switch (how) {
        case 0: say("fputwc", (long)fputwc(L'w', stream)); break;
        case 1: say("fputws", fputws(L"wide words\n", stream) >= 0); break;
        case 2: say("fwprintf", fwprintf(stream, L"%d %ls\n", 12, L"wide")); break;
        case 3: say("fwide", fwide(stream, 1) > 0); break;
        case 4: say("putwc", (long)putwc(L'p', stream)); break;
        case 5: say("fputwc_unlocked", (long)fputwc_unlocked(L'u', stream)); break;
        case 6: say("fputws_unlocked", fputws_unlocked(L"unlocked\n", stream) >= 0); break;
        case 7: say("fwide", fwide(stream, -1) < 0); break;
        default: say("putwc_unlocked", (long)putwc_unlocked(L'q', stream));
    }
}

static void read_wide(FILE* stream, int how) {
    wchar_t text[40] = L"";
    int number = 0;
    switch (how % 4) {
        case 0: say("fgetwc", fgetwc(stream) == L'1'); break;
        case 1: say("fgetws", fgetws(text, 40, stream) != NULL); break;
        case 2: say("fwscanf", fwscanf(stream, L"%d %39ls", &number, text)); break;
        default:
            say("getwc", getwc(stream) == L'1');
            say("ungetwc", ungetwc(L'5', stream) == L'5');
            say("fgetws", fgetws(text, 40, stream) != NULL);
    }
    say("number", number);
    say_bytes("text", text, (long)(wcslen(text) * sizeof(wchar_t)));
    say("ftell", ftell(stream));
}

static void wide(void) {
    for (int how = 0; how < 18; ++how) {
        FILE* stream = opened("wide", how % 3 == 0 ? "w" : "w+");
        if (how >= 9) {
            say("bytes first", fputs("bytes ", stream));
        }
        write_wide(stream, how % 9);
        say("orientation", fwide(stream, 0) > 0 ? 1 : fwide(stream, 0) < 0 ? 2 : 0);
        say("fputws", fputws(L"more\n", stream) >= 0);
        say("fputs", fputs("bytes", stream) >= 0);
        say("ferror", ferror(stream) != 0);
        say("ftell", ftell(stream));
        say("fclose", fclose(stream));
        say_all("wide");
        stream = opened("wide.read", "w");
        fputs("12 words\n13 others\n", stream);
        fclose(stream);
        stream = opened("wide.read", "r+");
        if (how >= 8) {
            say("fgetc", fgetc(stream));
        }
        read_wide(stream, how);
        say("fseek", fseek(stream, 0, SEEK_SET));
        read_wide(stream, how + 1);
        say("fclose", fclose(stream));
    }
    FILE* const elsewhere = fopen("/dev/null", "w");
    fputs("bytes ", elsewhere);
    say("putwc", (long)putwc(L'p', elsewhere));
    say("putwc_unlocked", (long)putwc_unlocked(L'q', elsewhere));
    say("fputwc", (long)fputwc(L'f', elsewhere));
    say("fclose", fclose(elsewhere));
    // More than there is room to remember.
    FILE* many[100];
    for (int i = 0; i < 100; ++i) {
        char name[20];
        snprintf(name, sizeof name, "wide.%d", i % 7);
        many[i] = opened(name, i < 7 ? "w" : "r+");
        say("fwprintf", fwprintf(many[i], L"%d\n", i));
    }
    for (int i = 0; i < 100; ++i) {
        say("fclose", fclose(many[i]));
    }
    FILE* const bytes = opened("wide.done", "w");
    say("fprintf of wide words", fprintf(bytes, "%ls %lc\n", L"words", (wint_t)L'x'));
    say("fclose", fclose(bytes));
}

// -- streams that stand for standard ones ---------------------------------------------------------

static void standard(void) {
    FILE* const out = stdout;
    FILE* const err = stderr;
    FILE* const in = stdin;
    FILE* stream = opened("standard.out", "w");
    stdout = stream;
    const int said = printf("%d words\n", 3) + puts("a line") + putchar('x');
    stdout = out;
    say("said", said);
    say("fclose", fclose(stream));
    stream = opened("standard.in", "w+");
    fputs("7 words\n", stream);
    rewind(stream);
    int number = 0;
    stdin = stream;
    const int got = scanf("%d", &number) * 1000 + getchar();
    stdin = in;
    say("got", got);
    say("number", number);
    say("fclose", fclose(stream));
    for (int used = 0; used < 2; ++used) {
        stream = opened(used != 0 ? "standard.err2" : "standard.err", "w");
        stderr = stream;
        if (used != 0) {
            fputs("used: ", stderr);
        }
        errno = ENOENT;
        perror("perror");
        errno = EIO;
        perror(NULL);
        fputs("behind\n", stderr);
        stderr = err;
        say("fclose", fclose(stream));
    }
    say_all("standard.err");
    say_all("standard.err2");
    stream = opened("standard.wide", "w");
    stdout = stream;
    const int wide_said = wprintf(L"%d %ls\n", 5, L"words") + (putwchar(L'w') == L'w');
    stdout = out;
    say("said", wide_said);
    say("fclose", fclose(stream));
    // Below 3: libc's.
    fflush(stdout);
    const int kept = dup(1);
    close(1);
    stream = opened("standard.low", "w");
    const int low = fileno(stream);
    fputs("low", stream);
    fclose(stream);
    dup2(kept, 1);
    close(kept);
    say("low", low);
    say_all("standard.low");
    const int old = dup(2);
    stream = freopen("standard.err3", "w", stderr);
    say("freopen", stream == stderr);
    errno = EACCES;
    perror("redirected");
    dup2(old, 2);
    close(old);
    say_all("standard.err3");
}

// -- streams of the program's own -----------------------------------------------------------------

static ssize_t own_read(void* cookie, char* to, size_t bytes) {
    return read(*(int*)cookie, to, bytes / 2 + 1);
}
static ssize_t own_write(void* cookie, const char* from, size_t bytes) {
    return write(*(int*)cookie, from, bytes);
}
static int own_seek(void* cookie, off64_t* at, int whence) {
    *at = lseek(*(int*)cookie, *at, whence);
    return *at < 0 ? -1 : 0;
}
static int own_close(void* cookie) { return close(*(int*)cookie); }

static void strangers(void) {
    FILE* const ours = opened("strangers.ours", "w+");
    fputs("ours", ours);
    const cookie_io_functions_t functions = {own_read, own_write, own_seek, own_close};
    int fd = open_new("strangers");
    FILE* own = fopencookie(&fd, "w+", functions);
    say("fileno", fileno(own));
    for (int i = 0; i < 300; ++i) {
        say("fprintf", fprintf(own, "%d of the program's own\n", i));
    }
    say("fwrite", (long)fwrite(all, 1, 20000, own));
    rewind(own);
    say("fread", (long)fread(all, 1, 25000, own));
    say_bytes("fread", all, 25000);
    say("fwide", fwide(own, 1) > 0);
    say("fputws", fputws(L"wide", own) >= 0);
    say("freopen", freopen("strangers.2", "w", ours) == ours);
    say("fputs", fputs("reopened", ours));
    say("fclose", fclose(own));
    say("fclose", fclose(ours));
    // One that says which descriptor it has.
    fd = open_new("strangers.3");
    need(write(fd, all, sizeof all) == sizeof all && lseek(fd, 0, SEEK_SET) == 0, "write");
    own = fopencookie(&fd, "r+", functions);
    own->_fileno = fd;
    say("fileno", fileno(own) == fd);
    say("fread", (long)fread(all, 1, 30000, own));
    say("lseek", lseek(fd, 0, SEEK_CUR));
    say("fputws", fputws(L"wide", own) >= 0);
    say("fclose", fclose(own));
    char memory[100] = "0123456789";
    own = fmemopen(memory, sizeof memory, "r+");
    say("fread", (long)fread(all, 1, sizeof all, own));
    rewind(own);
    say("fwide", fwide(own, 1) > 0);
    say("fputs", fputs("over", own) >= 0);
    say("fclose", fclose(own));
    say_bytes("memory", memory, sizeof memory);
    wchar_t* grown = NULL;
    size_t count = 0;
    own = open_wmemstream(&grown, &count);
    say("fputws", fputws(L"grows", own) >= 0);
    say("fclose", fclose(own));
    say("count", (long)count);
    free(grown);
    own = tmpfile();
    say("fwrite", (long)fwrite(all, 1, 30000, own));
    rewind(own);
    say("fread", (long)fread(all, 1, sizeof all, own));
    say("fclose", fclose(own));
}

// -- streams that a program has changed -----------------------------------------------------------

static void changed(void) {
    // Another descriptor.
    FILE* stream = opened("changed", "w+");
    say("fputs", fputs("first", stream));
    say("fflush", fflush(stream));
    const int before = stream->_fileno;
    stream->_fileno = open_new("changed.other");
    say("fputs", fputs("second", stream));
    rewind(stream);
    say("fread", (long)fread(all, 1, 20000, stream));
    say_bytes("fread", all, 6);
    say("fputws", fputws(L"none", stream) >= 0);
    say("fclose", fclose(stream));
    say("close", close(before));
    say_all("changed");
    say_all("changed.other");
    // All are closed, as at the end of a program, and used again.
    stream = opened("changed.closed", "w+");
    FILE* const unused = opened("changed.unused", "w+");
    say("fputs", fputs("before", stream));
    for (int i = 0; i < 3; ++i) {
        say("fcloseall", fcloseall());
        say("fprintf", fprintf(stream, "behind %d\n", i));
        say("fputs", fputs("also", unused));
        say("fseek", fseek(stream, -3, SEEK_CUR));
        say("fputs", fputs("over", stream));
        say("fseek", fseek(stream, 2, SEEK_CUR));
        say("ftell", ftell(stream));
        say("fputws", fputws(L"none", stream) >= 0);
        clearerr(stream);
    }
    rewind(stream);
    say("fread", (long)fread(all, 1, 20000, stream));
    say("fclose", fclose(stream) + fclose(unused));
    say_all("changed.closed");
    say_all("changed.unused");
}

// -- errors ---------------------------------------------------------------------------------------

static void wrong(void) {
    FILE* stream = opened("wrong", "w");
    fputs("something", stream);
    say("fgetc of what is written", fgetc(stream));
    say("fread", (long)fread(all, 1, 10000, stream));
    say("errno", errno);
    say("ferror", ferror(stream) != 0);
    say("fclose", fclose(stream));
    stream = opened("wrong", "r");
    say("fputs to what is read", fputs("x", stream));
    say("fwrite", (long)fwrite(all, 1, 50000, stream));
    say("fprintf", fprintf(stream, "%d", 1));
    say("errno", errno);
    say("fflush", fflush(stream));
    say("fclose", fclose(stream));
    // A full device, by a name in the folder.
    say("symlink", symlink("/dev/full", "wrong.full"));
    stream = opened("wrong.full", "w");
    say("fputs", fputs("no room", stream) >= 0);
    say("fflush", fflush(stream));
    say("fwrite", (long)fwrite(all, 1, 100000, stream));
    say("ferror", ferror(stream) != 0);
    say("fclose", fclose(stream));
    unlink("wrong.full");
    // Closed below the stream.
    stream = opened("wrong.closed", "w+");
    fputs("lost", stream);
    close(fileno(stream));
    say("fwrite", (long)fwrite(all, 1, 9000, stream));
    say("errno", errno);
    say("fseek", fseek(stream, 0, SEEK_SET));
    say("fread", (long)fread(all, 1, 9000, stream));
    say("fclose", fclose(stream));
    stream = opened("wrong.closed", "r");
    close(fileno(stream));
    say("fread", (long)fread(all, 1, 9000, stream));
    say("errno", errno);
    say("fgetc", fgetc(stream));
    say("fclose", fclose(stream));
    say("no name", fopen("", "w") == NULL ? -1 : 0);
    say("none", fopen("none", "r") == NULL ? -1 : 0);
    need(chmod("wrong", 0) == 0, "chmod");
    FILE* const closed = fopen("wrong", "r+");
    say("forbidden", closed != NULL);
    if (closed != NULL) {
        fclose(closed);
    }
    chmod("wrong", 0644);
    // errno is nobody's where nothing fails.
    errno = 0;
    stream = opened("wrong.none", "w+");
    fputs("x", stream);
    fflush(stream);
    rewind(stream);
    need(fgetc(stream) == 'x', "fgetc");
    fclose(stream);
    say("errno", errno);
}

// -- others look ----------------------------------------------------------------------------------

static void* child_thread(void* stream) {
    for (int i = 0; i < 20; ++i) {
        fprintf(stream, "thread %2d\n", i);
        const pid_t child = fork();
        if (child == 0) {
            fprintf(stream, "never seen\n");
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return NULL;
}

static void looked_at(void) {
    FILE* stream = opened("looked", "w");
    for (int i = 0; i < 5; ++i) {
        fprintf(stream, "line %d\n", i);
        say("fflush", fflush(stream));
        FILE* const from = popen("wc -c < looked; cat looked", "r");
        say_bytes("seen", all, (long)fread(all, 1, sizeof all, from));
        say("pclose", pclose(from));
    }
    say("fclose", fclose(stream));
    // In a log that grows, as tail -f reads it.
    stream = opened("looked.log", "w");
    FILE* const reading = opened("looked.log", "r");
    for (int i = 0; i < 40; ++i) {
        for (int line = 0; line < i * 13; ++line) {
            fprintf(stream, "%d in round %d\n", line, i);
        }
        say("fflush", fflush(stream));
        say_bytes("new", all, (long)fread(all, 1, i % 2 == 0 ? sizeof all : 4000, reading));
        say("feof", feof(reading) != 0);
        clearerr(reading);
    }
    say("fclose", fclose(stream) + fclose(reading));
    stream = opened("looked.forks", "w");
    setvbuf(stream, NULL, _IOLBF, 0);
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) {
        need(pthread_create(&threads[i], NULL, child_thread, opened("looked.forks2", "w")) == 0,
             "pthread_create");
        pthread_join(threads[i], NULL);
    }
    child_thread(stream);
    say("fclose", fclose(stream));
}

int main(int argc, char** argv) {
    const struct test_case cases[] = {{"wide", wide},           {"standard", standard},
                                      {"strangers", strangers}, {"changed", changed},
                                      {"wrong", wrong},         {"looked", looked_at}};
    return run_named(argc, argv, cases, sizeof cases / sizeof *cases);
}
