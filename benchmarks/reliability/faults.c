/* Inject faults into the system calls of a process: preload this library with LD_PRELOAD.

   FAULTS names a file with a `struct control`, which another process changes at any time.
   FAULT_FOLDER names the folder whose files fail. Calls on other files, pipes and sockets are
   passed on. Reads and writes through a memory map or inside of the C library (fwrite) are not
   intercepted. FAULT_LOG names a file to which each failed call, and each file of the folder that is
   renamed or deleted, is appended: seconds, process, call, path. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
    int write_errno;    /* ENOSPC or EIO; 0: writes succeed */
    int read_errno;     /* EIO; 0: reads succeed */
    int one_in;         /* a call fails with this probability: 1 of N */
    int short_writes;   /* 1: a write may write fewer bytes than requested */
    long clock_shift_s; /* is added to the time of day */
};

static const struct control no_faults;
static const volatile struct control *faults = &no_faults;
static char folder[PATH_MAX];
static size_t folder_length;
static __thread unsigned random_state;
static int log_file = -1;

#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void open_control(void) {
    const char *path = getenv("FAULTS"), *root = getenv("FAULT_FOLDER");
    if (!path || !root || !realpath(root, folder)) return;
    folder_length = strlen(folder);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *found = mmap(NULL, sizeof(struct control), PROT_READ, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) faults = found;
    close(file);
    const char *log = getenv("FAULT_LOG");
    if (log) log_file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

/* Append a line to the log, with one system call, because several processes write to it. */
static void note(const char *call, const char *path, const char *target) {
    char line[2 * PATH_MAX + 128];
    if (log_file < 0) return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int size = snprintf(line, sizeof line, "%ld.%03ld %d %s %s %s\n", (long)now.tv_sec,
                        now.tv_nsec / 1000000, (int)getpid(), call, path, target);
    if (size > 0 && syscall(SYS_write, log_file, line, (size_t)size) < 0) return;
}

static unsigned draw(void) {
    if (!random_state) random_state = (unsigned)(size_t)&random_state ^ (unsigned)getpid();
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static int is_path_in_folder(const char *path) {
    return folder_length && !strncmp(path, folder, folder_length) && path[folder_length] == '/';
}

/* Return whether an open file is in the folder, and its path. */
static int is_in_folder(int file, char *path) {
    char link[32] = "/proc/self/fd/", digits[12];
    int count = 0, end = (int)strlen(link), number = file;
    if (file < 0) return 0;
    do digits[count++] = (char)('0' + number % 10); while (number /= 10);
    while (count) link[end++] = digits[--count];
    link[end] = 0;
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    return is_path_in_folder(path);
}

/* Return whether this call fails, and set errno. */
static int fails(int error, int file, const char *call) {
    if (!error || draw() % (unsigned)(faults->one_in > 0 ? faults->one_in : 1)) return 0;
    char path[PATH_MAX];
    int before = errno;
    int chosen = is_in_folder(file, path);
    if (chosen) note(call, path, error == ENOSPC ? "ENOSPC" : "EIO");
    errno = chosen ? error : before;
    return chosen;
}

/* Return how many bytes to write: all, or sometimes fewer. */
static size_t shorten(int file, size_t size) {
    char path[PATH_MAX];
    if (!faults->short_writes || size < 2 || draw() % 4 || !is_in_folder(file, path)) return size;
    return 1 + draw() % (size - 1);
}

ssize_t write(int file, const void *data, size_t size) {
    NEXT(write);
    return fails(faults->write_errno, file, __func__) ? -1 : next(file, data, shorten(file, size));
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
    NEXT(pwrite);
    return fails(faults->write_errno, file, __func__) ? -1 : next(file, data, shorten(file, size), offset);
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
    NEXT(pwrite64);
    return fails(faults->write_errno, file, __func__) ? -1 : next(file, data, shorten(file, size), offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    NEXT(writev);
    if (fails(faults->write_errno, file, __func__)) return -1;
    char path[PATH_MAX];
    if (count > 1 && faults->short_writes && is_in_folder(file, path)) count = 1 + draw() % count;
    return next(file, parts, count);
}

int fsync(int file) {
    NEXT(fsync);
    return fails(faults->write_errno, file, __func__) ? -1 : next(file);
}

int fdatasync(int file) {
    NEXT(fdatasync);
    return fails(faults->write_errno, file, __func__) ? -1 : next(file);
}

int fallocate(int file, int mode, off_t offset, off_t size) {
    NEXT(fallocate);
    return fails(faults->write_errno, file, __func__) ? -1 : next(file, mode, offset, size);
}

int posix_fallocate(int file, off_t offset, off_t size) { /* returns the error */
    NEXT(posix_fallocate);
    return fails(faults->write_errno, file, __func__) ? errno : next(file, offset, size);
}

ssize_t read(int file, void *data, size_t size) {
    NEXT(read);
    return fails(faults->read_errno, file, __func__) ? -1 : next(file, data, size);
}

ssize_t pread(int file, void *data, size_t size, off_t offset) {
    NEXT(pread);
    return fails(faults->read_errno, file, __func__) ? -1 : next(file, data, size, offset);
}

ssize_t pread64(int file, void *data, size_t size, off64_t offset) {
    NEXT(pread64);
    return fails(faults->read_errno, file, __func__) ? -1 : next(file, data, size, offset);
}

int rename(const char *path, const char *target) {
    NEXT(rename);
    if (is_path_in_folder(path)) note(__func__, path, target);
    return next(path, target);
}

int unlink(const char *path) {
    NEXT(unlink);
    if (is_path_in_folder(path)) note(__func__, path, "");
    return next(path);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    NEXT(clock_gettime);
    int result = next(clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += faults->clock_shift_s;
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    NEXT(gettimeofday);
    int result = next(now, zone);
    if (!result) now->tv_sec += faults->clock_shift_s;
    return result;
}

time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}
