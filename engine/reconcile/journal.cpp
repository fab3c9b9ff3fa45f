// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reconcile/journal.h"

#include <algorithm>
#include <utility>

#include "engine/base/text.h"
#include "engine/host/state_store.h"
#include "engine/reconcile/clock.h"
#include "engine/reconcile/journal_events.h"

namespace storpol {
namespace {

constexpr std::string_view directory = "journal";
constexpr std::string_view suffix = ".jsonl";
constexpr std::size_t kept_transactions = 50;
constexpr int kept_days = 90;

std::string name_of(int number) {
    auto digits = std::to_string(number);
    if (digits.size() < 6) digits.insert(0, 6 - digits.size(), '0');
    return std::string(directory) + "/" + digits + std::string(suffix);
}

// The numbers of the journal's files, ascending; a file of another name is not the journal's.
Result<std::vector<int>> numbers_in(StateStore& store) {
    const auto names = store.list(directory);
    if (!names) return tl::unexpected<Error>(names.error());
    std::vector<int> numbers;
    for (const auto& name : *names) {
        if (!name.ends_with(suffix)) continue;
        const auto number = parse_int(std::string_view(name).substr(0, name.size() - suffix.size()));
        if (number && *number > 0 && *number < 1'000'000'000) numbers.push_back(static_cast<int>(*number));
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

// None for a file that a power cut left before its first line was whole.
Result<std::optional<Transaction>> read_one(StateStore& store, int number) {
    const auto name = name_of(number);
    const auto text = store.read(name);
    if (!text) return tl::unexpected<Error>(text.error());
    auto transaction = parse_transaction(*text, number, name);
    if (!transaction) {
        auto error = transaction.error();
        error.fix = "read it, put right by hand what it says was under way, and move it out of the journal";
        return tl::unexpected<Error>(std::move(error));
    }
    if (transaction->command.empty()) return std::optional<Transaction>();
    return std::optional<Transaction>(std::move(*transaction));
}

}  // namespace

Result<std::vector<Transaction>> Journal::read_all() const {
    const auto numbers = numbers_in(store_);
    if (!numbers) return tl::unexpected<Error>(numbers.error());
    std::vector<Transaction> all;
    for (const int number : *numbers) {
        auto one = read_one(store_, number);
        if (!one) return tl::unexpected<Error>(one.error());
        if (*one) all.push_back(std::move(**one));
    }
    return all;
}

Result<std::optional<Transaction>> Journal::newest() const {
    const auto numbers = numbers_in(store_);
    if (!numbers) return tl::unexpected<Error>(numbers.error());
    for (auto number = numbers->rbegin(); number != numbers->rend(); ++number) {
        auto one = read_one(store_, *number);
        if (!one || *one) return one;
    }
    return std::optional<Transaction>();
}

Result<int> Journal::begin(const Transaction& head) {
    const auto numbers = numbers_in(store_);
    if (!numbers) return tl::unexpected<Error>(numbers.error());
    const int number = numbers->empty() ? 1 : numbers->back() + 1;
    if (auto written = store_.append(name_of(number), begin_line(head)); !written) {
        return tl::unexpected<Error>(written.error());
    }
    return number;
}

Result<void> Journal::intend(int number, const JournaledStep& step) {
    return store_.append(name_of(number), intend_line(step));
}

Result<void> Journal::finish_step(int number, const JournaledStep& step) {
    return store_.append(name_of(number), step_line(step));
}

Result<void> Journal::finish(int number, const std::string& time, bool complete) {
    return store_.append(name_of(number), finish_line(time, complete));
}

Result<void> Journal::mend(int number) {
    const auto text = store_.read(name_of(number));
    if (!text) return tl::unexpected<Error>(text.error());
    if (text->empty() || text->ends_with('\n')) return {};
    const auto end = text->rfind('\n');
    return store_.replace(name_of(number), end == std::string::npos ? std::string() : text->substr(0, end + 1));
}

void Journal::expire(const std::string& now) {
    const auto today = day_of(now);
    const auto numbers = numbers_in(store_);
    if (!today || !numbers || numbers->size() <= kept_transactions) return;
    for (std::size_t i = 0; i + kept_transactions < numbers->size(); ++i) {
        const auto one = read_one(store_, (*numbers)[i]);
        if (!one) continue;  // what cannot be read is a person's to judge
        if (*one) {
            const auto started = day_of((*one)->started);
            if ((*one)->finished.empty() || !started || *today - *started <= kept_days) continue;
        }
        // A file that cannot be removed now is tried again after the next apply.
        static_cast<void>(store_.remove(name_of((*numbers)[i])));
    }
}

}  // namespace storpol
