// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cerrno>
#include <set>

#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/host/path_walk.h"

namespace storpol {
namespace {

constexpr int max_links = 40;

// The part of `path` that stands directly in `directory`, empty when it lies elsewhere.
std::string child_name(const std::string& path, const std::string& directory) {
    const auto prefix = directory == "/" ? "/" : directory + "/";
    if (!path.starts_with(prefix) || path.size() == prefix.size()) return {};
    return path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size());
}

// Follows the links of `path` by text; none when they loop. The last component stays when `keep_last`.
std::optional<std::string> resolve(const std::map<std::string, std::string>& links,
                                   std::string_view path,
                                   bool keep_last) {
    std::vector<std::string> pending;
    const auto push = [&pending](std::string_view text) {
        const auto parts = split(text, '/');
        for (auto part = parts.rbegin(); part != parts.rend(); ++part)
            if (!part->empty() && *part != ".") pending.emplace_back(*part);
    };
    push(path);
    std::string done;
    for (int followed = 0; !pending.empty();) {
        const auto part = pending.back();
        pending.pop_back();
        if (part == "..") {
            done.resize(done.empty() ? 0 : done.rfind('/'));
            continue;
        }
        const auto link = links.find(done + "/" + part);
        if (link == links.end() || (keep_last && pending.empty())) {
            done += "/" + part;
            continue;
        }
        if (++followed > max_links) return std::nullopt;
        if (link->second.starts_with('/')) done.clear();
        push(link->second);
    }
    return done.empty() ? "/" : done;
}

}  // namespace

void MemoryHost::put_file(std::string path, std::string bytes) {
    links_.erase(path);
    files_.insert_or_assign(std::move(path), std::move(bytes));
}

void MemoryHost::put_link(std::string path, std::string target) {
    files_.erase(path);
    links_.insert_or_assign(std::move(path), std::move(target));
}

void MemoryHost::remove(const std::string& path) {
    files_.erase(path);
    links_.erase(path);
}

void MemoryHost::put(Query query, Answer answer) {
    answers_.insert_or_assign(std::move(query), std::move(answer));
}

void MemoryHost::refuse(Query query, int code) {
    auto answer = storpol::refuse(query, code);
    put(std::move(query), std::move(answer));
}

std::set<std::string> MemoryHost::names_in(const std::string& directory) const {
    std::set<std::string> names;
    for (const auto& [path, bytes] : files_) names.insert(child_name(path, directory));
    for (const auto& [path, target] : links_) names.insert(child_name(path, directory));
    names.erase("");
    return names;
}

Answer MemoryHost::answer_path(const Query& query, const std::string& path) const {
    const auto file = files_.find(path);
    const auto names = names_in(path);
    const bool is_directory = !names.empty() || path == "/";
    if (query.kind == QueryKind::file) {
        if (path == "/dev/null") return Answer{"", path, {}};
        if (is_directory) return storpol::refuse(query, EISDIR);
        return file == files_.end() ? storpol::refuse(query, ENOENT) : Answer{file->second, path, {}};
    }
    if (query.kind == QueryKind::list) {
        if (!is_directory) return storpol::refuse(query, file == files_.end() ? ENOENT : ENOTDIR);
        Answer answer{"", path, {}};
        for (const auto& name : names) answer.text += name + "\n";
        return answer;
    }
    if (file == files_.end() && !is_directory) return storpol::refuse(query, ENOENT);
    const std::string about = is_directory
                                  ? "type=dir\nmode=0755\nuid=0\ngid=0\nsize=0\nnlink=1\ndev=0:1\n"
                                  : "type=file\nmode=0644\nuid=0\ngid=0\nsize=" + std::to_string(file->second.size()) +
                                        "\nnlink=1\ndev=0:1\n";
    return Answer{about, path, {}};
}

Answer MemoryHost::do_ask(const Query& query) {
    const auto known = answers_.find(query);
    if (known != answers_.end()) return known->second;
    if (!is_about_path(query.kind)) return not_captured(query);
    const auto path = resolve(links_, query.args.at(0), query.kind == QueryKind::link);
    if (!path) return storpol::refuse(query, ELOOP);
    if (query.kind == QueryKind::link) {
        const auto link = links_.find(*path);
        if (link != links_.end()) return Answer{link->second, "", {}};
        return storpol::refuse(query, files_.contains(*path) || !names_in(*path).empty() ? EINVAL : ENOENT);
    }
    // What a test put for the place a link leads to holds for the link too.
    const auto there = answers_.find(Query{query.kind, {*path}});
    if (there != answers_.end()) return there->second;
    if (query.kind == QueryKind::program_exists) return Answer{files_.contains(*path) ? "yes" : "no", "", {}};
    return answer_path(query, *path);
}

}  // namespace storpol
