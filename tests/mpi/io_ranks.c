/* Run with I/O ranks: whatever tells a program how large the world is has to tell the number that
 * is its second argument. The first is a folder, in which rank 0 leaves what should be the same
 * with as many plain ranks. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wanted;
static int rank_seen;

static void is(int found, int should, const char* what) {
    if (found != should) {
        fprintf(stderr, "rank %d: %s is %d, not %d\n", rank_seen, what, found, should);
        MPI_Abort(MPI_COMM_WORLD, 7);
    }
}

static int size_of(MPI_Comm comm) {
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

static int group_size_of(MPI_Group group) {
    int size = 0;
    MPI_Group_size(group, &size);
    MPI_Group_free(&group);
    return size;
}

static void derived_communicators(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    is(size_of(comm), wanted, "size of a duplicate");
    int result;
    MPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
    is(result, MPI_CONGRUENT, "comparison with a duplicate");
    MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
    is(result, MPI_IDENT, "comparison with itself");
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_seen, &comm);
    is(size_of(comm), wanted, "size after a split");
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    is(size_of(comm), wanted, "size of the node");
    MPI_Comm_free(&comm);
    int dims[2] = {0, 0}, periods[2] = {0, 1};
    MPI_Dims_create(wanted, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &comm);
    is(size_of(comm), wanted, "size of a grid");
    MPI_Comm_free(&comm);
    if (wanted > 1) {
        MPI_Comm half, between;
        MPI_Comm_split(MPI_COMM_WORLD, rank_seen % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank_seen % 2, 3, &between);
        int remote;
        MPI_Comm_remote_size(between, &remote);
        is(remote, wanted - size_of(half), "remote size");
        MPI_Comm_free(&between);
        MPI_Comm_free(&half);
    }
}

static void groups(void) {
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    MPI_Comm comm;
    MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
    is(size_of(comm), wanted, "size of a group's communicator");
    MPI_Comm_free(&comm);
    is(group_size_of(group), wanted, "size of the group");
    int* memory;
    MPI_Win window;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_get_group(window, &group);
    is(group_size_of(group), wanted, "size of a window's group");
    MPI_Win_free(&window);
}

static void messages(void) {
    int right = (rank_seen + 1) % wanted, left = (rank_seen + wanted - 1) % wanted, got = -1;
    MPI_Sendrecv(&rank_seen, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    is(got, left, "message of the left neighbour");
    int sum = 0;
    MPI_Allreduce(&rank_seen, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    is(sum, wanted * (wanted - 1) / 2, "sum of the ranks");
    int all[64];
    MPI_Request request;
    MPI_Iallgather(&rank_seen, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is(all[wanted - 1], wanted - 1, "the last of an allgather");
}

/* Called when MPI_Finalize deletes what the world has. */
static int tell_deletion(MPI_Comm comm, int key, void* value, void* extra) {
    (void)comm;
    (void)key;
    (void)extra;
    is(size_of(MPI_COMM_WORLD), wanted, "size of the world at its end");
    if (rank_seen == 0) {
        printf("deleted %s\n", (const char*)value);
    }
    return MPI_SUCCESS;
}

static void attributes_of_the_end(void) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, tell_deletion, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, "the world's");
    MPI_Comm_set_attr(MPI_COMM_SELF, key, "its own");
}

static int handler_calls;

static void count_error(MPI_Comm* comm, int* code, ...) {
    (void)comm;
    (void)code;
    ++handler_calls;
}

static void attributes_and_names(void) {
    int found, *value;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &found);
    is(found && *value >= 32767, 1, "MPI_TAG_UB");
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found);
    is(!found || *value == 0, 1, "MPI_APPNUM");
    int key, mine = 11, *kept;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &mine);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &kept, &found);
    is(found && *kept == 11, 1, "an attribute");
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_get_attr(comm, key, &kept, &found);
    is(found && *kept == 11, 1, "an attribute of a duplicate");
    MPI_Comm_free(&comm);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &kept, &found);
    is(found, 0, "a deleted attribute");
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    is(strcmp(name, "MPI_COMM_WORLD"), 0, "the world's name, compared,");
    is(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD, 1,
       "the handle there and back");
    MPI_Comm_get_parent(&comm);
    is(comm == MPI_COMM_NULL, 1, "having no parent");
    char asked[64] = "";
    MPI_Info_get(MPI_INFO_ENV, "maxprocs", 63, asked, &found);
    if (found && atoi(asked) > 0) {
        is(atoi(asked), wanted, "maxprocs of MPI_INFO_ENV");
    }
}

/* Errors that belong to no communicator are the world's. */
static void error_handlers(void) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    int nobody = 0;
    MPI_Send(&nobody, 1, MPI_INT, wanted, 0, MPI_COMM_WORLD); /* the first rank that is not there */
    is(handler_calls, 1, "calls of the error handler");
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Type_commit(&none);
    is(handler_calls, 2, "calls of the error handler for errors of nobody");
    MPI_Errhandler_free(&handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void variables(void) {
    static const char* const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS",
                                        "MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"};
    static const char* const ranks[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID",
                                        "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK"};
    for (int at = 0; at < 5; ++at) {
        if (getenv(sizes[at])) {
            is(atoi(getenv(sizes[at])), wanted, sizes[at]);
        }
        if (getenv(ranks[at])) {
            is(atoi(getenv(ranks[at])), rank_seen, ranks[at]);
        }
    }
}

static void file(const char* folder) {
    char path[1024];
    snprintf(path, sizeof path, "%s/blocks", folder);
    MPI_File out;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &out);
    MPI_Group group;
    MPI_File_get_group(out, &group);
    is(group_size_of(group), wanted, "size of a file's group");
    enum { count = 5000 };
    static int block[count];
    MPI_Datatype strided;
    MPI_Type_vector(count / 10, 10, 10 * wanted, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Offset begin = (MPI_Offset)rank_seen * 10 * (MPI_Offset)sizeof(int);
    MPI_File_set_view(out, begin, MPI_INT, strided, "native", MPI_INFO_NULL);
    for (int at = 0; at < count; ++at) {
        block[at] = rank_seen * 1000003 + at;
    }
    MPI_File_write_at_all(out, 0, block, count, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&out);
    MPI_Type_free(&strided);
}

int main(int count, char** words) {
    const char* seconds = getenv("TEST_SECONDS_MAX");
    alarm(seconds ? (unsigned)atoi(seconds) : 60);
    int given;
    MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &given);
    wanted = atoi(words[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_seen);
    is(size_of(MPI_COMM_WORLD), wanted, "size of the world");
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    is(size, wanted, "size of the world by PMPI");
    derived_communicators();
    groups();
    messages();
    attributes_and_names();
    attributes_of_the_end();
    error_handlers();
    variables();
    file(words[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_seen == 0) {
        printf("saw %d\n", wanted);
    }
    MPI_Finalize();
    return 0;
}
