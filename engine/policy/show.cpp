// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/policy/key_set.h"
#include "engine/policy/load.h"

// The merged policy as TOML again (`show`).
namespace storpol {
namespace {

std::string comment(const Place& place) {
    return "  # " + printable(to_text(place)) + "\n";
}

bool is_rules(const PolicyNode& node) {
    return node.list() && !node.list()->empty() && node.list()->front().table();
}

bool is_bound(const PolicyTable& table) {
    return table.find("at-least") || table.find("at-most");
}

bool has_header(const PolicyNode& node) {
    return is_rules(node) || (node.table() && !is_bound(*node.table()));
}

std::string leaf_text(const PolicyNode& node) {
    return node.bare ? node.text : render_toml_string(node.text);
}

// Values that stand on one line: leaves, lists of words, bounds.
std::string inline_text(const PolicyNode& node) {
    std::vector<std::string> parts;
    if (const auto* list = node.list()) {
        for (const PolicyNode& word : *list) parts.push_back(leaf_text(word));
        return "[" + join(parts, ", ") + "]";
    }
    if (const PolicyTable* bounds = node.table()) {
        for (const PolicyEntry& entry : bounds->entries) parts.push_back(entry.key + " = " + leaf_text(entry.value));
        return "{ " + join(parts, ", ") + " }";
    }
    return leaf_text(node);
}

void write_entries(const PolicyTable& table, const std::string& path, std::string& out);

void write_headed(const PolicyNode& node, const std::string& path, std::string& out) {
    if (const PolicyTable* table = node.table()) {
        out += "\n[" + path + "]" + comment(node.place);
        write_entries(*table, path, out);
        return;
    }
    for (const PolicyNode& rule : *node.list()) {
        out += "\n[[" + path + "]]" + comment(rule.place);
        write_entries(*rule.table(), path, out);
    }
}

// TOML wants a table's own values before the first table in it.
void write_entries(const PolicyTable& table, const std::string& path, std::string& out) {
    for (const PolicyEntry& entry : table.entries) {
        if (has_header(entry.value)) continue;
        out += render_toml_key(entry.key) + " = " + inline_text(entry.value) + comment(entry.value.place);
    }
    for (const PolicyEntry& entry : table.entries) {
        if (!has_header(entry.value)) continue;
        write_headed(entry.value, (path.empty() ? "" : path + ".") + render_toml_key(entry.key), out);
    }
}

void write_unmanaged(const std::vector<Unmanaged>& unmanaged, std::string& out) {
    if (unmanaged.empty()) return;
    out +=
        "# Each drops what the files merged before its own want there; in one file all are wanted again.\nunmanaged = "
        "[\n";
    for (const Unmanaged& entry : unmanaged)
        out += "    " + render_toml_string(entry.address) + "," + comment(entry.place);
    out += "]\n";
}

void write_accept(const Accept& accept, std::string& out) {
    out += "\n[[accept]]" + comment(accept.place);
    out += "address = " + render_toml_string(accept.address) + "\n";
    if (!accept.planes.empty()) {
        std::vector<std::string> planes;
        for (const Plane plane : accept.planes) planes.push_back(render_toml_string(to_text(plane)));
        out += "planes = [" + join(planes, ", ") + "]\n";
    }
    out += "until = " + accept.until + "\nreason = " + render_toml_string(accept.reason) + "\n";
}

}  // namespace

std::string render_merged(const Policy& policy) {
    std::string out = "version = 1\n";
    write_unmanaged(policy.unmanaged(), out);
    write_entries(policy.root(), "", out);
    for (const Accept& accept : policy.accepts()) write_accept(accept, out);
    return out;
}

}  // namespace storpol
