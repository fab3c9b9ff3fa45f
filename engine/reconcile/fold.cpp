// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/fold.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/digest.h"
#include "engine/base/text.h"
#include "engine/host/host.h"
#include "engine/reconcile/planner.h"
#include "engine/text/field_edit.h"
#include "engine/text/own_file.h"

namespace storpol {
namespace {

// The words of one field that all edits of it together take out and put in.
struct Field {
    std::vector<std::string> take_out;
    std::vector<std::string> put_in;
};

bool holds(const std::vector<std::string>& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

void add_words(std::vector<std::string>& to, const std::vector<std::string>& words) {
    for (const auto& word : words) {
        if (!holds(to, word)) to.push_back(word);
    }
}

// All that is wanted of one file.
class FileFold {
  public:
    FileFold(std::string path, Host& host) : path_(std::move(path)) {
        auto text = host.read_file(path_);
        is_there_ = text.has_value();
        if (text) bytes_ = std::move(*text);
        if (!text && text.error().kind != ErrorKind::no_such_file) error_ = to_text(text.error());
        digest_ = is_there_ ? digest_of(bytes_) : std::string(no_file_digest);
    }

    // The action takes part in the folded one, or its edit cannot be made: then what it serves becomes a gap.
    void add(Action action, std::vector<Gap>& gaps) {
        const auto& edit = std::get<EditFile>(action.step);
        auto why = error_;
        if (why.empty()) {
            if (edit.digest != digest_) STORPOL_BUG("an edit made from other bytes than those of " + path_);
            why = std::visit([this](const auto& one) { return take(one); }, edit.edit);
        }
        if (!why.empty()) {
            for (const auto& served : action.serves) gaps.push_back({served, std::nullopt, why});
            return;
        }
        if (!folded_) {
            folded_ = std::move(action);
        } else {
            if (action.verb != folded_->verb) folded_->verb = Verb::drop_in;
            merge_into(*folded_, std::move(action));
        }
    }

    void finish(std::vector<Action>& actions, std::vector<Gap>& gaps) {
        if (!folded_) return;
        auto after = edited();
        if (!after) {
            for (const auto& served : folded_->serves) gaps.push_back({served, std::nullopt, to_text(after.error())});
            return;
        }
        const std::string_view old_text = is_there_ ? std::string_view(bytes_) : std::string_view{};
        folded_->target = path_;
        if (own_file_ && own_file_->is_empty()) {
            if (!is_there_) return;
            folded_->verb = Verb::remove;
            folded_->step = DeleteFile{path_, digest_};
            folded_->diff = unified_diff(path_, old_text, std::string_view{});
        } else {
            folded_->diff = unified_diff(path_, old_text, *after);
            folded_->step = ReplaceFile{path_, digest_, std::move(*after), 0644};
        }
        actions.push_back(std::move(*folded_));
    }

  private:
    // Each answers why the edit cannot be made, or nothing. An edit that would leave the file as it is is none: it
    // cannot close a difference, and to do it again and again helps nobody.
    std::string take(const OwnLines& own) {
        if (!fields_.empty() || !added_.empty()) STORPOL_BUG(path_ + " is edited as an own and as a shared file");
        const auto [at, is_new] = own_.insert({{own.section, own.address}, own});
        // Taken out and set again, an entry moves to the end: where the last of two wins, that is how it is put in
        // order.
        const bool moves = !is_new && (at->second.lines.empty() || own.lines.empty());
        if (!is_new && !moves && at->second != own)
            STORPOL_BUG("two edits of " + own.address + " contradict each other");
        at->second = own;
        if (!own_file_) {
            own_file_ = OwnFile::parse(bytes_);
            for (auto& entry : own_file_->entries()) there_[{entry.section, entry.address}] = std::move(entry.lines);
        }
        const auto entry = there_.find({own.section, own.address});
        if (entry != there_.end() && !own.lines.empty() && entry->second == own.lines) return changes_nothing();
        if (!own.lines.empty()) {
            const auto set = own_file_->set(own.section, own.address, own.lines);
            return set ? std::string() : to_text(set.error());
        }
        if (entry != there_.end()) there_.erase(entry);
        if (own.section.empty()) {
            own_file_->remove(own.address);
        } else {
            own_file_->remove(own.section, own.address);
        }
        return {};
    }

    std::string take(const NewLine& line) {
        if (own_file_) STORPOL_BUG(path_ + " is edited as an own and as a shared file");
        if (line.text.find('\n') != std::string::npos) STORPOL_BUG("several lines in one for " + path_);
        if (!holds(added_, line.text)) added_.push_back(line.text);
        return {};
    }

    std::string take(const FieldWords& words) {
        if (own_file_) STORPOL_BUG(path_ + " is edited as an own and as a shared file");
        const auto before = line_at(words.line);
        const auto after = edit_words(before, 1, words.field, words.take_out, words.put_in);
        if (!after) {
            // Once more in the whole file, for the number of the line in what is said.
            const auto whole = edit_words(bytes_, words.line, words.field, words.take_out, words.put_in);
            return to_text(whole ? after.error() : whole.error());
        }
        if (*after == before) return changes_nothing();
        const auto [at, is_first] = fields_.insert({{words.line, words.field}, Field{words.take_out, words.put_in}});
        if (is_first) return {};  // it may take words out and put them in again: that is how they move
        auto& field = at->second;
        add_words(field.take_out, words.take_out);
        add_words(field.put_in, words.put_in);
        for (const auto& word : words.put_in) {
            if (holds(field.take_out, word)) STORPOL_BUG("\"" + word + "\" is put in and taken out of " + path_);
        }
        return {};
    }

    std::string changes_nothing() const {
        return "editing " + printable(path_) + " changes nothing: it has what is wanted already";
    }

    // The line with its end; empty where there is none. A file of thousands of lines is edited line by line.
    std::string_view line_at(int number) {
        if (lines_.empty()) {
            for (std::size_t at = 0; at < bytes_.size();) {
                const auto end = std::min(bytes_.find('\n', at), bytes_.size() - 1) + 1;
                lines_.push_back(std::string_view(bytes_).substr(at, end - at));
                at = end;
            }
        }
        const auto index = static_cast<std::size_t>(number) - 1;
        return number >= 1 && index < lines_.size() ? lines_[index] : std::string_view();
    }

    Result<std::string> edited() {
        if (own_file_) return own_file_->render();
        std::map<int, std::string> changed;
        for (const auto& [place, field] : fields_) {
            const auto line = changed.try_emplace(place.first, line_at(place.first)).first;
            auto after = edit_words(line->second, 1, place.second, field.take_out, field.put_in);
            if (!after) return after;
            line->second = std::move(*after);
        }
        line_at(1);  // so that lines_ has all
        std::string text;
        text.reserve(bytes_.size() + 64 * changed.size());
        int number = 0;
        for (const auto line : lines_) {
            const auto other = changed.find(++number);
            text += other == changed.end() ? line : std::string_view(other->second);
        }
        for (const auto& line : added_) {
            if (!text.empty() && text.back() != '\n') text += '\n';
            text += line + "\n";
        }
        return text;
    }

    std::string path_;
    bool is_there_ = false;
    std::string bytes_;
    std::string digest_;
    std::string error_;                // why the file cannot be edited
    std::optional<OwnFile> own_file_;  // with the edits so far
    std::map<std::pair<std::string, std::string>, std::vector<std::string>>
        there_;                                                    // its lines before, by section and address
    std::map<std::pair<std::string, std::string>, OwnLines> own_;  // the edits, likewise
    std::map<std::pair<int, int>, Field> fields_;                  // by line and field
    std::vector<std::string> added_;                               // new lines, in the order they came
    std::vector<std::string_view> lines_;                          // of bytes_, once one was asked for
    std::optional<Action> folded_;
};

}  // namespace

std::vector<Action> fold_edits(std::vector<Action> actions, std::vector<Gap>& gaps, Host& host) {
    std::vector<Action> out;
    std::map<std::pair<std::string, std::string>, FileFold> files;  // by path and what refuses it
    for (auto& action : actions) {
        const auto* edit = std::get_if<EditFile>(&action.step);
        if (edit == nullptr) {
            out.push_back(std::move(action));
            continue;
        }
        const auto key = std::make_pair(edit->path, action.refused);
        const auto at = files.try_emplace(key, edit->path, host).first;
        at->second.add(std::move(action), gaps);
    }
    for (auto& [key, file] : files) file.finish(out, gaps);
    return out;
}

}  // namespace storpol
