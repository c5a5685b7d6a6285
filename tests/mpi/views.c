/* Every file view with every memory type, by each of the four collective calls, written and read
 * back. The files start full of a filler, and an oracle made of MPI_Pack says what every byte must
 * be. */
#include "types.h"

enum { image_max = 1 << 18 };
enum how { plain, at, split, split_at };

static int elements_of(int step) { return 8 + 4 * ((job.rank + step) % 3); }

/* A rank that has nothing to write in this step. */
static int idle(int step) { return step % 5 == 4 && job.rank == 0; }

static void write_how(enum how how, MPI_File fh, MPI_Offset to, struct memory* m,
                      MPI_Status* status) {
    switch (how) {
        case plain:
            must(MPI_File_write_all(fh, m->buffer, m->count, m->type, status), "write_all");
            break;
        case at:
            must(MPI_File_write_at_all(fh, to, m->buffer, m->count, m->type, status),
                 "write_at_all");
            break;
        case split:
            must(MPI_File_write_all_begin(fh, m->buffer, m->count, m->type), "write_all_begin");
            must(MPI_File_write_all_end(fh, m->buffer, status), "write_all_end");
            break;
        case split_at:
            must(MPI_File_write_at_all_begin(fh, to, m->buffer, m->count, m->type),
                 "write_at_all_begin");
            must(MPI_File_write_at_all_end(fh, m->buffer, status), "write_at_all_end");
    }
}

static void read_how(enum how how, MPI_File fh, MPI_Offset from, struct memory* m,
                     MPI_Status* status) {
    switch (how) {
        case plain:
            must(MPI_File_read_all(fh, m->buffer, m->count, m->type, status), "read_all");
            break;
        case at:
            must(MPI_File_read_at_all(fh, from, m->buffer, m->count, m->type, status),
                 "read_at_all");
            break;
        case split:
            must(MPI_File_read_all_begin(fh, m->buffer, m->count, m->type), "read_all_begin");
            must(MPI_File_read_all_end(fh, m->buffer, status), "read_all_end");
            break;
        case split_at:
            must(MPI_File_read_at_all_begin(fh, from, m->buffer, m->count, m->type),
                 "read_at_all_begin");
            must(MPI_File_read_at_all_end(fh, m->buffer, status), "read_at_all_end");
    }
}

/* This rank's bytes of the file, -1 where it writes nothing. */
struct image {
    const struct view* view;
    short* bytes;
    MPI_Aint* places;
    int tile_size;
    MPI_Aint tile_extent;
};

static void image_add(struct image* image, MPI_Offset position, const unsigned char* stream,
                      int length) {
    for (int i = 0; i < length; i++) {
        const MPI_Offset byte = position + i;
        const MPI_Offset place = image->view->displacement +
                                 byte / image->tile_size * image->tile_extent +
                                 image->places[byte % image->tile_size];
        if (place >= image_max) {
            give_up("the image is too small");
        }
        image->bytes[place] = stream[i];
    }
}

/* Collective: compares the whole file with what all ranks' bytes make of it. */
static void image_check(const struct image* image, const char* path) {
    short* all = malloc(image_max * sizeof *all);
    MPI_Reduce(image->bytes, all, image_max, MPI_SHORT, MPI_MAX, 0, job.comm);
    if (job.rank == 0) {
        size_t length = 0;
        unsigned char* bytes = file_bytes(path, &length);
        check(length == image_max, "%zu bytes in the file instead of %d", length, image_max);
        for (size_t i = 0; bytes && i < length && i < image_max; i++) {
            const int wanted = all[i] < 0 ? filler_file : all[i];
            check(bytes[i] == wanted, "byte %zu of the file is %d instead of %d", i, bytes[i],
                  wanted);
        }
        free(bytes);
    }
    free(all);
}

struct step {
    int elements, bytes;
    MPI_Offset position; /* in elements of the base */
    unsigned char stream[memory_elements_max * 24];
};

static struct step make_step(const struct view* view, int number, MPI_Offset position) {
    struct step s = {.elements = idle(number) ? 0 : elements_of(number), .position = position};
    int size;
    MPI_Type_size(view->filetype, &size);
    s.elements = size == 0 ? 0 : s.elements; /* a grid may leave a rank nothing */
    MPI_Type_size(view->base, &size);
    s.bytes = s.elements * size;
    fill(s.stream, (size_t)s.bytes, job.rank, number);
    return s;
}

static void write_step(MPI_File fh, const struct view* view, const struct step* s, int number,
                       enum how how) {
    struct memory m = make_memory(number, view->base, s->elements);
    MPI_Status status;
    memory_put(&m, s->stream, s->bytes);
    const unsigned long before = sum_of(m.area, m.area_length);
    write_how(how, fh, s->position, &m, &status);
    check(sum_of(m.area, m.area_length) == before, "step %d changed the program's memory", number);
    note_status(&status, view->base);
    if (how == at || how == split_at) {
        must(MPI_File_seek(fh, s->elements, MPI_SEEK_CUR), "seek");
    }
    note_position(fh);
    free_memory(&m);
}

static void read_step(MPI_File fh, const struct view* view, const struct step* s, int number,
                      enum how how) {
    struct memory m = make_memory((number + 3) % memory_count, view->base, s->elements);
    MPI_Status status;
    must(MPI_File_seek(fh, s->position, MPI_SEEK_SET), "seek");
    read_how(how, fh, s->position, &m, &status);
    note_status(&status, view->base);
    note_position(fh);
    unsigned char* got = malloc(m.area_length);
    memcpy(got, m.area, m.area_length);
    memory_put(&m, s->stream, s->bytes);
    check(memcmp(got, m.area, m.area_length) == 0, "read step %d got something else", number);
    free(got);
    free_memory(&m);
}

static void run_view(int number) {
    struct view view = {.name = views[number].name};
    char file[64];
    snprintf(file, sizeof file, "views.%s", view.name);
    begin_case(view.name);
    make_filled(path_of(file), image_max);
    views[number].make(&view);
    MPI_Type_commit(&view.filetype);
    struct image image = {.view = &view, .bytes = malloc(image_max * sizeof(short))};
    image.places = places_of(view.filetype, &image.tile_size, &image.tile_extent);
    memset(image.bytes, 0xff, image_max * sizeof(short));

    MPI_File fh = open_file(file, MPI_MODE_RDWR, MPI_INFO_NULL);
    must(
        MPI_File_set_view(fh, view.displacement, view.base, view.filetype, "native", MPI_INFO_NULL),
        "view");
    struct step steps[memory_count];
    MPI_Offset position = 0;
    int base_size;
    MPI_Type_size(view.base, &base_size);
    for (int i = 0; i < memory_count; i++) {
        steps[i] = make_step(&view, i, position);
        write_step(fh, &view, &steps[i], i, (enum how)((number + i) % 4));
        image_add(&image, position * base_size, steps[i].stream, steps[i].bytes);
        position += steps[i].elements;
    }
    hand_over(fh);
    for (int i = memory_count - 1; i >= 0; i--) {
        read_step(fh, &view, &steps[i], i, (enum how)((number + i + 1) % 4));
    }
    must(MPI_File_close(&fh), "close");
    expect_taken(file, memory_count - (job.ranks == 1 ? 1 : 0), memory_count);
    image_check(&image, path_of(file));
    end_case();
    free(image.bytes);
    free(image.places);
    MPI_Type_free(&view.filetype);
    if (number == 7) {
        MPI_Type_free(&view.base);
    }
}

int main(int argc, char** argv) {
    start(&argc, &argv);
    for (int i = 0; i < view_count; i++) {
        if (argc < 3 || strcmp(argv[2], views[i].name) == 0) {
            run_view(i);
        }
    }
    finish();
    return 0;
}
