// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cases/tree_host.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "engine/base/text.h"
#include "engine/host/initramfs.h"
#include "engine/reconcile/clock.h"
#include "engine/text/time_span.h"
#include "resources/fstrim/units.h"

namespace storpol::cases {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view null_device = "/dev/null";

std::string slurp(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// A file that is a link flattened: one path and no newline, absolute, upwards, or naming something beside it.
bool is_flattened_link(const fs::path& file, const std::string& bytes) {
    if (bytes.empty() || bytes.size() > 4000) return false;
    const auto is_path_byte = [](char c) { return static_cast<unsigned char>(c) > ' '; };
    if (!std::ranges::all_of(bytes, is_path_byte)) return false;
    if (bytes.front() == '/' || bytes.rfind("../", 0) == 0) return true;
    return fs::exists(file.parent_path() / bytes);
}

void restore_links(const fs::path& root) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_symlink() && entry.is_regular_file() && entry.file_size() < 4001) files.push_back(entry.path());
    }
    std::vector<std::pair<fs::path, std::string>> links;
    for (const auto& file : files) {
        std::string bytes = slurp(file);
        if (is_flattened_link(file, bytes)) links.emplace_back(file, std::move(bytes));
    }
    for (const auto& [file, target] : links) {
        fs::remove(file);
        fs::create_symlink(target, file);
    }
}

// Case folders may come without write bits; the copy's files are to be replaced.
void make_writable(const fs::path& root) {
    fs::permissions(root, fs::perms::owner_write, fs::perm_options::add);
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_symlink()) fs::permissions(entry.path(), fs::perms::owner_write, fs::perm_options::add);
    }
}

// Puts the parts of a path before what is still to be walked.
void push_front(std::deque<std::string>& parts, std::string_view path) {
    const auto words = split(path, '/');
    for (auto word = words.rbegin(); word != words.rend(); ++word) {
        if (!word->empty() && *word != ".") parts.emplace_front(*word);
    }
}

Result<std::string> walk(const std::string& root, std::string_view path, bool follow_last) {
    std::deque<std::string> todo;
    push_front(todo, path);
    std::string here;  // resolved so far, without a final '/'
    int hops = 0;
    while (!todo.empty()) {
        // Masks are links to it, and a tree has no /dev.
        if (here.empty() && todo == std::deque<std::string>{"dev", "null"}) return std::string(null_device);
        const std::string part = todo.front();
        todo.pop_front();
        if (part == "..") {
            here.erase(std::min(here.rfind('/'), here.size()));
            continue;
        }
        const std::string next = here + "/" + part;
        const auto status = fs::symlink_status(root + next);
        if (!fs::exists(status)) return fail_errno(ENOENT, "find", std::string(path));
        if (fs::is_symlink(status) && (follow_last || !todo.empty())) {
            if (++hops > 40) return fail_errno(ELOOP, "follow", std::string(path));
            const std::string target = fs::read_symlink(root + next).string();
            if (target.front() == '/') here.clear();
            push_front(todo, target);
            continue;
        }
        if (!todo.empty() && !fs::is_directory(status) && !fs::is_symlink(status)) {
            return fail_errno(ENOTDIR, "follow", std::string(path));
        }
        here = next;
    }
    return here.empty() ? std::string("/") : here;
}

Answer refused(const Error& error) {
    return Answer{{}, {}, error};
}

Answer refused(int code, const std::string& path) {
    return refused(fail_errno(code, "read", path).value());
}

class TreeHost final : public Host {
  public:
    explicit TreeHost(const CaseTree& tree) : tree_(tree) {}

  private:
    Answer do_ask(const Query& query) override {
        const std::string path = query.args.empty() ? std::string() : query.args.front();
        switch (query.kind) {
            case QueryKind::file:
                return file(path);
            case QueryKind::link:
                return link(path);
            case QueryKind::list:
                return list(path);
            case QueryKind::stat:
                return stat_of(path);
            case QueryKind::uid:
                return Answer{"0", {}, {}};
            case QueryKind::program_exists:
                return program(path);
            case QueryKind::unit:
                return unit_of(path);
            case QueryKind::image_member:
                return image_member(path, query.args.at(1));
            case QueryKind::now:
            case QueryKind::ext4_super:
            case QueryKind::dm_table:
            case QueryKind::dm_status:
            case QueryKind::luks:
            case QueryKind::lvs:
            case QueryKind::journal:
            case QueryKind::package:
                break;
        }
        return refused(fail(ErrorKind::not_captured, "the case gives no such fact", path).value());
    }

    Answer file(const std::string& path) const {
        const auto resolved = tree_.resolve(path);
        if (!resolved) return refused(resolved.error());
        if (*resolved == null_device) return Answer{{}, *resolved, {}};
        if (fs::is_directory(tree_.path() + *resolved)) return refused(EISDIR, path);
        return Answer{slurp(tree_.path() + *resolved), *resolved, {}};
    }

    Answer link(const std::string& path) const {
        const auto place = walk(tree_.path(), path, false);
        if (!place) return refused(place.error());
        if (!fs::is_symlink(tree_.path() + *place)) return refused(EINVAL, path);
        return Answer{fs::read_symlink(tree_.path() + *place).string(), {}, {}};
    }

    Answer list(const std::string& path) const {
        const auto resolved = tree_.resolve(path);
        if (!resolved) return refused(resolved.error());
        if (!fs::is_directory(tree_.path() + *resolved)) return refused(ENOTDIR, path);
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(tree_.path() + *resolved))
            names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        std::string text;
        for (const auto& name : names) text += name + "\n";
        return Answer{text, *resolved, {}};
    }

    Answer stat_of(const std::string& path) const {
        const auto resolved = tree_.resolve(path);
        if (!resolved) return refused(resolved.error());
        if (*resolved == null_device)
            return Answer{"type=char\nmode=0666\nuid=0\ngid=0\nsize=0\nnlink=1\ndev=0:5\nrdev=1:3\n", *resolved, {}};

        struct stat st {};

        if (::stat((tree_.path() + *resolved).c_str(), &st) != 0) return refused(errno, path);
        const bool is_dir = S_ISDIR(st.st_mode);
        std::string text = is_dir                     ? "type=dir\nmode=0755\n"
                           : (st.st_mode & 0111) != 0 ? "type=file\nmode=0755\n"
                                                      : "type=file\nmode=0644\n";
        text += "uid=0\ngid=0\nsize=" + std::to_string(st.st_size) +
                "\nnlink=1\ndev=254:1\nino=" + std::to_string(st.st_ino) + "\n";
        return Answer{text, *resolved, {}};
    }

    // A unit as the files of the tree make it, in the manager's terms; its state no file tells.
    Answer unit_of(const std::string& name) {
        const auto unit = read_effective_unit(*this, name);
        if (!unit.is_there()) return refused(fail(ErrorKind::not_captured, "the tree has no such unit", name).value());
        std::map<std::string, std::string> properties{{"LoadState", "loaded"}, {"FragmentPath", unit.fragment}};
        const auto append = [&properties](const std::string& key, const std::string& text) {
            auto& value = properties[key];
            value += (value.empty() ? "" : " ; ") + text;
        };
        const auto copy = [&](const char* section, const char* key, const char* by_default) {
            const auto line = unit.last(section, key);
            properties[key] = line ? line->value : std::string(by_default);
        };
        for (const auto& line : unit.conditions()) append("Conditions", line.key + "=" + line.value);
        if (name.ends_with(".timer")) {
            properties.insert({{"TimersCalendar", ""}, {"TimersMonotonic", ""}});
            copy("Timer", "Persistent", "no");
            const auto delay = unit.last("Timer", "RandomizedDelaySec");
            const auto span = parse_time_span(delay ? delay->value : "0");
            properties["RandomizedDelayUSec"] = std::to_string(span ? span->count() : 0);
            for (const auto& line : unit.triggers()) {
                const auto every = parse_time_span(line.value);
                if (line.key == "OnCalendar") append("TimersCalendar", "OnCalendar=" + line.value);
                if (line.key == "OnBootSec" && every)
                    append("TimersMonotonic", "OnBootUSec=" + std::to_string(every->count()));
            }
        }
        if (name.ends_with(".service")) {
            copy("Service", "Nice", "0");
            copy("Service", "IOSchedulingClass", "2");
            for (const auto& line : unit.list("Service", "ExecStart")) append("ExecStart", line.value);
        }
        return Answer{render_properties(properties), {}, {}};
    }

    Answer program(const std::string& path) const {
        const auto resolved = tree_.resolve(path);
        if (!resolved || *resolved == null_device) return Answer{"no", {}, {}};

        struct stat st {};

        const bool found =
            ::stat((tree_.path() + *resolved).c_str(), &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0;
        return Answer{found ? "yes" : "no", {}, {}};
    }

    Answer image_member(const std::string& path, const std::string& member) const {
        const auto resolved = tree_.resolve(path);
        if (!resolved) return refused(resolved.error());
        if (*resolved == null_device || fs::is_directory(tree_.path() + *resolved)) return refused(EINVAL, path);
        const auto bytes = image_member_of(slurp(tree_.path() + *resolved), member);
        return bytes ? Answer{*bytes, {}, {}} : refused(bytes.error().code, path);
    }

    const CaseTree& tree_;
};

// unit NAME Property=value ...: the values may be quoted. Read through the one parser of the text form.
void add_unit(Facts& facts, const Entry& entry) {
    for (const auto& [key, value] : parse_properties(entry.answer.text))
        facts.units[entry.query.args.front()][key] = value;
}

// A header's UUID is the device's: udev has a link for it, which trees leave out as they do all of /dev.
void add_luks_link(Facts& facts, const Entry& entry) {
    const auto properties = parse_properties(entry.answer.text);
    const auto uuid = properties.find("uuid");
    const std::string& device = entry.query.args.front();
    if (uuid == properties.end() || device.rfind("/dev/", 0) != 0) return;
    facts.answers[Query{QueryKind::link, {"/dev/disk/by-uuid/" + uuid->second}}] =
        Answer{"../../" + device.substr(5), {}, {}};
}

// `read PATH ERRNO`: a file that is there and refuses.
Result<void> add_refused_read(Facts& facts, std::string_view line) {
    const auto words = split_words(line);
    if (words.size() != 3 || name_to_errno(words[2]) == 0)
        return fail(ErrorKind::invalid, "'read PATH ERRNO' belongs here");
    const std::string path{words[1]};
    facts.answers[Query{QueryKind::file, {path}}] = refused(name_to_errno(words[2]), path);
    return {};
}

// `journal UNIT T "text"` or `journal UNIT T result=R ...`: a line of what the journal holds of the unit.
Result<void> add_journal_line(Facts& facts, std::string_view line) {
    const auto words = split_words(line);
    if (words.size() < 4) return fail(ErrorKind::invalid, "'journal UNIT T \"text\"' or 'result=R' belongs here");
    facts.journals[std::string(words[1])] += line.substr(static_cast<std::size_t>(words[2].data() - line.data()));
    facts.journals[std::string(words[1])] += '\n';
    return {};
}

// `boot T`: the kernel says it in seconds.
Result<void> add_boot(Facts& facts, std::string_view line) {
    const auto words = split_words(line);
    const auto seconds = words.size() == 2 ? seconds_of(words[1]) : std::nullopt;
    if (!seconds) return fail(ErrorKind::invalid, "'boot T' belongs here");
    facts.answers[Query{QueryKind::file, {"/proc/stat"}}] =
        Answer{"btime " + std::to_string(*seconds) + "\n", "/proc/stat", {}};
    return {};
}

// `diskstats DISK key=value ...`, as /sys/block/DISK/stat has them: discards are the fields 12 to 15.
void add_diskstats(Facts& facts, std::string_view line) {
    const auto words = split_words(line);
    std::map<std::string, std::string> values;
    for (const auto word : words) {
        const auto equals = word.find('=');
        if (equals != std::string_view::npos) values[std::string(word.substr(0, equals))] = word.substr(equals + 1);
    }
    const auto value = [&](const char* key) { return values.contains(key) ? values[key] : std::string("0"); };
    const auto path = "/sys/block/" + std::string(words.size() > 1 ? words[1] : "") + "/stat";
    facts.answers[Query{QueryKind::file, {path}}] =
        Answer{"0 0 0 0 " + value("writes_completed") + " 0 " + value("sectors_written") + " 0 0 0 0 " +
                   value("discards_completed") + " 0 " + value("sectors_discarded") + " 0 0 0\n",
               path,
               {}};
}

Result<void> add_fact(Facts& facts, std::string_view line, std::string_view where) {
    const std::string word{split_words(line).front()};
    if (word == "read") return add_refused_read(facts, line);
    if (word == "journal") return add_journal_line(facts, line);
    if (word == "boot") return add_boot(facts, line);
    if (word == "diskstats") {
        add_diskstats(facts, line);
        return {};
    }
    if (!parse_query_kind(word)) {
        facts.unasked.push_back(word);
        return {};
    }
    const auto entries = parse_entries(std::string(line) + "\n", where);
    if (!entries) return tl::unexpected(entries.error());
    for (const auto& entry : *entries) {
        if (entry.query.kind == QueryKind::unit)
            add_unit(facts, entry);
        else
            facts.answers[entry.query] = entry.answer;
        if (entry.query.kind == QueryKind::luks) add_luks_link(facts, entry);
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<CaseTree>> CaseTree::copy_of(const std::string& folder) {
    std::string pattern = (fs::temp_directory_path() / "storpol-case-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return fail_errno(errno, "make a directory", pattern);
    std::unique_ptr<CaseTree> tree(new CaseTree(pattern));
    std::error_code failed;
    if (fs::exists(folder)) {
        fs::copy(folder, pattern, fs::copy_options::recursive | fs::copy_options::copy_symlinks, failed);
        if (failed) return fail(ErrorKind::failed, "cannot copy: " + failed.message(), folder);
    }
    make_writable(pattern);
    restore_links(pattern);
    return tree;
}

CaseTree::~CaseTree() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

Result<std::string> CaseTree::resolve(std::string_view path) const {
    return walk(path_, path, true);
}

Result<std::string> CaseTree::read(std::string_view path) const {
    const auto resolved = resolve(path);
    if (!resolved) return resolved;
    if (!fs::is_regular_file(path_ + *resolved)) return fail_errno(EISDIR, "read", std::string(path));
    return slurp(path_ + *resolved);
}

std::vector<std::string> CaseTree::files_below(std::string_view folder) const {
    std::vector<std::string> out;
    const auto resolved = resolve(folder);
    if (!resolved || !fs::is_directory(path_ + *resolved)) return out;
    for (const auto& entry : fs::recursive_directory_iterator(path_ + *resolved)) {
        if (!entry.is_symlink() && entry.is_regular_file()) out.push_back(entry.path().string().substr(path_.size()));
    }
    std::ranges::sort(out);
    return out;
}

std::unique_ptr<Host> make_tree_host(const CaseTree& tree) {
    return std::make_unique<TreeHost>(tree);
}

Result<Facts> parse_facts(std::string_view text, std::string_view where) {
    Facts facts;
    int number = 0;
    for (const auto line : split_lines(text)) {
        ++number;
        if (trim(line).empty() || trim(line).front() == '#') continue;
        const auto added = add_fact(facts, trim(line), where);
        if (!added)
            return fail(ErrorKind::invalid, to_text(added.error()), std::string(where) + ":" + std::to_string(number));
    }
    return facts;
}

Answer FactsHost::do_ask(const Query& query) {
    asked_.push_back(query);
    const auto fact = facts_.answers.find(query);
    if (fact != facts_.answers.end()) return fact->second;
    if (query.kind == QueryKind::journal) {
        const auto lines = facts_.journals.find(query.args.front());
        return Answer{lines == facts_.journals.end() ? std::string() : lines->second, {}, {}};
    }
    Answer answer = machine_.ask(query);
    if (query.kind != QueryKind::unit || query.args.empty()) return answer;
    const auto given = facts_.units.find(query.args.front());
    if (given == facts_.units.end()) return answer;
    auto properties = answer.refusal ? std::map<std::string, std::string>() : parse_properties(answer.text);
    for (const auto& [key, value] : given->second) properties[key] = value;
    return Answer{render_properties(properties), answer.resolved, {}};
}

}  // namespace storpol::cases
