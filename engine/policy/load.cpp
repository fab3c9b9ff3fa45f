// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/load.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "engine/policy/checker.h"
#include "engine/policy/key_set.h"
#include "engine/policy/policy_builder.h"
#include "engine/policy/toml_reader.h"

namespace storpol {
namespace {

// Far above any policy, low enough that a hostile one costs seconds at most.
constexpr std::size_t largest_file = std::size_t{1} << 20;
constexpr std::size_t most_opened = 128;
constexpr std::size_t deepest_include = 32;

class Loader {
  public:
    explicit Loader(const std::vector<PolicyKeys>& keys) : keys_(keys) {}

    void load(const std::string& name, PolicySource& source);
    void load_held(const Policy::File& file);
    Loaded take();

  private:
    // Where an include stands; both are null for a file that the user names.
    struct Includer {
        const SourceText* text = nullptr;
        const PlacedWord* word = nullptr;
    };

    struct Open {
        std::string name;
        std::string identity;
    };

    void visit(const std::string& name, Includer includer, PolicySource& source);
    void follow(const SourceText& text, const std::vector<PlacedWord>& includes, PolicySource& source);
    void add_error(const std::string& name, Includer includer, std::string says, std::string fix);
    void cannot_open(const std::string& name, Includer includer, const Error& error);
    bool is_cycle(const PolicySource::Opened& opened, Includer includer);
    CheckedFile check(const SourceText& text);

    KeySet keys_;
    PolicyBuilder builder_;
    std::vector<PolicyError> errors_;
    std::vector<Open> chain_;  // the files being read, outermost first
    std::set<std::string> done_;
    std::size_t opened_ = 0;
    bool said_too_many_ = false;
};

void Loader::add_error(const std::string& name, Includer includer, std::string says, std::string fix) {
    if (includer.word) {
        errors_.push_back(
            error_in(*includer.text, includer.word->place, includer.word->width, std::move(says), std::move(fix)));
        return;
    }
    PolicyError error;
    error.where = {name, 0, 0};
    error.says = std::move(says);
    error.fix = std::move(fix);
    errors_.push_back(std::move(error));
}

void Loader::cannot_open(const std::string& name, Includer includer, const Error& error) {
    std::string fix = error.fix;
    constexpr std::string_view builtin = "builtin:";
    if (fix.empty() && name.starts_with(builtin)) {
        const std::vector<std::string> names = builtin_names();
        const auto near = nearest(std::string_view(name).substr(builtin.size()), names);
        fix = near ? "write \"builtin:" + *near + "\"" : "ready policies: " + join(names, ", ");
    }
    const std::string subject = includer.word ? "\"" + name + "\": " : "";
    add_error(name, includer, subject + error.what, fix);
}

bool Loader::is_cycle(const PolicySource::Opened& opened, Includer includer) {
    const auto same = [&](const Open& open) { return open.identity == opened.identity; };
    const auto first = std::find_if(chain_.begin(), chain_.end(), same);
    if (first == chain_.end()) return false;
    std::string says = "includes form a circle: ";
    for (auto open = first; open != chain_.end(); ++open) says += open->name + " includes ";
    add_error(opened.name, includer, says + opened.name, "take one of these includes out");
    return true;
}

CheckedFile Loader::check(const SourceText& text) {
    CheckedFile checked;
    if (text.bytes().size() > largest_file) {
        add_error(text.name(), {}, "this file has more than " + std::to_string(largest_file) + " bytes",
                  "split it, or check what wrote it");
        return checked;
    }
    TomlFile file = read_toml(text);
    if (file.error) {
        errors_.push_back(std::move(*file.error));
        return checked;
    }
    checked = check_file(file.root, keys_, text);
    for (PolicyError& error : checked.errors) errors_.push_back(std::move(error));
    return checked;
}

void Loader::visit(const std::string& name, Includer includer, PolicySource& source) {
    if (opened_ == most_opened || chain_.size() == deepest_include) {
        if (said_too_many_) return;
        said_too_many_ = true;
        add_error(
            name, includer, "too many includes",
            "a policy has at most " + std::to_string(most_opened) + ", " + std::to_string(deepest_include) + " deep");
        return;
    }
    ++opened_;
    auto opened = source.open(name, chain_.empty() ? std::string_view{} : std::string_view(chain_.back().name));
    if (!opened) return cannot_open(name, includer, opened.error());
    if (is_cycle(*opened, includer) || !done_.insert(opened->identity).second) return;
    const SourceText text(opened->name, opened->bytes);
    CheckedFile checked = check(text);
    chain_.push_back({opened->name, opened->identity});
    follow(text, checked.includes, source);
    chain_.pop_back();
    builder_.add({opened->name, opened->bytes}, std::move(checked));
}

void Loader::follow(const SourceText& text, const std::vector<PlacedWord>& includes, PolicySource& source) {
    for (const PlacedWord& word : includes) {
        visit(word.text, {&text, &word}, source);
    }
}

void Loader::load(const std::string& name, PolicySource& source) {
    visit(name, {}, source);
}

void Loader::load_held(const Policy::File& file) {
    const SourceText text(file.name, file.bytes);
    builder_.add(file, check(text));
}

Loaded Loader::take() {
    std::sort(errors_.begin(), errors_.end());
    errors_.erase(std::unique(errors_.begin(), errors_.end()), errors_.end());
    return {builder_.take(), std::move(errors_)};
}

}  // namespace

Loaded load_policy(const std::vector<std::string>& names, PolicySource& source, const std::vector<PolicyKeys>& keys) {
    Loader loader(keys);
    for (const std::string& name : names) loader.load(name, source);
    return loader.take();
}

Loaded load_policy_files(const std::vector<Policy::File>& files, const std::vector<PolicyKeys>& keys) {
    Loader loader(keys);
    for (const Policy::File& file : files) loader.load_held(file);
    return loader.take();
}

}  // namespace storpol
