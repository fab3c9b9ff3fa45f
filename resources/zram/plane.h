// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/plan.h"
#include "engine/model/reading.h"
#include "engine/model/setting.h"
#include "resources/zram/owner.h"
#include "resources/zram/persisted.h"

// The persisted plane of zram, one kind for each owner that storpol knows how to configure.
namespace storpol {

class Host;

class ZramPlane {
  public:
    virtual ~ZramPlane() = default;
    virtual Reading read(const std::string& device, std::string_view property) const = 0;
    virtual void find(std::span<const std::string> devices, std::vector<Finding>& findings) const = 0;
    virtual Remedy remedy(std::span<const ZramWish> wishes) const = 0;
    virtual std::vector<std::string> devices() const = 0;
};

std::unique_ptr<ZramPlane> make_zram_generator_plane(Host& host, const ZramBootLine& boot);
// zram-tools and zram-init.
std::unique_ptr<ZramPlane> make_zram_script_plane(Host& host, ZramOwnerKind kind);
// storpol-zram0.service.
std::unique_ptr<ZramPlane> make_zram_unit_plane(Host& host);

// What the planes share.
Gap zram_gap(const ZramWish& wish, std::string why);
Reading zram_found(Value value, std::string raw, std::string source);
Reading zram_unset(std::optional<Value> default_value, std::string from, std::string source = {});
Reading zram_unknown(std::string why, std::string source = {});
Finding zram_finding(std::string code, std::string says, std::string where);

// Whether a reading is what the wish wants: sizes within its slack, and within what an owner rounds to.
bool fulfils(const Reading& reading, const ZramWish& wish);

// The level that an algorithm has where none is set.
std::optional<Value> zram_default_level(std::string_view algorithm);

// MemTotal in KiB; none where it cannot be read (an image has no memory).
std::optional<std::uint64_t> zram_memory_kib(Host& host);

}  // namespace storpol
