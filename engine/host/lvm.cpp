// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/lvm.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "engine/host/program.h"

namespace storpol {
namespace {

using Json = nlohmann::json;

constexpr const char* columns =
    "vg_name,lv_name,segtype,discards,kernel_discards,data_percent,metadata_percent,pool_lv,lv_active";

// Of those, the ones that a line has where they are not empty, and its word for each.
constexpr std::array<std::pair<const char*, const char*>, 6> fields{{{"discards", "discards"},
                                                                     {"kernel_discards", "kernel-discards"},
                                                                     {"data_percent", "data-percent"},
                                                                     {"metadata_percent", "metadata-percent"},
                                                                     {"pool_lv", "pool"},
                                                                     {"lv_active", "active"}}};

std::string text_of(const Json& volume, const char* name) {
    const auto found = volume.find(name);
    return found != volume.end() && found->is_string() ? std::string(trim(found->get<std::string>())) : std::string();
}

// A blank would be two words.
std::string word(std::string text) {
    std::ranges::replace(text, ' ', '_');
    return printable(text);
}

std::string describe_volume(const Json& volume) {
    std::string line = word(text_of(volume, "vg_name") + "/" + text_of(volume, "lv_name")) +
                       " type=" + word(text_of(volume, "segtype"));
    for (const auto& [field, name] : fields) {
        auto value = text_of(volume, field);
        if (value.empty()) continue;
        if (field == std::string_view("lv_active")) value = value == "active" ? "yes" : value;
        line += " " + std::string(name) + "=" + word(std::move(value));
    }
    return line;
}

}  // namespace

// {"report": [{"lv": [{"vg_name":"vg0", "lv_name":"pool", "segtype":"thin-pool", "discards":"passdown", ...}]}]}
Result<std::string> describe_lvs(std::string_view report) {
    const auto json = Json::parse(report, nullptr, false);
    if (!json.is_object() || !json.contains("report") || !json["report"].is_array())
        return fail(ErrorKind::invalid, "lvs answered something else than its report");
    std::vector<std::string> lines;
    for (const auto& part : json["report"]) {
        if (!part.is_object() || !part.contains("lv") || !part["lv"].is_array()) continue;
        for (const auto& volume : part["lv"])
            if (volume.is_object()) lines.push_back(describe_volume(volume));
    }
    std::ranges::sort(lines);
    // A volume of several segments is a row for each.
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

Result<std::string> read_lvs() {
    if (geteuid() != 0) return fail_errno(EACCES, "LVM tells only root", "lvs");
    const Program program{{"/usr/sbin/lvs", "--reportformat", "json", "--units", "b", "--nosuffix", "-o", columns},
                          std::chrono::seconds(20),
                          16 << 20};
    const auto outcome = run_program(program);
    if (!outcome) return tl::make_unexpected(outcome.error());
    if (outcome->is_cut) return fail_errno(EFBIG, "lvs wrote more than is ever read", "lvs");
    auto lines = describe_lvs(outcome->output);
    // Exit code 5 also says that some volume group lacks a disk; the others' rows are right all the same.
    if (lines && (outcome->exit_code == 0 || !lines->empty())) return lines;
    auto error = fail_errno(EIO, "lvs failed with exit code " + std::to_string(outcome->exit_code), "lvs");
    error.value().what += " (" + last_lines(*outcome) + ")";
    return error;
}

Answer answer_lvs(const Query& query) {
    auto lines = read_lvs();
    if (!lines) return refuse(query, lines.error().code == 0 ? EIO : lines.error().code);
    return Answer{std::move(*lines), "", {}};
}

std::map<std::string, std::string> volume_of(std::string_view lines, std::string_view name) {
    std::map<std::string, std::string> found;
    for (const auto line : split_lines(lines)) {
        const auto words = split_words(line);
        if (words.empty() || words.front() != name) continue;
        for (const auto one : words) {
            const auto equals = one.find('=');
            if (equals != std::string_view::npos)
                found.emplace(std::string(one.substr(0, equals)), std::string(one.substr(equals + 1)));
        }
    }
    return found;
}

}  // namespace storpol
