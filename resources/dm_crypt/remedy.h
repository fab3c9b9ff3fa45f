// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <span>
#include <string>

#include "engine/model/plan.h"
#include "engine/model/setting.h"
#include "engine/topology/crypt_mapping.h"
#include "resources/dm_crypt/rule.h"

namespace storpol {

class Host;
class Topology;

// What a run's settings are of, kept from settings() for observe() and actions().
struct CryptSubjects {
    struct Subject {
        std::string mapping;
        const CryptProperty* property = nullptr;
        bool wants_on = false;
    };

    std::map<std::string, Subject> by_address;
    bool prefers_crypttab = false;
};

Remedy crypt_remedy(std::span<const Difference> differences,
                    const CryptSubjects& subjects,
                    const Topology& topology,
                    Host& host);

// What the remedy could ask beyond readings, of all mappings.
void survey_crypt_remedy(const Topology& topology, Host& host);

}  // namespace storpol
