// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/journal_events.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/json.h"
#include "engine/model/json_fields.h"

namespace storpol {
namespace {

using Outcome = JournaledStep::Outcome;
constexpr std::array<std::pair<Outcome, std::string_view>, 4> outcomes{{{Outcome::in_flight, "in-flight"},
                                                                        {Outcome::done, "done"},
                                                                        {Outcome::failed, "failed"},
                                                                        {Outcome::undone, "undone"}}};

std::string_view text_of(Outcome outcome) {
    for (const auto& [known, word] : outcomes) {
        if (known == outcome) return word;
    }
    STORPOL_BUG("an outcome without a word");
}

std::string line_of(const Json& json) {
    return json.dump() + "\n";
}

// Takes members of one line and keeps the first thing that is wrong with it.
class Line {
  public:
    explicit Line(const Json& json) : json_(json) {}

    std::string text(std::string_view key) { return keep(text_member_or_empty(json_, key)); }

    std::string needed(std::string_view key) { return keep(text_member(json_, key)); }

    int number(std::string_view key) {
        if (!json_.contains(key)) return 0;
        const auto value = keep(int_member(json_, key));
        return value < 0 || value > 1'000'000'000 ? 0 : static_cast<int>(value);
    }

    bool flag(std::string_view key) const {
        const auto at = json_.find(key);
        return at != json_.end() && at->is_boolean() && at->get<bool>();
    }

    Step step(std::string_view key) {
        const auto at = json_.find(key);
        if (at == json_.end()) return keep(Result<Step>(fail(ErrorKind::invalid, "no \"" + std::string(key) + "\"")));
        return keep(step_from_json(*at));
    }

    std::vector<Step> steps(std::string_view key) {
        std::vector<Step> out;
        const Json* list = keep(array_member(json_, key));
        if (list == nullptr) return out;
        for (const Json& element : *list) out.push_back(keep(step_from_json(element)));
        return out;
    }

    template <class T>
    T keep(Result<T> result) {
        if (result) return std::move(*result);
        if (!error_) error_ = result.error();
        return T{};
    }

    const std::optional<Error>& error() const { return error_; }

  private:
    const Json& json_;
    std::optional<Error> error_;
};

void read_begin(Line& line, const Json& json, Transaction& transaction) {
    transaction.command = line.needed("command");
    transaction.started = line.text("started");
    transaction.boot_id = line.text("boot-id");
    transaction.policy_digest = line.text("policy-digest");
    transaction.rolls_back = line.number("rolls-back");
    const auto record = json.find("record-before");
    if (record != json.end()) transaction.record_before = line.keep(parse_record(record->dump()));
}

void read_intend(Line& line, Transaction& transaction) {
    JournaledStep step;
    step.action_id = line.text("action");
    const auto word = line.needed("verb");
    const auto verb = parse_verb(word);
    if (verb) {
        step.verb = *verb;
    } else {
        line.keep(Result<int>(fail(ErrorKind::invalid, "unknown verb \"" + printable(word) + "\"")));
    }
    step.target = line.text("target");
    step.step = line.step("step");
    step.undo = line.steps("undo");
    step.before = line.text("before");
    transaction.steps.push_back(std::move(step));
}

void read_step(Line& line, Transaction& transaction) {
    if (transaction.steps.empty()) {
        line.keep(Result<int>(fail(ErrorKind::invalid, "an outcome before any step")));
        return;
    }
    auto& step = transaction.steps.back();
    const auto word = line.needed("outcome");
    bool known = false;
    for (const auto& [outcome, text] : outcomes) {
        if (text != word) continue;
        step.outcome = outcome;
        known = true;
    }
    if (!known) line.keep(Result<int>(fail(ErrorKind::invalid, "unknown outcome \"" + printable(word) + "\"")));
    step.after = line.text("after");
    step.error = line.text("error");
}

Result<void> read_event(const Json& json, Transaction& transaction) {
    if (!json.is_object()) return fail(ErrorKind::invalid, "not a JSON object");
    Line line(json);
    const auto event = line.needed("event");
    if (event == "begin") {
        read_begin(line, json, transaction);
    } else if (event == "intend") {
        read_intend(line, transaction);
    } else if (event == "step") {
        read_step(line, transaction);
    } else if (event == "finish") {
        transaction.finished = line.needed("finished");
        transaction.complete = line.flag("complete");
    } else if (!line.error()) {
        return fail(ErrorKind::invalid, "unknown event \"" + printable(event) + "\"");
    }
    if (line.error()) return tl::unexpected<Error>(*line.error());
    return {};
}

}  // namespace

std::string begin_line(const Transaction& head) {
    Json json{{"event", "begin"},
              {"command", escape_bytes(head.command)},
              {"started", escape_bytes(head.started)},
              {"boot-id", escape_bytes(head.boot_id)},
              {"policy-digest", escape_bytes(head.policy_digest)}};
    if (head.rolls_back != 0) json["rolls-back"] = head.rolls_back;
    if (head.record_before) {
        const auto record = parse_json(render_record(*head.record_before), "record");
        if (!record) STORPOL_BUG("a record that does not render to JSON: " + to_text(record.error()));
        json["record-before"] = *record;
    }
    return line_of(json);
}

std::string intend_line(const JournaledStep& step) {
    Json undo = Json::array();
    for (const auto& back : step.undo) undo.push_back(to_json(back));
    Json json{{"event", "intend"},          {"action", escape_bytes(step.action_id)},
              {"verb", to_text(step.verb)}, {"target", escape_bytes(step.target)},
              {"step", to_json(step.step)}, {"before", escape_bytes(step.before)}};
    json["undo"] = std::move(undo);
    return line_of(json);
}

std::string step_line(const JournaledStep& step) {
    Json json{{"event", "step"}, {"outcome", text_of(step.outcome)}, {"after", escape_bytes(step.after)}};
    if (!step.error.empty()) json["error"] = escape_bytes(step.error);
    return line_of(json);
}

std::string finish_line(const std::string& time, bool complete) {
    return line_of(Json{{"event", "finish"}, {"finished", escape_bytes(time)}, {"complete", complete}});
}

Result<Transaction> parse_transaction(std::string_view text, int number, std::string_view where) {
    Transaction transaction;
    transaction.number = number;
    int line_number = 0;
    // What follows the last '\n' was torn by a power cut while it was appended: what it announces has not begun.
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        const auto line = text.substr(0, end);
        text.remove_prefix(end + 1);
        const auto place = std::string(where) + ":" + std::to_string(++line_number);
        const auto json = parse_json(line, place);
        if (!json) return tl::unexpected<Error>(json.error());
        if (auto read = read_event(*json, transaction); !read) {
            auto error = read.error();
            error.where = place;
            return tl::unexpected<Error>(std::move(error));
        }
        if (line_number == 1 && transaction.command.empty()) {
            return fail(ErrorKind::invalid, "does not begin with a transaction", place);
        }
    }
    return transaction;
}

}  // namespace storpol
