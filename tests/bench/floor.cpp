// SPDX-License-Identifier: GPL-3.0-or-later
// storpol_floor ROOT POLICY KEY...: opens, reads and closes each file that a plan of these sysctl keys must read, once.
// It parses only the names of directory entries and compares nothing: what is left of a plan's cost is the program's
// own. ROOT is "" for the running machine; else a directory tree, where /proc is not read.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

struct Seen {
    char names[4096][64];
    int count = 0;
};

Seen seen;
char buffer[1 << 16];
long files = 0;
long bytes = 0;

void read_all(const char* root, const char* path) {
    char whole[4096];
    std::snprintf(whole, sizeof whole, "%s%s", root, path);
    const int fd = open(whole, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    ++files;
    for (ssize_t n = read(fd, buffer, sizeof buffer); n > 0; n = read(fd, buffer, sizeof buffer)) bytes += n;
    close(fd);
}

// The file of a name in an earlier directory hides those after it.
bool is_new(const char* name) {
    for (int i = 0; i < seen.count; ++i) {
        if (std::strcmp(seen.names[i], name) == 0) return false;
    }
    if (seen.count < 4096 && std::strlen(name) < 64) std::strcpy(seen.names[seen.count++], name);
    return true;
}

void read_directory(const char* root, const char* directory) {
    char path[4096];
    std::snprintf(path, sizeof path, "%s%s", root, directory);
    DIR* open_directory = opendir(path);
    if (open_directory == nullptr) return;
    for (const dirent* entry = readdir(open_directory); entry != nullptr; entry = readdir(open_directory)) {
        const char* dot = std::strrchr(entry->d_name, '.');
        if (dot == nullptr || std::strcmp(dot, ".conf") != 0 || !is_new(entry->d_name)) continue;
        std::snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        read_all(root, path);
    }
    closedir(open_directory);
}

void read_key(const char* key) {
    char path[1024];
    std::snprintf(path, sizeof path, "/proc/sys/%s", key);
    for (char* at = path + 10; *at != '\0'; ++at) {
        if (*at == '.') *at = '/';
    }
    read_all("", path);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) return 1;
    const char* root = argv[1];
    read_all("", argv[2]);
    for (const char* directory : {"/etc/sysctl.d", "/run/sysctl.d", "/usr/local/lib/sysctl.d", "/usr/lib/sysctl.d"}) {
        read_directory(root, directory);
    }
    for (const char* path : {"/etc/sysctl.conf", "/var/lib/storpol/applied.json"}) read_all(root, path);
    if (*root == '\0') {
        for (const char* path : {"/proc/cmdline", "/proc/self/mountinfo", "/proc/sys/kernel/random/boot_id"})
            read_all("", path);
        for (int i = 3; i < argc; ++i) read_key(argv[i]);
    }
    std::printf("files=%ld bytes=%ld\n", files, bytes);
    return 0;
}
