// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/host.h"

#include <charconv>

#include "engine/base/text.h"

namespace storpol {
namespace {

template <class T>
bool read_number(const std::map<std::string, std::string>& from, const std::string& key, T& into, int base = 10) {
    const auto found = from.find(key);
    if (found == from.end()) return false;
    const auto& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
    return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::map<std::string, std::string> parse_properties(std::string_view text) {
    std::map<std::string, std::string> properties;
    for (const auto line : split_lines(text)) {
        const auto equals = line.find('=');
        if (equals != std::string_view::npos)
            properties.insert_or_assign(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
    }
    return properties;
}

std::string render_properties(const std::map<std::string, std::string>& properties) {
    std::string text;
    for (const auto& [key, value] : properties) text += key + "=" + value + "\n";
    return text;
}

Result<std::string> Host::read_file(std::string_view path) {
    auto answer = ask({QueryKind::file, {std::string(path)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return std::move(answer.text);
}

Result<FileText> Host::read_file_resolved(std::string_view path) {
    auto answer = ask({QueryKind::file, {std::string(path)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return FileText{std::move(answer.text), answer.resolved.empty() ? std::string(path) : answer.resolved};
}

Result<std::string> Host::read_link(std::string_view path) {
    auto answer = ask({QueryKind::link, {std::string(path)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return std::move(answer.text);
}

Result<std::vector<std::string>> Host::list(std::string_view dir) {
    const auto answer = ask({QueryKind::list, {std::string(dir)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    const auto lines = split_lines(answer.text);
    return std::vector<std::string>(lines.begin(), lines.end());
}

Result<FileStat> Host::stat(std::string_view path) {
    const auto answer = ask({QueryKind::stat, {std::string(path)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    const auto properties = parse_properties(answer.text);
    FileStat found;
    if (!properties.contains("type") || !read_number(properties, "mode", found.mode, 8) ||
        !read_number(properties, "uid", found.uid) || !read_number(properties, "gid", found.gid) ||
        !read_number(properties, "size", found.size) || !read_number(properties, "nlink", found.nlink))
        return fail(ErrorKind::invalid, "malformed stat answer", printable(path));
    found.type = properties.at("type");
    if (properties.contains("dev")) found.device = properties.at("dev");
    if (const auto id = properties.find("mnt-id"); id != properties.end()) found.mount_id = id->second;
    found.immutable = properties.contains("immutable") && properties.at("immutable") == "1";
    found.path = answer.resolved.empty() ? std::string(path) : answer.resolved;
    return found;
}

Result<std::string> Host::now() {
    auto answer = ask({QueryKind::now, {}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return std::string(trim(answer.text));
}

namespace {

Result<std::map<std::string, std::string>> properties_of(const Answer& answer) {
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return parse_properties(answer.text);
}

}  // namespace

Result<std::map<std::string, std::string>> Host::unit(std::string_view name) {
    return properties_of(ask({QueryKind::unit, {std::string(name)}}));
}

Result<std::map<std::string, std::string>> Host::ext4_super(std::string_view device) {
    return properties_of(ask({QueryKind::ext4_super, {std::string(device)}}));
}

Result<std::map<std::string, std::string>> Host::dm_table(std::string_view name) {
    return properties_of(ask({QueryKind::dm_table, {std::string(name)}}));
}

Result<std::map<std::string, std::string>> Host::dm_status(std::string_view name) {
    return properties_of(ask({QueryKind::dm_status, {std::string(name)}}));
}

Result<std::map<std::string, std::string>> Host::luks(std::string_view device) {
    return properties_of(ask({QueryKind::luks, {std::string(device)}}));
}

Result<std::string> Host::journal(std::string_view unit, int last) {
    auto answer = ask({QueryKind::journal, {std::string(unit), std::to_string(last)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return std::move(answer.text);
}

Result<std::string> Host::package(std::string_view name) {
    auto answer = ask({QueryKind::package, {std::string(name)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return std::string(trim(answer.text));
}

Result<std::string> Host::image_member(std::string_view image, std::string_view path) {
    auto answer = ask({QueryKind::image_member, {std::string(image), std::string(path)}});
    if (answer.refusal) return tl::make_unexpected(*answer.refusal);
    return std::move(answer.text);
}

}  // namespace storpol
