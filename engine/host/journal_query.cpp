// SPDX-License-Identifier: GPL-3.0-or-later
// The one file that reads the journal (man 3 sd-journal).
#include "engine/host/journal_query.h"

#include <dirent.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <vector>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/host/late_library.h"

namespace storpol {
namespace {

const LateLibrary libsystemd("libsystemd.so.0");
STORPOL_LATE(libsystemd, sd_journal_add_disjunction);
STORPOL_LATE(libsystemd, sd_journal_add_match);
STORPOL_LATE(libsystemd, sd_journal_close);
STORPOL_LATE(libsystemd, sd_journal_get_data);
STORPOL_LATE(libsystemd, sd_journal_get_realtime_usec);
STORPOL_LATE(libsystemd, sd_journal_open);
STORPOL_LATE(libsystemd, sd_journal_previous);
STORPOL_LATE(libsystemd, sd_journal_seek_tail);
STORPOL_LATE(libsystemd, sd_journal_set_data_threshold);

constexpr auto time_limit = std::chrono::seconds(2);
constexpr std::size_t longest_text = 1000;  // a line of fstrim is far shorter
constexpr std::int64_t most_entries = 10000;

// Messages of the service manager (systemd src/systemd/sd-messages.h).
constexpr std::string_view unit_success = "7ad2d189f7e94e70a38c781354912448";
constexpr std::string_view unit_failed = "d9b373ed55a64feb8242e02dbe79a49c";
constexpr std::string_view process_exit = "98e322203f7a4ed290d09fe03c09fe15";

void close_journal(sd_journal* journal) {
    sd_journal_close(journal);
}

using Journal = Handle<sd_journal, close_journal>;

// sd_journal_open succeeds and shows nothing to who may not read the files: 0 where some file can be read, else errno.
int look_for_files() {
    int code = ENOENT;
    for (const std::string folder : {"/var/log/journal", "/run/log/journal"}) {
        DIR* directory = opendir(folder.c_str());
        if (directory == nullptr) {
            if (errno == EACCES) code = EACCES;
            continue;
        }
        while (const auto* entry = readdir(directory)) {
            if (entry->d_name[0] == '.') continue;
            const auto file = folder + "/" + entry->d_name + "/system.journal";
            if (access(file.c_str(), R_OK) == 0) {
                code = 0;
                break;
            }
            if (errno == EACCES) code = EACCES;
        }
        closedir(directory);
        if (code == 0) return 0;
    }
    return code;
}

std::string field(sd_journal* journal, const char* name) {
    const void* data = nullptr;
    std::size_t size = 0;
    if (sd_journal_get_data(journal, name, &data, &size) < 0) return {};
    const std::string_view all(static_cast<const char*>(data), size);
    const auto equals = all.find('=');
    return equals == std::string_view::npos ? std::string() : std::string(all.substr(equals + 1));
}

std::string time_of(sd_journal* journal) {
    std::uint64_t microseconds = 0;
    if (sd_journal_get_realtime_usec(journal, &microseconds) < 0) return {};
    const auto seconds = static_cast<time_t>(microseconds / 1000000);
    tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 32> text{};
    return {text.data(), strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

// Newest first: the status of a failed run is told by the entry before the one with its result.
class Reader {
  public:
    explicit Reader(sd_journal* journal) : journal_(journal) {}

    void take() {
        JournalEntry entry;
        entry.time = time_of(journal_);
        const auto message = field(journal_, "MESSAGE");
        // Whatever the unit itself claims in such a field is only what it printed.
        if (field(journal_, "UNIT").empty() || field(journal_, "_PID") != "1") {
            entry.text = message;
            add(std::move(entry));
            return;
        }
        const auto id = field(journal_, "MESSAGE_ID");
        if (id == unit_success) {
            entry.result = "success";
            add(std::move(entry));
        } else if (id == unit_failed) {
            entry.result = field(journal_, "UNIT_RESULT");
            if (entry.result.empty()) entry.result = "failed";
            add(std::move(entry));
        } else if (id == process_exit && !entries_.empty() && !entries_.back().result.empty()) {
            entries_.back().status = field(journal_, "EXIT_STATUS");
        } else if (message.find("was skipped because") != std::string::npos) {
            // No message id of its own; the manager's messages are never translated.
            const auto open = message.find('(');
            entry.result = "condition";
            entry.status = open == std::string::npos ? "" : message.substr(open + 1, message.rfind(')') - open - 1);
            add(std::move(entry));
        }
    }

    std::string render() const {
        std::string text;
        for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) text += render_journal_line(*entry);
        return text;
    }

  private:
    void add(JournalEntry entry) {
        if (entry.text.size() > longest_text) entry.text.resize(longest_text);
        entries_.push_back(std::move(entry));
    }

    sd_journal* journal_;
    std::vector<JournalEntry> entries_;
};

int open_at_unit(const std::string& unit, Journal& journal) {
    sd_journal* raw = nullptr;
    int code = sd_journal_open(&raw, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
    journal.reset(raw);
    // What the unit printed, or what the manager (process 1 alone may say so) tells of it.
    if (code >= 0) code = sd_journal_add_match(raw, ("_SYSTEMD_UNIT=" + unit).c_str(), std::size_t{0});
    if (code >= 0) code = sd_journal_add_disjunction(raw);
    if (code >= 0) code = sd_journal_add_match(raw, "_PID=1", std::size_t{0});
    if (code >= 0) code = sd_journal_add_match(raw, ("UNIT=" + unit).c_str(), std::size_t{0});
    if (code >= 0) code = sd_journal_set_data_threshold(raw, longest_text + 100);
    if (code >= 0) code = sd_journal_seek_tail(raw);
    return code < 0 ? -code : 0;
}

}  // namespace

std::string render_journal_line(const JournalEntry& entry) {
    if (entry.time.empty()) return {};
    if (!entry.result.empty()) {
        auto status = entry.status;
        std::ranges::replace(status, ' ', '_');
        return entry.time + " result=" + printable(entry.result) +
               (status.empty() ? "" : " status=" + printable(status)) + "\n";
    }
    return entry.text.empty() ? std::string() : entry.time + " \"" + printable(entry.text) + "\"\n";
}

Answer answer_journal(const Query& query) {
    const auto last = parse_int(query.args.at(1));
    if (!last || *last < 1 || *last > most_entries) return refuse(query, EINVAL);
    if (!libsystemd.is_there()) return refuse(query, ENOENT);
    if (const int code = look_for_files(); code != 0) return refuse(query, code);
    Journal journal;
    if (const int code = open_at_unit(query.args.at(0), journal); code != 0) return refuse(query, code);
    Reader reader(journal.get());
    const auto deadline = std::chrono::steady_clock::now() + time_limit;
    for (std::int64_t taken = 0; taken < *last; ++taken) {
        const int code = sd_journal_previous(journal.get());
        if (code < 0) return refuse(query, -code);
        if (code == 0) break;
        reader.take();
        // Older entries are of less use than an answer in time.
        if (std::chrono::steady_clock::now() > deadline) break;
    }
    return Answer{reader.render(), "", {}};
}

}  // namespace storpol
