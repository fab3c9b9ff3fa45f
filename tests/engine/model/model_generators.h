// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "engine/base/text.h"
#include "engine/model/plan.h"
#include "engine/model/record.h"

// Any value of the model, for laws about its JSON. Texts are arbitrary bytes.
namespace storpol::test {

inline rc::Gen<std::string> any_bytes() {
    return rc::gen::arbitrary<std::string>();
}

inline rc::Gen<std::vector<std::string>> any_texts() {
    return rc::gen::container<std::vector<std::string>>(any_bytes());
}

// A word that spells a number would come back as that number, and is made a number by every resource.
inline rc::Gen<Value> any_value() {
    return rc::gen::oneOf(
        rc::gen::map(rc::gen::arbitrary<std::int64_t>(), [](std::int64_t number) { return Value{number}; }),
        rc::gen::map(any_bytes(), [](std::string text) { return Value{"w" + text}; }));
}

inline rc::Gen<Condition> any_condition() {
    return rc::gen::oneOf(
        rc::gen::exec([] {
            return Condition{Is{*any_value(), *rc::gen::nonNegative<std::int64_t>()}};
        }),
        rc::gen::exec([] { return Condition{AtLeast{*rc::gen::arbitrary<std::int64_t>()}}; }),
        rc::gen::exec([] { return Condition{AtMost{*rc::gen::arbitrary<std::int64_t>()}}; }),
        rc::gen::exec([] { return Condition{Not{*rc::gen::container<std::vector<Value>>(any_value())}}; }));
}

inline rc::Gen<SettingPlane> any_setting_plane() {
    return rc::gen::exec([] {
        return SettingPlane{make_address("mount", *any_bytes(), "commit"),
                            *rc::gen::elementOf(std::vector<Plane>(all_planes.begin(), all_planes.end()))};
    });
}

inline rc::Gen<KeySource> any_key() {
    return rc::gen::oneOf(rc::gen::exec([] {
                              const auto offset = *rc::gen::inRange<std::uint64_t>(0, 1U << 30);
                              const auto size = *rc::gen::inRange<std::uint64_t>(0, 1U << 30);
                              return KeySource{KeyFile{*any_bytes(), offset, size}};
                          }),
                          rc::gen::just(KeySource{LuksToken{}}),
                          rc::gen::exec([] { return KeySource{LinkedVolumeKey{*any_bytes()}}; }),
                          rc::gen::just(KeySource{AskedPassphrase{}}));
}

inline rc::Gen<Step> any_swap_step() {
    return rc::gen::oneOf(
        rc::gen::exec([] {
            SetUpZram zram;
            zram.device = *any_bytes();
            zram.size = *rc::gen::inRange<std::uint64_t>(0, 1ULL << 62U);
            zram.algorithm = *any_bytes();
            zram.parameters = *any_bytes();
            zram.resident_limit = *rc::gen::inRange<std::uint64_t>(0, 1ULL << 62U);
            zram.is_swap = *rc::gen::arbitrary<bool>();
            zram.priority = *rc::gen::inRange(-1, 32768);
            zram.discard = *any_bytes();
            zram.unit = *any_bytes();
            return Step{zram};
        }),
        rc::gen::exec([] {
            return Step{UseSwap{*any_bytes(), *rc::gen::arbitrary<bool>(), *rc::gen::inRange(-1, 32768), *any_bytes()}};
        }));
}

inline rc::Gen<Step> any_step() {
    return rc::gen::oneOf(
        rc::gen::exec([] {
            return Step{EditFile{*any_bytes(), *any_bytes(),
                                 OwnLines{make_address("sysctl", *any_bytes(), ""), *any_bytes(), *any_texts()}}};
        }),
        rc::gen::exec([] {
            FieldWords words;
            words.line = *rc::gen::inRange(1, 100000);
            words.field = *rc::gen::inRange(1, 7);
            words.take_out = *any_texts();
            words.put_in = *any_texts();
            return Step{EditFile{*any_bytes(), *any_bytes(), words}};
        }),
        rc::gen::exec([] {
            return Step{ReplaceFile{*any_bytes(), *any_bytes(), *any_bytes(), *rc::gen::inRange(0U, 07777U)}};
        }),
        rc::gen::exec([] {
            return Step{DeleteFile{*any_bytes(), *any_bytes()}};
        }),
        rc::gen::exec([] {
            return Step{WriteAttribute{*any_bytes(), *any_bytes()}};
        }),
        rc::gen::exec([] {
            return Step{Remount{*any_bytes(), *any_bytes(), *any_texts(), *any_texts()}};
        }),
        rc::gen::just(Step{DaemonReload{}}), rc::gen::exec([] {
            return Step{EditFile{*any_bytes(), *any_bytes(), NewLine{*any_bytes()}}};
        }),
        rc::gen::exec([] {
            return Step{SetLink{*any_bytes(), *any_bytes(), *any_bytes()}};
        }),
        rc::gen::exec([] {
            return Step{StartUnit{*any_bytes(), *rc::gen::arbitrary<bool>()}};
        }),
        rc::gen::exec([] {
            return Step{SetLuksFlags{*any_bytes(), *any_bytes(), *any_bytes(), *any_texts(), *any_texts()}};
        }),
        rc::gen::exec([] {
            return Step{RefreshMapping{*any_bytes(), *any_bytes(), *any_texts(), *any_texts(), *any_key()}};
        }),
        rc::gen::exec([] {
            return Step{ReloadTable{*any_bytes(), *any_bytes()}};
        }),
        rc::gen::exec([] {
            return Step{ChangeThinPool{*any_bytes(), *any_bytes()}};
        }),
        rc::gen::exec([] {
            return Step{RunGenerator{*any_bytes(), *any_texts(), *any_bytes()}};
        }),
        any_swap_step());
}

inline rc::Gen<Record> any_record() {
    return rc::gen::exec([] {
        Record record;
        record.policy_digest = *any_bytes();
        record.applied_at = *any_bytes();
        for (int count = *rc::gen::inRange(0, 4); count > 0; --count) {
            record.applied.push_back({*any_setting_plane(), *any_bytes(), *any_condition(), *any_bytes()});
        }
        for (int count = *rc::gen::inRange(0, 4); count > 0; --count) {
            const When waits = *rc::gen::element(When::next_mount, When::next_boot, When::by_operator);
            record.waiting.push_back(
                {*any_setting_plane(), *any_bytes(), *any_condition(), waits, *any_bytes(), *any_bytes()});
        }
        for (int count = *rc::gen::inRange(0, 4); count > 0; --count) {
            record.tried.push_back({*any_setting_plane(), *any_condition(), *any_bytes(), *any_bytes(), *any_bytes()});
        }
        return record;
    });
}

}  // namespace storpol::test
