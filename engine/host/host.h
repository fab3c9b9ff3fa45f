// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/host/query.h"

// The one door to the machine, reads only. Its kinds: LiveHost (the machine), RootHost (a mounted image), SnapshotHost
// (a capture), MemoryHost (tests), and Picture, which a run puts over one of them: each question is asked once and
// answered the same all through the run, and what was asked can be written out as a capture.
namespace storpol {

struct FileText {
    std::string bytes;
    std::string path;  // after all links: what sources and edits name
};

struct FileStat {
    std::string type;  // "file", "dir", "link", "block", "char", "other"
    unsigned mode = 0;
    unsigned uid = 0;
    unsigned gid = 0;
    std::int64_t size = 0;
    unsigned nlink = 1;
    std::string device;  // "8:1"
    bool immutable = false;
    std::string mount_id;  // of the mount it lies on, never used twice (Linux 6.8); empty where that is not known
    std::string path;      // after all links
};

class Host {
  public:
    virtual ~Host() = default;

    Answer ask(const Query& query) { return do_ask(query); }  // refusals are answers too

    // Typed helpers, each one question.
    Result<std::string> read_file(std::string_view path);
    Result<FileText> read_file_resolved(std::string_view path);
    Result<std::string> read_link(std::string_view path);
    Result<std::vector<std::string>> list(std::string_view dir);
    Result<FileStat> stat(std::string_view path);
    Result<std::string> now();  // RFC 3339, UTC
    Result<std::map<std::string, std::string>> unit(std::string_view name);
    Result<std::map<std::string, std::string>> ext4_super(std::string_view device);  // defaults kept in the superblock
    Result<std::map<std::string, std::string>> dm_table(std::string_view name);
    Result<std::map<std::string, std::string>> dm_status(std::string_view name);
    Result<std::map<std::string, std::string>> luks(std::string_view device);
    Result<std::string> journal(std::string_view unit, int last);
    Result<std::string> package(std::string_view name);
    Result<std::string> image_member(std::string_view image, std::string_view path);

  private:
    virtual Answer do_ask(const Query& query) = 0;
};

// "key=value" lines as a map; a line without '=' is left out.
std::map<std::string, std::string> parse_properties(std::string_view text);
std::string render_properties(const std::map<std::string, std::string>& properties);

// The running machine. Answers stay true for the moment only. Follows no path below a network, FUSE or autofs mount.
std::unique_ptr<Host> make_live_host();

// A directory tree as the root of a machine that does not run: openat2(RESOLVE_IN_ROOT), nothing below its /proc, /sys,
// /dev (not_captured), units from its files. An Error when DIR cannot be opened.
Result<std::unique_ptr<Host>> make_root_host(std::string_view directory);

// A capture or facts.txt text. A question it does not hold is not_captured.
Result<std::unique_ptr<Host>> make_snapshot_host(std::string_view text, std::string_view where);

class Picture final : public Host {
  public:
    explicit Picture(Host& machine) : machine_(machine) {}

    // All questions and answers so far as a capture, sorted: the first line, then an entry each.
    std::string capture(std::string_view version, std::string_view time) const;

    std::size_t questions() const { return answers_.size(); }

  private:
    Answer do_ask(const Query& query) override;
    Host& machine_;
    std::map<Query, Answer> answers_;
};

// A machine in memory: what tests put in. Unknown files are ENOENT, as on a machine that has only these; the clock,
// units and the user are not_captured until put.
class MemoryHost final : public Host {
  public:
    void put_file(std::string path, std::string bytes);  // its directories exist then
    void put_link(std::string path, std::string target);
    void remove(const std::string& path);
    void put(Query query, Answer answer);  // any other question
    void refuse(Query query, int code);    // by errno

    const std::map<std::string, std::string>& files() const { return files_; }

  private:
    Answer do_ask(const Query& query) override;
    Answer answer_path(const Query& query, const std::string& path) const;  // `path` after all links
    std::set<std::string> names_in(const std::string& directory) const;
    std::map<std::string, std::string> files_;
    std::map<std::string, std::string> links_;
    std::map<Query, Answer> answers_;
};

}  // namespace storpol
