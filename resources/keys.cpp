// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/keys.h"

#include <utility>

namespace storpol {

Key key_of(std::string name, KeyType type, std::string doc, std::string default_text) {
    Key key;
    key.name = std::move(name);
    key.type = type;
    key.doc = std::move(doc);
    key.default_text = std::move(default_text);
    return key;
}

const PolicyNode* find_discard_key(const Policy& policy, std::string_view name) {
    const auto* table = policy.find("discard");
    return table == nullptr || table->table() == nullptr ? nullptr : table->table()->find(name);
}

PolicyKeys discard_keys(Key key) {
    Key discard = key_of("discard", KeyType::table, "Discards (TRIM), layer by layer.");
    discard.keys = {std::move(key)};
    return {{discard}};
}

}  // namespace storpol
