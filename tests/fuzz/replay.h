/* What fuzzers share. A fuzzer is a file with LLVMFuzzerTestOneInput; libFuzzer brings its own main
 * (clang -fsanitize=fuzzer). With EG_FUZZ_REPLAY defined this header brings one instead, that feeds
 * the fuzzer every file of the folders given, so that what was found once is tested for ever:
 *
 *     fuzz_toml tests/fuzz/corpus/toml
 */
#ifndef EG_FUZZ_REPLAY_H
#define EG_FUZZ_REPLAY_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef EG_FUZZ_REPLAY

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* A block of exactly the size of the file, so that the address sanitizer sees its end. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
    uint8_t *data = size >= 0 ? malloc((size_t)size) : NULL;
    int read = (data || size == 0) && fseek(file, 0, SEEK_SET) == 0 &&
               fread(data, 1, (size_t)size, file) == (size_t)size;
    if (read) LLVMFuzzerTestOneInput(data, (size_t)size);
    if (!read) fprintf(stderr, "cannot read %s\n", path);
    free(data);
    if (file) fclose(file);
    return read;
}

int main(int argc, char **argv)
{
    int failures = 0, count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        if (!folder) {
            fprintf(stderr, "cannot open the folder %s\n", argv[i]);
            return 1;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            if (entry->d_name[0] == '.') continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            failures += !replay_file(path);
            count++;
        }
        closedir(folder);
    }
    printf("%d inputs replayed\n", count);
    return failures > 0 || count == 0;
}

#endif
#endif
