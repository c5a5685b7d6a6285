/* File views and memory types for views.c: one maker for each way that MPI has of describing bytes,
 * over one base type a view. Views of different ranks never overlap. */
#pragma once

#include "common.h"

struct view {
    const char* name;
    MPI_Datatype base; /* also the etype; committed */
    MPI_Datatype filetype;
    MPI_Offset displacement;
};

static MPI_Datatype resized_to(MPI_Datatype type, MPI_Aint extent) {
    MPI_Datatype tile;
    MPI_Type_create_resized(type, 0, extent, &tile);
    MPI_Type_free(&type);
    return tile;
}

static void view_whole(struct view* v) {
    v->base = MPI_INT;
    MPI_Type_dup(MPI_INT, &v->filetype);
    v->displacement = 7 + job.rank * 400 * 4;
}

static void view_vector(struct view* v) {
    v->base = MPI_INT;
    MPI_Type_vector(4, 5, 5 * job.ranks, MPI_INT, &v->filetype);
    v->filetype = resized_to(v->filetype, 4 * 5 * job.ranks * 4);
    v->displacement = job.rank * 20;
}

static void view_hvector(struct view* v) {
    v->base = MPI_BYTE;
    const MPI_Aint stride = 7 * job.ranks + 5;
    MPI_Type_create_hvector(3, 7, stride, MPI_BYTE, &v->filetype);
    v->filetype = resized_to(v->filetype, 3 * stride);
    v->displacement = 3 + 7 * job.rank;
}

static void view_indexed(struct view* v) {
    int lengths[] = {1, 4, 0, 2, 3}, places[5], before = 0;
    for (int i = 0; i < 5; i++) {
        places[i] = before * job.ranks + job.rank * lengths[i];
        before += lengths[i];
    }
    v->base = MPI_INT;
    MPI_Type_indexed(5, lengths, places, MPI_INT, &v->filetype);
    v->filetype = resized_to(v->filetype, 10 * job.ranks * 4);
    v->displacement = 0;
}

static void view_hindexed(struct view* v) {
    int lengths[] = {3, 1, 5};
    MPI_Aint places[3], before = 0;
    for (int i = 0; i < 3; i++) {
        places[i] = (before * job.ranks + job.rank * lengths[i]) * 2 + 6 * i;
        before += lengths[i];
    }
    v->base = MPI_SHORT;
    MPI_Type_create_hindexed(3, lengths, places, MPI_SHORT, &v->filetype);
    v->filetype = resized_to(v->filetype, 9 * job.ranks * 2 + 22);
    v->displacement = 2;
}

static void view_indexed_block(struct view* v) {
    int places[] = {3 * job.rank, 3 * (job.ranks + job.rank) + 2, 3 * (4 * job.ranks + job.rank)};
    v->base = MPI_INT;
    MPI_Type_create_indexed_block(3, 3, places, MPI_INT, &v->filetype);
    v->filetype = resized_to(v->filetype, 15 * job.ranks * 4);
    v->displacement = 12;
}

static void view_hindexed_block(struct view* v) {
    MPI_Aint places[] = {10 * job.rank, 10 * (2 * job.ranks + job.rank) + 5};
    v->base = MPI_BYTE;
    MPI_Type_create_hindexed_block(2, 10, places, MPI_BYTE, &v->filetype);
    v->filetype = resized_to(v->filetype, 30 * job.ranks + 15);
    v->displacement = 1;
}

/* The base itself has holes, which no write may touch. */
static void view_struct(struct view* v) {
    int lengths[] = {1, 1, 3};
    MPI_Aint places[] = {0, 8, 16};
    MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(3, lengths, places, parts, &v->base);
    v->base = resized_to(v->base, 24);
    MPI_Type_commit(&v->base);
    MPI_Type_vector(3, 2, 2 * job.ranks, v->base, &v->filetype);
    v->filetype = resized_to(v->filetype, 6 * job.ranks * 24);
    v->displacement = job.rank * 48;
}

/* MPICH 4.0 aborts in MPI_File_set_view. */
#if !defined MPICH_NUMVERSION || MPICH_NUMVERSION >= 40100000
static void view_pairs(struct view* v) {
    v->base = MPI_DOUBLE_INT;
    MPI_Type_vector(5, 1, job.ranks, MPI_DOUBLE_INT, &v->filetype);
    v->filetype = resized_to(v->filetype, 5 * job.ranks * 16);
    v->displacement = job.rank * 16;
}
#endif

static void view_subarray_c(struct view* v) {
    int grid[2] = {0, 0};
    MPI_Dims_create(job.ranks, 2, grid);
    int sizes[] = {6 * grid[0], 5 * grid[1]}, parts[] = {6, 5};
    int starts[] = {6 * (job.rank / grid[1]), 5 * (job.rank % grid[1])};
    v->base = MPI_DOUBLE;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &v->filetype);
    v->displacement = 0;
}

static void view_subarray_fortran(struct view* v) {
    int sizes[] = {5, 4, 3 * job.ranks}, parts[] = {3, 4, 3}, starts[] = {1, 0, 3 * job.rank};
    v->base = MPI_INT;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &v->filetype);
    v->displacement = 100;
}

/* An array, and how it is spread over a grid of the ranks; 0 in `ranks`: MPI chooses. */
struct spread {
    int dimensions, order, sizes[3], ways[3], arguments[3], ranks[3];
};

static MPI_Datatype own_part(struct spread s, MPI_Datatype base) {
    MPI_Datatype part;
    MPI_Dims_create(job.ranks, s.dimensions, s.ranks);
    MPI_Type_create_darray(job.ranks, job.rank, s.dimensions, s.sizes, s.ways, s.arguments, s.ranks,
                           s.order, base, &part);
    return part;
}

static void view_darray_c(struct view* v) {
    const struct spread spread = {.dimensions = 2,
                                  .order = MPI_ORDER_C,
                                  .sizes = {23, 37},
                                  .ways = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC},
                                  .arguments = {MPI_DISTRIBUTE_DFLT_DARG, 3}};
    v->base = MPI_INT;
    v->filetype = own_part(spread, MPI_INT);
    v->displacement = 0;
}

static void view_darray_fortran(struct view* v) {
    const struct spread spread = {
        .dimensions = 3,
        .order = MPI_ORDER_FORTRAN,
        .sizes = {9, 4, 11},
        .ways = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK},
        .arguments = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG},
        .ranks = {0, 1, 0}};
    v->base = MPI_SHORT;
    v->filetype = own_part(spread, MPI_SHORT);
    v->displacement = 11;
}

static void view_nested(struct view* v) {
    int sizes[] = {4, 6}, parts[] = {2, 3}, starts[] = {1, 2};
    MPI_Datatype part, twin, row;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &part);
    MPI_Type_dup(part, &twin);
    MPI_Type_contiguous(2, twin, &row);
    MPI_Type_vector(2, 1, job.ranks, row, &v->filetype);
    v->filetype = resized_to(v->filetype, 2 * job.ranks * 2 * 24 * 4);
    MPI_Type_free(&part);
    MPI_Type_free(&twin);
    MPI_Type_free(&row);
    v->base = MPI_INT;
    v->displacement = job.rank * 2 * 24 * 4;
}

typedef void view_maker(struct view*);
static const struct {
    const char* name;
    view_maker* make;
} views[] = {{"whole", view_whole},
             {"vector", view_vector},
             {"hvector", view_hvector},
             {"indexed", view_indexed},
             {"hindexed", view_hindexed},
             {"indexed_block", view_indexed_block},
             {"hindexed_block", view_hindexed_block},
             {"struct", view_struct},
#if !defined MPICH_NUMVERSION || MPICH_NUMVERSION >= 40100000
             {"pairs", view_pairs},
#endif
             {"subarray_c", view_subarray_c},
             {"subarray_fortran", view_subarray_fortran},
             {"darray_c", view_darray_c},
             {"darray_fortran", view_darray_fortran},
             {"nested", view_nested}};
enum { view_count = sizeof views / sizeof *views };

/* A buffer, and a type that picks `elements` of the view's base out of it. */
struct memory {
    unsigned char* area;
    size_t area_length;
    void* buffer; /* what MPI is given */
    int count;
    MPI_Datatype type;
    MPI_Datatype relative; /* to `area`, of an absolute type: MPICH cannot pack from MPI_BOTTOM */
};

enum { memory_count = 7, memory_elements_max = 64 };

static void memory_strided(struct memory* m, MPI_Datatype base, int n) {
    MPI_Type_vector(n, 1, 2, base, &m->type);
}

/* Backwards: the lower bound is negative. (With a stride of -extent, Open MPI goes forwards.) */
static void memory_reversed(struct memory* m, MPI_Datatype base, int n, MPI_Aint extent) {
    MPI_Type_create_hvector(n, 1, -2 * extent, base, &m->type);
    m->buffer = m->area + 2 * extent * (n - 1);
}

static void memory_absolute(struct memory* m, MPI_Datatype base, int n, MPI_Aint extent) {
    int lengths[] = {n / 2, n / 2};
    MPI_Aint places[2];
    MPI_Datatype parts[] = {base, base};
    MPI_Get_address(m->area + extent * (n + 1), &places[0]);
    MPI_Get_address(m->area, &places[1]);
    MPI_Type_create_struct(2, lengths, places, parts, &m->type);
    places[0] = extent * (n + 1);
    places[1] = 0;
    MPI_Type_create_struct(2, lengths, places, parts, &m->relative);
    MPI_Type_commit(&m->relative);
    m->buffer = MPI_BOTTOM;
}

static void memory_shuffled(struct memory* m, MPI_Datatype base, int n) {
    int places[memory_elements_max];
    for (int i = 0; i < n; i++) {
        places[i] = i ^ 1;
    }
    MPI_Type_create_indexed_block(n, 1, places, base, &m->type);
}

static void memory_halo(struct memory* m, MPI_Datatype base, int n) {
    int sizes[] = {6, n / 4 + 2}, parts[] = {4, n / 4}, starts[] = {1, 1};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, base, &m->type);
}

static void memory_several(struct memory* m, MPI_Datatype base, int n, MPI_Aint extent) {
    MPI_Type_contiguous(n / 4, base, &m->type);
    m->type = resized_to(m->type, extent * (n / 4 + 1));
    m->count = 4;
}

/* `n` is a multiple of 4. */
static struct memory make_memory(int kind, MPI_Datatype base, int n) {
    struct memory m = {.count = 1, .relative = MPI_DATATYPE_NULL};
    MPI_Aint low, extent;
    MPI_Type_get_extent(base, &low, &extent);
    m.area_length = (size_t)extent * (size_t)(3 * n + 16);
    m.area = malloc(m.area_length);
    memset(m.area, filler_memory, m.area_length);
    m.buffer = m.area;
    switch (n == 0 ? 0 : kind) {
        case 1: memory_strided(&m, base, n); break;
        case 2: memory_reversed(&m, base, n, extent); break;
        case 3: memory_absolute(&m, base, n, extent); break;
        case 4: memory_shuffled(&m, base, n); break;
        case 5: memory_halo(&m, base, n); break;
        case 6: memory_several(&m, base, n, extent); break;
        default: MPI_Type_dup(base, &m.type); m.count = n;
    }
    MPI_Type_commit(&m.type);
    return m;
}

static void free_memory(struct memory* m) {
    MPI_Type_free(&m->type);
    if (m->relative != MPI_DATATYPE_NULL) {
        MPI_Type_free(&m->relative);
    }
    free(m->area);
}

/* MPI_Pack and MPI_Unpack are the oracle: they know types and nothing of files. */
static void memory_put(struct memory* m, const unsigned char* stream, int length) {
    int at = 0;
    memset(m->area, filler_memory, m->area_length);
    if (m->relative != MPI_DATATYPE_NULL) {
        MPI_Unpack(stream, length, &at, m->area, m->count, m->relative, MPI_COMM_SELF);
    } else {
        MPI_Unpack(stream, length, &at, m->buffer, m->count, m->type, MPI_COMM_SELF);
    }
}

/* Where in a tile each byte of the type lies, in the type's order. The caller frees it. */
static MPI_Aint* places_of(MPI_Datatype type, int* size, MPI_Aint* extent) {
    MPI_Aint low;
    MPI_Type_size(type, size);
    MPI_Type_get_extent(type, &low, extent);
    MPI_Aint* places = calloc((size_t)*size + 1, sizeof *places);
    unsigned char *tile = malloc((size_t)*extent + 1), *packed = malloc((size_t)*size + 64);
    for (int shift = 0; shift < 24; shift += 8) {
        int at = 0;
        for (MPI_Aint i = 0; i < *extent; i++) {
            tile[i] = (unsigned char)(i >> shift);
        }
        MPI_Pack(tile, 1, type, packed, *size + 64, &at, MPI_COMM_SELF);
        for (int i = 0; i < *size; i++) {
            places[i] |= (MPI_Aint)packed[i] << shift;
        }
    }
    free(tile);
    free(packed);
    return places;
}
