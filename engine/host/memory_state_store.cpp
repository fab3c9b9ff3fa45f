// SPDX-License-Identifier: GPL-3.0-or-later
#include <cerrno>
#include <map>

#include "engine/base/text.h"
#include "engine/host/state_store.h"

namespace storpol {
namespace {

class MemoryStateStore final : public StateStore {
  public:
    Result<std::string> read(std::string_view name) override {
        const auto found = files_.find(name);
        if (found == files_.end()) return fail_errno(ENOENT, "cannot open", printable(name));
        return found->second;
    }

    Result<std::vector<std::string>> list(std::string_view directory) override {
        std::vector<std::string> names;
        const auto prefix = std::string(directory) + "/";
        for (const auto& [name, bytes] : files_)
            if (name.starts_with(prefix) && name.find('/', prefix.size()) == std::string::npos)
                names.push_back(name.substr(prefix.size()));
        return names;
    }

    Result<void> replace(std::string_view name, std::string_view bytes) override {
        files_.insert_or_assign(std::string(name), std::string(bytes));
        return {};
    }

    Result<void> append(std::string_view name, std::string_view bytes) override {
        files_[std::string(name)] += bytes;
        return {};
    }

    Result<void> remove(std::string_view name) override {
        files_.erase(std::string(name));
        return {};
    }

    Result<void> lock() override { return {}; }

  private:
    std::map<std::string, std::string, std::less<>> files_;
};

}  // namespace

std::unique_ptr<StateStore> make_memory_state_store() {
    return std::make_unique<MemoryStateStore>();
}

}  // namespace storpol
