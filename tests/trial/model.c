/* A user's program that has never heard of Forebay: it computes for a moment and writes a step,
 * four times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 4, STEP_BYTES = 8 << 20 };

int main(void) {
    char* field = malloc(STEP_BYTES);
    if (field == NULL) return 1;
    for (int step = 0; step < STEPS; ++step) {
        const struct timespec computing = {.tv_nsec = 200000000};
        nanosleep(&computing, NULL);
        memset(field, step, STEP_BYTES);
        char name[32];
        snprintf(name, sizeof name, "step-%d.bin", step);
        FILE* file = fopen(name, "wb");
        if (file == NULL) return 1;
        if (fwrite(field, 1, STEP_BYTES, file) != STEP_BYTES) return 1;
        if (fclose(file) != 0) return 1;
    }
    free(field);
    return 0;
}
