// SPDX-License-Identifier: GPL-3.0-or-later
// storpol_parse libmount|storpol ROUNDS MOUNTINFO FSTAB: reads the two files once and parses both ROUNDS times, by
// libmount alone or by engine/text, which hands each fstab line to libmount for its meaning. Nothing else is done: what
// a plan of mounts cannot cost less than, and how far our own parsers are from it.
#include <libmount/libmount.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/text/fstab.h"
#include "engine/text/mountinfo.h"

namespace {

std::string read_all(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

int parse_with_libmount(std::string& text, const char* name) {
    libmnt_table* table = mnt_new_table();
    std::FILE* stream = fmemopen(text.data(), text.size(), "r");
    if (table == nullptr || stream == nullptr) return -1;
    mnt_table_parse_stream(table, stream, name);
    const int entries = mnt_table_get_nents(table);
    std::fclose(stream);
    mnt_unref_table(table);
    return entries;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 1;
    const bool by_libmount = std::strcmp(argv[1], "libmount") == 0;
    auto mountinfo = read_all(argv[3]);
    auto fstab = read_all(argv[4]);
    std::size_t mounts = 0;
    std::size_t lines = 0;
    for (int round = std::atoi(argv[2]); round > 0; --round) {
        if (by_libmount) {
            mounts = static_cast<std::size_t>(parse_with_libmount(mountinfo, "mountinfo"));
            lines = static_cast<std::size_t>(parse_with_libmount(fstab, "fstab"));
        } else {
            mounts = storpol::parse_mountinfo(mountinfo).mounts.size();
            lines = storpol::parse_fstab(fstab).entries.size();
        }
    }
    std::printf("mounts=%zu lines=%zu\n", mounts, lines);
    return 0;
}
