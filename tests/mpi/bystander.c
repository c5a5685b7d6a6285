/* Is Forebay's core in this process? Not before an MPI file is opened: bystander [FILE] tells its
 * maps before and after, and ends with status 3. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int core_is_mapped(void) {
    char line[1024];
    int found = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        found |= strstr(line, "libforebay_core") != NULL;
    }
    fclose(maps);
    return found;
}

int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int before = core_is_mapped();
    if (argc > 1) {
        MPI_File fh;
        MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
        MPI_File_close(&fh);
    }
    if (rank == 0) {
        printf("core before %d after %d\n", before, core_is_mapped());
    }
    MPI_Finalize();
    return 3;
}
