// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

// What storpol remembers on a machine: /var/lib/storpol (below DIR under --root). Names are relative: "applied.json",
// "journal/000012.jsonl". Everything written is durable when the call answers. Readers need no root where modes allow
// it.
namespace storpol {

class StateStore {
  public:
    virtual ~StateStore() = default;
    virtual Result<std::string> read(std::string_view name) = 0;
    virtual Result<std::vector<std::string>> list(std::string_view directory) = 0;    // sorted; an absent one is empty
    virtual Result<void> replace(std::string_view name, std::string_view bytes) = 0;  // atomic; makes directories
    virtual Result<void> append(std::string_view name, std::string_view bytes) = 0;   // written whole, then fsynced
    virtual Result<void> remove(std::string_view name) = 0;                           // absent is fine
    // Held until the store goes. ErrorKind::failed with code EWOULDBLOCK and the holder's pid when another apply runs.
    virtual Result<void> lock() = 0;
};

std::unique_ptr<StateStore> make_state_store();                                         // the running machine's
Result<std::unique_ptr<StateStore>> make_root_state_store(std::string_view directory);  // DIR/var/lib/storpol
std::unique_ptr<StateStore> make_memory_state_store();                                  // tests

}  // namespace storpol
