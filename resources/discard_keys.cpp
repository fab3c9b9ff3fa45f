// SPDX-License-Identifier: GPL-3.0-or-later
#include "resources/discard_keys.h"

#include <utility>

namespace storpol {

const PolicyNode* find_discard_key(const Policy& policy, std::string_view name) {
    const auto* table = policy.find("discard");
    return table == nullptr || table->table() == nullptr ? nullptr : table->table()->find(name);
}

PolicyKeys discard_keys(Key key) {
    Key discard;
    discard.name = "discard";
    discard.type = KeyType::table;
    discard.doc = "Discards (TRIM), layer by layer.";
    discard.keys = {std::move(key)};
    return {{discard}};
}

}  // namespace storpol
