// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "engine/base/text.h"
#include "tests/audit/sources.h"

// A folder includes headers from the rows of the module map above its own and from nothing else, and only engine/host
// touches the machine.
namespace storpol::test {
namespace {

// The module map, top to bottom.
constexpr std::array<std::string_view, 10> rows{"engine/base",   "engine/model",    "engine/host",      "engine/text",
                                                "engine/policy", "engine/topology", "engine/reconcile", "resources",
                                                "engine/report", "engine/cli"};

// Including file, included header and why it may.
struct Exception {
    std::string_view includer;
    std::string_view header;
    std::string_view reason;
};

constexpr std::array<Exception, 1> exceptions{{
    {"engine/host/user_files.h", "engine/policy/load.h", "implements the PolicySource that policy texts come from"},
}};

int row_of(std::string_view path) {
    for (std::size_t index = 0; index < rows.size(); ++index) {
        if (path.substr(0, rows[index].size() + 1) == std::string(rows[index]) + "/") return static_cast<int>(index);
    }
    return -1;
}

std::vector<std::string> project_includes(const std::string& text) {
    constexpr std::string_view directive = "#include \"";
    std::vector<std::string> headers;
    for (const std::string_view line : split_lines(text)) {
        if (line.substr(0, directive.size()) != directive) continue;
        headers.emplace_back(line.substr(directive.size(), line.find('"', directive.size()) - directive.size()));
    }
    return headers;
}

bool is_exception(std::string_view includer, std::string_view header) {
    return std::ranges::any_of(exceptions, [&](const Exception& exception) {
        return exception.includer == includer && exception.header == header;
    });
}

TEST(Layering, AFolderIncludesOnlyItselfAndTheRowsAbove) {
    const auto files = source_files({"engine", "resources"});
    ASSERT_GT(files.size(), 50U);
    for (const std::string& file : files) {
        ASSERT_GE(row_of(file), 0) << file << " lies in a folder that the module map does not name";
        for (const std::string& header : project_includes(source_text(file))) {
            const int row = row_of(header);
            EXPECT_GE(row, 0) << file << " includes \"" << header
                              << "\", which is no path from the top of the repository";
            if (is_exception(file, header)) continue;
            EXPECT_LE(row, row_of(file)) << file << " includes " << header << " from a row below its own";
        }
    }
}

TEST(Layering, EachExceptionIsStillUsed) {
    for (const Exception& exception : exceptions) {
        const auto headers = project_includes(source_text(std::string(exception.includer)));
        EXPECT_NE(std::ranges::find(headers, exception.header), headers.end())
            << exception.includer << ": " << exception.reason;
    }
}

// Libraries that cost much to compile, or that one file alone is to know.
TEST(Layering, HeavyLibrariesStayOutOfHeaders) {
    for (const std::string& file : source_files({"engine", "resources"})) {
        if (!file.ends_with(".h")) continue;
        const std::string text = source_text(file);
        for (const char* library : {"<nlohmann/json.hpp>", "<fmt/", "<toml++/", "<CLI/", "<regex>", "<iostream>"}) {
            EXPECT_EQ(text.find(std::string("#include ") + library), std::string::npos)
                << file << " includes " << library;
        }
    }
}

TEST(Layering, NothingThrowsIncludesSourceFiles) {
    for (const std::string& file : source_files({"engine", "resources"})) {
        for (const std::string& header : project_includes(source_text(file))) {
            EXPECT_FALSE(header.ends_with(".cpp")) << file;
            EXPECT_NE(header.substr(0, 6), "tests/") << file;
        }
    }
}

// What reads or changes the machine, by its name in a symbol table. fmemopen (libmount's parser over text in memory),
// write (stderr of a broken invariant) and close (Fd) are not among them.
const std::set<std::string> machine_symbols{
    "open",
    "open64",
    "openat",
    "openat64",
    "openat2",
    "creat",
    "fopen",
    "fopen64",
    "freopen",
    "opendir",
    "fdopendir",
    "scandir",
    "readdir",
    "readdir64",
    "stat",
    "stat64",
    "lstat",
    "lstat64",
    "fstat",
    "fstat64",
    "fstatat",
    "fstatat64",
    "statx",
    "statfs",
    "statfs64",
    "statvfs",
    "statvfs64",
    "access",
    "faccessat",
    "euidaccess",
    "readlink",
    "readlinkat",
    "realpath",
    "ioctl",
    "fcntl",
    "getenv",
    "secure_getenv",
    "environ",
    "setenv",
    "time",
    "clock_gettime",
    "gettimeofday",
    "popen",
    "system",
    "fork",
    "vfork",
    "clone",
    "execve",
    "execv",
    "execvp",
    "execvpe",
    "execl",
    "execlp",
    "execle",
    "fexecve",
    "posix_spawn",
    "posix_spawnp",
    "waitpid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getpwuid",
    "getpwuid_r",
    "gethostname",
    "uname",
    "sysconf",
    "sysinfo",
    "syscall",
    "socket",
    "connect",
    "mount",
    "umount",
    "umount2",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "chmod",
    "fchmod",
    "chown",
    "fchown",
    "truncate",
    "ftruncate",
    "fsync",
    "fdatasync",
    "sync",
    "syncfs",
    "flock",
    "symlink",
    "symlinkat",
    "link",
    "linkat",
    "mmap",
    "kill",
    "sd_bus_open_system",
    "sd_journal_open",
    "mnt_new_context",
    "mnt_context_mount",
    "swapon",
    "swapoff",
};

bool touches_machine(const std::string& symbol) {
    if (machine_symbols.contains(symbol)) return true;
    for (const char* part : {"std::filesystem::", "basic_ifstream<", "basic_ofstream<", "basic_fstream<",
                             "basic_filebuf<", "system_clock::now", "steady_clock::now", "std::random_device::"}) {
        if (symbol.find(part) != std::string::npos) return true;
    }
    return false;
}

// "symbol" of a line of `nm -u -C`: "                 U getenv@GLIBC_2.2.5" or, for weak ones, "w name".
std::string symbol_in(std::string_view line) {
    const std::string_view text = trim(line);
    if (text.size() < 3 || text[1] != ' ') return {};
    const std::string_view name = text.substr(2);
    return std::string(name.substr(0, name.find('@')));
}

std::vector<std::filesystem::path> objects_outside_host() {
    std::vector<std::filesystem::path> objects;
    for (const char* target : {"base", "model", "text", "policy", "topology", "reconcile", "resources", "report"}) {
        const auto folder =
            std::filesystem::path(STORPOL_BINARY_DIR) / "CMakeFiles" / ("storpol_" + std::string(target) + ".dir");
        if (!std::filesystem::exists(folder)) continue;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
            if (entry.path().extension() == ".o") objects.push_back(entry.path());
        }
    }
    return objects;
}

TEST(Layering, OnlyTheHostTouchesTheMachine) {
    if (!has_program("nm")) GTEST_SKIP() << "nm (binutils) is not installed";
    const auto objects = objects_outside_host();
    ASSERT_GT(objects.size(), 30U) << "no objects below " << STORPOL_BINARY_DIR;
    for (const auto& object : objects) {
        const ProgramResult listed = run({"nm", "-u", "-C", object.string()});
        ASSERT_EQ(listed.exit_code, 0) << listed.output;
        for (const std::string_view line : split_lines(listed.output)) {
            const std::string symbol = symbol_in(line);
            EXPECT_FALSE(touches_machine(symbol)) << object.filename() << " of " << object.parent_path().string()
                                                  << " uses " << symbol << ": ask a Host instead";
        }
    }
}

TEST(Layering, TheSymbolAuditKnowsAForbiddenSymbol) {
    EXPECT_TRUE(touches_machine(symbol_in("                 U getenv@GLIBC_2.2.5")));
    EXPECT_TRUE(touches_machine(
        symbol_in("                 U std::filesystem::status(std::filesystem::__cxx11::path const&)")));
    EXPECT_TRUE(touches_machine(symbol_in("                 U std::chrono::_V2::system_clock::now()")));
    EXPECT_FALSE(touches_machine(symbol_in("                 U storpol::Host::ask(storpol::Query const&)")));
    EXPECT_FALSE(touches_machine(symbol_in("")));
}

}  // namespace
}  // namespace storpol::test
