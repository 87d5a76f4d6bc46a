/* Unloads uidring's library while a generator is open, and takes on: `unload LIBRARY STORE`.
 * Without the code that keeps it loaded, the generator's threads run into memory that is no longer
 * there. */
#include <stdint.h>
#include <stdio.h>
#include <windows.h>

typedef int open_function(const char *address, const char *const *options, uint64_t *generator);
typedef int take_function(uint64_t generator, uint64_t *uid);

int main(int argc, char **argv) {
    const char *const options[] = {"lease=2s", NULL};
    uint64_t generator = 0, uid = 0, last = 0;
    if (argc != 3) {
        return 2;
    }
    HMODULE library = LoadLibraryA(argv[1]);
    if (library == NULL) {
        fprintf(stderr, "cannot load %s: error %lu\n", argv[1], GetLastError());
        return 1;
    }
    /* By way of `void *`, as functions of other types are not cast without a warning. */
    open_function *open = (open_function *)(void *)GetProcAddress(library, "uidring_open");
    take_function *take = (take_function *)(void *)GetProcAddress(library, "uidring_take");
    if (open(argv[2], options, &generator) != 0 || take(generator, &last) != 0) {
        fprintf(stderr, "cannot take from %s\n", argv[2]);
        return 1;
    }
    for (int unloads = 0; unloads < 3; unloads++) {
        FreeLibrary(library);
    }
    /* The lease is renewed meanwhile. */
    for (int takes = 0; takes < 40; takes++, last = uid) {
        Sleep(100);
        if (take(generator, &uid) != 0 || uid <= last) {
            fprintf(stderr, "no id after %llu\n", (unsigned long long)last);
            return 1;
        }
    }
    puts("the library stays loaded");
    return 0;
}
