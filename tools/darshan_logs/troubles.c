/* Programs with known I/O problems. Usage: mpiexec troubles KIND FOLDER [NUMBER [SIZE]] */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, number, size;
static const char* folder;
static char* bytes;
static char own[512], shared[512];

static void compute(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

static void write_own(int syncing, int times) {
    int fd = open(own, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    for (int n = 0; n < times; n++) {
        if (write(fd, bytes, size) != size) perror("write");
        if (syncing == 1) fsync(fd);
        if (syncing == 2) fdatasync(fd);
    }
    close(fd);
}

static void fill(const char* path, long long total, int each) {
    if (rank == 0) {
        char* block = calloc(1, each);
        FILE* file = popen("true", "r"); /* another program writes, so that it is not recorded */
        if (file) pclose(file);
        char command[700];
        snprintf(command, sizeof command, "head -c %lld /dev/zero > %s", total, path);
        if (system(command) != 0) exit(3);
        free(block);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_calls(const char* path, long long first, long long stride, int times) {
    int fd = open(path, O_RDONLY, 0);
    for (int n = 0; n < times; n++)
        if (pread(fd, bytes, size, first + n * stride) != size) break;
    close(fd);
}

static MPI_File open_mpi(int mode, const char* hint) {
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    if (hint) MPI_Info_set(info, "romio_cb_write", hint);
    if (MPI_File_open(MPI_COMM_WORLD, shared, mode, info, &file) != MPI_SUCCESS) exit(4);
    MPI_Info_free(&info);
    return file;
}

/* A view of pieces of `size` bytes, one for each rank in turn, then a hole of `gap` pieces. */
static void set_strided(MPI_File file, int gap) {
    MPI_Datatype piece, view;
    MPI_Type_contiguous(size, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)size * (ranks + gap), &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, (MPI_Offset)rank * size, MPI_BYTE, view, "native", MPI_INFO_NULL);
}

static void strided(int writing, int together, int gap, const char* hint) {
    if (!writing) fill(shared, (long long)size * (ranks + gap) * (number + 1), 1 << 20);
    MPI_File file = open_mpi(writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY, hint);
    set_strided(file, gap);
    char* all = calloc(number, size);
    int count = number * size;
    if (writing && together) MPI_File_write_all(file, all, count, MPI_BYTE, MPI_STATUS_IGNORE);
    if (writing && !together) MPI_File_write(file, all, count, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!writing && together) MPI_File_read_all(file, all, count, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!writing && !together) MPI_File_read(file, all, count, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    free(all);
}

static void calls_of_mpi(int writing, int together) {
    if (!writing) fill(shared, (long long)size * ranks * number, 1 << 20);
    MPI_File file = open_mpi(writing ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY, "enable");
    for (int n = 0; n < number; n++) {
        MPI_Offset at = ((MPI_Offset)n * ranks + rank) * size;
        if (writing && together)
            MPI_File_write_at_all(file, at, bytes, size, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (writing)
            MPI_File_write_at(file, at, bytes, size, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (together)
            MPI_File_read_at_all(file, at, bytes, size, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_read_at(file, at, bytes, size, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

static void stdio_calls(int writing, int flushing) {
    if (!writing) {
        char command[700];
        snprintf(command, sizeof command, "head -c %lld /dev/zero > %s", (long long)number * size,
                 own);
        if (system(command) != 0) exit(3);
    }
    FILE* file = fopen(own, writing ? "w" : "r");
    setvbuf(file, NULL, flushing == 2 ? _IONBF : _IOFBF, 4096);
    for (int n = 0; n < number; n++) {
        if (writing) {
            fwrite(bytes, 1, size, file);
            if (flushing == 1) fflush(file);
        } else if (fread(bytes, 1, size, file) == 0)
            break;
    }
    fclose(file);
}

static void small_shared(int writing) {
    if (!writing) fill(shared, (long long)size * ranks * number, 1 << 20);
    int fd = open(shared, O_CREAT | O_RDWR, 0644);
    for (int n = 0; n < number; n++) {
        off_t at = ((off_t)n * ranks + rank) * size;
        if ((writing ? pwrite(fd, bytes, size, at) : pread(fd, bytes, size, at)) < 0) break;
    }
    close(fd);
}

static void metadata(const char* what) {
    struct stat about;
    char path[600];
    if (!strcmp(what, "manyfiles"))
        for (int n = 0; n < number; n++) {
            snprintf(path, sizeof path, "%s.%d", own, n);
            int fd = open(path, O_CREAT | O_WRONLY, 0644);
            if (write(fd, bytes, 8) != 8) perror("write");
            close(fd);
        }
    else {
        int fd = open(own, O_CREAT | O_WRONLY, 0644);
        close(fd);
        for (int n = 0; n < number; n++) {
            if (!strcmp(what, "statstorm"))
                stat(own, &about);
            else {
                fd = open(own, O_RDONLY, 0);
                close(fd);
            }
        }
    }
}

static void reopen(void) {
    for (int n = 0; n < number; n++) {
        MPI_File file = open_mpi(MPI_MODE_CREATE | MPI_MODE_RDWR, NULL);
        MPI_File_write_at(file, (MPI_Offset)rank * 64, bytes, 64, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
}

static void synced_mpi(void) {
    MPI_File file = open_mpi(MPI_MODE_CREATE | MPI_MODE_RDWR, NULL);
    for (int n = 0; n < number; n++) {
        MPI_Offset at = ((MPI_Offset)n * ranks + rank) * size;
        MPI_File_write_at(file, at, bytes, size, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
    }
    MPI_File_close(&file);
}

static void healthy(double share) {
    double a = MPI_Wtime();
    write_own(0, number);
    MPI_Barrier(MPI_COMM_WORLD);
    compute(share > 0 ? (MPI_Wtime() - a) * (1 / share - 1) : 0);
}

static void run(const char* what) {
    if (!strcmp(what, "tinycoll"))
        calls_of_mpi(1, 1);
    else if (!strcmp(what, "tinycollread"))
        calls_of_mpi(0, 1);
    else if (!strcmp(what, "independent"))
        calls_of_mpi(1, 0);
    else if (!strcmp(what, "independentread"))
        calls_of_mpi(0, 0);
    else if (!strcmp(what, "sieve"))
        strided(1, 0, 0, NULL);
    else if (!strcmp(what, "sieveread"))
        strided(0, 0, 0, NULL);
    else if (!strcmp(what, "holes"))
        strided(1, 1, 3 * ranks, "enable");
    else if (!strcmp(what, "collective"))
        strided(1, 1, 0, "enable");
    else if (!strcmp(what, "rootwriter")) {
        if (rank == 0) write_own(0, number);
    } else if (!strcmp(what, "rootsync")) {
        if (rank == 0) {
            write_own(0, number);
            sync();
        }
    } else if (!strcmp(what, "fsyncs"))
        write_own(1, number);
    else if (!strcmp(what, "fdatasyncs"))
        write_own(2, number);
    else if (!strcmp(what, "slowrank"))
        write_own(rank == ranks - 1, number);
    else if (!strcmp(what, "smallwrites"))
        write_own(0, number);
    else if (!strcmp(what, "smallreads")) {
        fill(shared, (long long)size * number * ranks, 1 << 20);
        read_calls(shared, (long long)rank * size * number, size, number);
    } else if (!strcmp(what, "randomreads")) {
        fill(shared, 64 << 20, 1 << 20);
        int fd = open(shared, O_RDONLY, 0);
        unsigned seed = 7 + rank;
        for (int n = 0; n < number; n++)
            if (pread(fd, bytes, size, (off_t)(rand_r(&seed) % ((64 << 20) - size))) < 0) break;
        close(fd);
    } else if (!strcmp(what, "samebytes")) {
        fill(shared, (long long)size * number, 1 << 20);
        read_calls(shared, 0, size, number);
    } else if (!strcmp(what, "sharedsmall"))
        small_shared(1);
    else if (!strcmp(what, "sharedsmallread"))
        small_shared(0);
    else if (!strcmp(what, "uneven"))
        write_own(0, rank == 1 ? number * 8 : number);
    else if (!strcmp(what, "stdioflush"))
        stdio_calls(1, 1);
    else if (!strcmp(what, "stdiounbuffered"))
        stdio_calls(1, 2);
    else if (!strcmp(what, "stdioread"))
        stdio_calls(0, 2);
    else if (!strcmp(what, "reopen"))
        reopen();
    else if (!strcmp(what, "syncedmpi"))
        synced_mpi();
    else if (!strcmp(what, "healthy"))
        healthy(0.02);
    else if (!strcmp(what, "tenth"))
        healthy(0.1);
    else if (!strcmp(what, "bound"))
        healthy(0);
    else if (!strcmp(what, "nothing"))
        compute(0.2);
    else
        metadata(what);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3) return 2;
    folder = argv[2];
    number = argc > 3 ? atoi(argv[3]) : 100;
    size = argc > 4 ? atoi(argv[4]) : 65536;
    bytes = calloc(1, size > 4096 ? size : 4096);
    snprintf(own, sizeof own, "%s/f.%d", folder, rank);
    snprintf(shared, sizeof shared, "%s/shared", folder);
    MPI_Barrier(MPI_COMM_WORLD);
    run(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
