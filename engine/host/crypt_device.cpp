// SPDX-License-Identifier: GPL-3.0-or-later
// The one file that talks to libcryptsetup.
#include "engine/host/crypt_device.h"

#include <libcryptsetup.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "engine/base/handle.h"
#include "engine/base/text.h"
#include "engine/host/late_library.h"
#include "engine/host/live_steps.h"
#include "engine/host/locked_memory.h"
#include "engine/host/luks_header.h"
#include "engine/host/passphrase.h"

namespace storpol {
namespace {

const LateLibrary libcryptsetup("libcryptsetup.so.12");
STORPOL_LATE(libcryptsetup, crypt_activate_by_keyfile_device_offset);
STORPOL_LATE(libcryptsetup, crypt_activate_by_passphrase);
STORPOL_LATE(libcryptsetup, crypt_activate_by_token_pin);
STORPOL_LATE(libcryptsetup, crypt_free);
STORPOL_LATE(libcryptsetup, crypt_get_active_device);
STORPOL_LATE(libcryptsetup, crypt_get_type);
STORPOL_LATE(libcryptsetup, crypt_get_uuid);
STORPOL_LATE(libcryptsetup, crypt_init);
STORPOL_LATE(libcryptsetup, crypt_init_by_name);
STORPOL_LATE(libcryptsetup, crypt_keyslot_context_free);
STORPOL_LATE(libcryptsetup, crypt_load);
STORPOL_LATE(libcryptsetup, crypt_persistent_flags_get);
STORPOL_LATE(libcryptsetup, crypt_persistent_flags_set);
STORPOL_LATE(libcryptsetup, crypt_set_log_callback);
STORPOL_LATE(libcryptsetup, crypt_volume_key_keyring);
// Of libcryptsetup 2.7, whose header the build may lack.
using InitByLinkedKey = int(crypt_device*, const char*, crypt_keyslot_context**);
using ActivateByContext =
    int(crypt_device*, const char*, int, crypt_keyslot_context*, int, crypt_keyslot_context*, std::uint32_t);
const Late<InitByLinkedKey> crypt_keyslot_context_init_by_vk_in_keyring{libcryptsetup,
                                                                        "crypt_keyslot_context_init_by_vk_in_keyring"};
const Late<ActivateByContext> crypt_activate_by_keyslot_context{libcryptsetup, "crypt_activate_by_keyslot_context"};

void free_device(crypt_device* device) {
    crypt_free(device);
}

void free_context(crypt_keyslot_context* context) {
    crypt_keyslot_context_free(context);
}

using CryptDevice = Handle<crypt_device, free_device>;
using KeyContext = Handle<crypt_keyslot_context, free_context>;

struct Flag {
    std::string_view word;
    std::uint32_t bit;
};

// cryptsetup lib/luks2/luks2_json_metadata.c, persistent_flags.
constexpr std::array flags{Flag{"allow-discards", CRYPT_ACTIVATE_ALLOW_DISCARDS},
                           Flag{"same-cpu-crypt", CRYPT_ACTIVATE_SAME_CPU_CRYPT},
                           Flag{"submit-from-crypt-cpus", CRYPT_ACTIVATE_SUBMIT_FROM_CRYPT_CPUS},
                           Flag{"no-journal", CRYPT_ACTIVATE_NO_JOURNAL},
                           Flag{"no-read-workqueue", CRYPT_ACTIVATE_NO_READ_WORKQUEUE},
                           Flag{"no-write-workqueue", CRYPT_ACTIVATE_NO_WRITE_WORKQUEUE}};

// What an activation may be asked for; the rest of what an open mapping shows is its state. Bit 28 is the high priority
// of libcryptsetup 2.8; an older one never shows it.
constexpr std::uint32_t askable =
    CRYPT_ACTIVATE_READONLY | CRYPT_ACTIVATE_ALLOW_DISCARDS | CRYPT_ACTIVATE_SAME_CPU_CRYPT |
    CRYPT_ACTIVATE_SUBMIT_FROM_CRYPT_CPUS | CRYPT_ACTIVATE_NO_JOURNAL | CRYPT_ACTIVATE_NO_JOURNAL_BITMAP |
    CRYPT_ACTIVATE_RECOVERY | CRYPT_ACTIVATE_NO_READ_WORKQUEUE | CRYPT_ACTIVATE_NO_WRITE_WORKQUEUE | UINT32_C(1) << 28U;

// The library's last words about what went wrong. It would print them otherwise.
std::string& last_words() {
    static std::string words;
    return words;
}

extern "C" void storpol_keep_crypt_message(int level, const char* message, void*) {
    if (level == CRYPT_LOG_ERROR && message != nullptr) last_words() = printable(trim(message));
}

tl::unexpected<Error> fail_crypt(int code, const std::string& doing, const std::string& where, std::string fix = {}) {
    auto error = fail_errno(-code, doing, printable(where));
    if (!last_words().empty()) error.value().what += " (" + last_words() + ")";
    error.value().fix = std::move(fix);
    return error;
}

Result<void> prepare(const std::string& where) {
    if (!libcryptsetup.is_there())
        return fail(ErrorKind::unsupported, "libcryptsetup.so.12 is not installed", printable(where),
                    "install the package that has it (libcryptsetup12)");
    last_words().clear();
    crypt_set_log_callback(nullptr, storpol_keep_crypt_message, nullptr);
    return {};
}

Result<std::uint32_t> bits_of(const std::vector<std::string>& words, const std::string& where) {
    std::uint32_t bits = 0;
    for (const auto& word : words) {
        const auto found = std::ranges::find(flags, word, &Flag::word);
        if (found == flags.end())
            return fail(ErrorKind::invalid, "no flag of dm-crypt: " + printable(word), printable(where));
        bits |= found->bit;
    }
    return bits;
}

// `bits` with the step's words put in and taken out.
template <class Step>
Result<std::uint32_t> changed_bits(std::uint32_t bits, const Step& step) {
    const auto in = bits_of(step.put_in, step.mapping);
    if (!in) return in;
    const auto out = bits_of(step.take_out, step.mapping);
    if (!out) return out;
    return (bits | *in) & ~*out;
}

Result<CryptDevice> load_luks2(const SetLuksFlags& step) {
    crypt_device* raw = nullptr;
    int code = crypt_init(&raw, step.device.c_str());
    CryptDevice device(raw);
    if (code < 0) return fail_crypt(code, "cannot open the device", step.device);
    code = crypt_load(device.get(), nullptr, nullptr);
    if (code < 0) return fail_crypt(code, "cannot load the LUKS header", step.device);
    const char* uuid = crypt_get_uuid(device.get());
    if (uuid == nullptr || step.uuid != uuid)
        return fail(ErrorKind::changed, "another LUKS header lies there than the plan was made for",
                    printable(step.device), "plan again");
    const char* type = crypt_get_type(device.get());
    if (type == nullptr || std::strcmp(type, CRYPT_LUKS2) != 0)
        return fail(ErrorKind::unsupported, "a LUKS1 header keeps no flags", printable(step.device),
                    "name the option in crypttab, or convert the header to LUKS2");
    return device;
}

Result<void> write_bits(crypt_device* device, const SetLuksFlags& step) {
    std::uint32_t bits = 0;
    int code = crypt_persistent_flags_get(device, CRYPT_FLAGS_ACTIVATION, &bits);
    if (code < 0) return fail_crypt(code, "cannot read the header's flags", step.device);
    PathWalk walk;
    const auto header = read_luks_header(walk, step.device);
    if (!header) return tl::make_unexpected(header.error());
    // Setting replaces all that are stored, so that each must be one of the library's bits.
    if (static_cast<int>(header->flags.size()) != std::popcount(bits))
        return fail(ErrorKind::unsupported,
                    "the header holds a flag that this libcryptsetup does not know and would drop",
                    printable(step.device), "install a newer libcryptsetup");
    const auto wanted = changed_bits(bits, step);
    if (!wanted) return tl::make_unexpected(wanted.error());
    if (*wanted == bits) return {};
    code = crypt_persistent_flags_set(device, CRYPT_FLAGS_ACTIVATION, *wanted);
    if (code == -ETXTBSY || code == -EINVAL)
        return fail_crypt(code, "libcryptsetup refused the flags", step.device,
                          "a header that is being re-encrypted, or of a newer version, takes none; try again later");
    if (code < 0) return fail_crypt(code, "cannot write the header's flags", step.device);
    std::uint32_t now = 0;
    code = crypt_persistent_flags_get(device, CRYPT_FLAGS_ACTIVATION, &now);
    if (code < 0) return fail_crypt(code, "cannot read the header's flags back", step.device);
    if (now != *wanted)
        return fail(ErrorKind::failed, "the header took the flags and holds others", printable(step.device));
    return {};
}

struct ActiveMapping {
    CryptDevice device;
    std::uint32_t bits = 0;
};

Result<ActiveMapping> open_active(const std::string& mapping) {
    if (const auto ready = prepare(mapping); !ready) return tl::make_unexpected(ready.error());
    crypt_device* raw = nullptr;
    int code = crypt_init_by_name(&raw, mapping.c_str());
    ActiveMapping active{CryptDevice(raw), 0};
    if (code == -ENODEV)
        return fail(ErrorKind::no_such_file, "no dm-crypt mapping of that name is open", printable(mapping));
    if (code < 0) return fail_crypt(code, "cannot look at the mapping", mapping);
    crypt_active_device about{};
    code = crypt_get_active_device(active.device.get(), mapping.c_str(), &about);
    if (code < 0) return fail_crypt(code, "cannot look at the mapping", mapping);
    active.bits = about.flags;
    return active;
}

Result<void> check_key_file(const std::string& path) {
    struct stat found {};

    if (stat(path.c_str(), &found) != 0) return fail_errno(errno, "cannot look at the key file", printable(path));
    if (S_ISREG(found.st_mode) || S_ISBLK(found.st_mode)) return {};
    return fail(ErrorKind::unsupported, "the key file is no file", printable(path));
}

// The activation functions answer a key slot or a negative errno.
Result<int> activate(crypt_device* device, const RefreshMapping& step, const KeyFile& key, std::uint32_t bits) {
    if (const auto fit = check_key_file(key.path); !fit) return tl::make_unexpected(fit.error());
    return crypt_activate_by_keyfile_device_offset(device, step.mapping.c_str(), CRYPT_ANY_SLOT, key.path.c_str(),
                                                   static_cast<std::size_t>(key.size), key.offset, bits);
}

Result<int> activate(crypt_device* device, const RefreshMapping& step, const LuksToken&, std::uint32_t bits) {
    if (!crypt_activate_by_token_pin.is_there())
        return fail(ErrorKind::unsupported, "this libcryptsetup cannot use tokens so", printable(step.mapping),
                    "libcryptsetup 2.4 can; or name a key file in crypttab");
    return crypt_activate_by_token_pin(device, step.mapping.c_str(), nullptr, CRYPT_ANY_TOKEN, nullptr, std::size_t{0},
                                       nullptr, bits);
}

Result<int> activate(crypt_device* device, const RefreshMapping& step, const LinkedVolumeKey& key, std::uint32_t bits) {
    if (!crypt_keyslot_context_init_by_vk_in_keyring.is_there() || !crypt_activate_by_keyslot_context.is_there())
        return fail(ErrorKind::unsupported, "this libcryptsetup cannot use a volume key in a keyring",
                    printable(step.mapping), "libcryptsetup 2.7 can; or name a key file in crypttab");
    crypt_keyslot_context* raw = nullptr;
    const int code = crypt_keyslot_context_init_by_vk_in_keyring(device, key.description.c_str(), &raw);
    const KeyContext context(raw);
    if (code < 0) return code;
    return crypt_activate_by_keyslot_context(device, step.mapping.c_str(), CRYPT_ANY_SLOT, context.get(),
                                             CRYPT_ANY_SLOT, nullptr, bits);
}

Result<int> activate(crypt_device* device, const RefreshMapping& step, const AskedPassphrase&, std::uint32_t bits) {
    const auto passphrase = ask_passphrase("Passphrase for " + printable(step.mapping) + ": ");
    if (!passphrase) return tl::make_unexpected(passphrase.error());
    const auto bytes = (*passphrase)->bytes();
    return crypt_activate_by_passphrase(device, step.mapping.c_str(), CRYPT_ANY_SLOT, bytes.data(), bytes.size(), bits);
}

tl::unexpected<Error> fail_refresh(int code, const RefreshMapping& step) {
    const std::string by_hand = "refresh it by hand (man 8 cryptsetup-refresh), or reboot";
    const bool is_token = std::holds_alternative<LuksToken>(step.key);
    if (code == -EPERM && !is_token) return fail_crypt(code, "no key slot opens with this key", step.mapping, by_hand);
    if (code == -ENOANO) return fail_crypt(code, "each token wants a PIN", step.mapping, by_hand);
    if (is_token && (code == -ENOENT || code == -EPERM))
        return fail_crypt(code, "no token of the header gives a key", step.mapping, by_hand);
    return fail_crypt(code, "the mapping was not refreshed; its old table is in use", step.mapping, by_hand);
}

}  // namespace

bool is_crypt_flag(const std::string& word) {
    return std::ranges::find(flags, word, &Flag::word) != flags.end();
}

Result<void> store_luks_flags(const SetLuksFlags& step) {
    if (const auto ready = prepare(step.device); !ready) return ready;
    const auto device = load_luks2(step);
    if (!device) return tl::make_unexpected(device.error());
    return write_bits(device->get(), step);
}

Result<std::vector<std::string>> active_crypt_flags(const std::string& mapping) {
    const auto active = open_active(mapping);
    if (!active) return tl::make_unexpected(active.error());
    std::vector<std::string> words;
    for (const auto& flag : flags)
        if ((active->bits & flag.bit) != 0) words.emplace_back(flag.word);
    std::ranges::sort(words);
    return words;
}

Result<void> refresh_mapping(const RefreshMapping& step) {
    const auto active = open_active(step.mapping);
    if (!active) return tl::make_unexpected(active.error());
    const char* type = crypt_get_type(active->device.get());
    if (type == nullptr || (std::strcmp(type, CRYPT_LUKS1) != 0 && std::strcmp(type, CRYPT_LUKS2) != 0))
        return fail(ErrorKind::unsupported, "only a LUKS mapping with its header on the same device is refreshed",
                    printable(step.mapping), "run 'cryptsetup refresh' with its options, or reboot");
    const auto wanted = changed_bits(active->bits & askable, step);
    if (!wanted) return tl::make_unexpected(wanted.error());
    // The key stays where it is now, keyring or table. The library keeps this choice for the whole process.
    crypt_volume_key_keyring(active->device.get(), (active->bits & CRYPT_ACTIVATE_KEYRING_KEY) != 0 ? 1 : 0);
    // The stored flags are added otherwise, and what is taken out would come back from there.
    const auto bits = *wanted | CRYPT_ACTIVATE_REFRESH | CRYPT_ACTIVATE_IGNORE_PERSISTENT;
    const LockedMemory locked;
    const auto by = [&](const auto& key) { return activate(active->device.get(), step, key, bits); };
    const auto slot = std::visit(by, step.key);
    if (slot && *slot >= 0) return {};
    resume_if_suspended(step.mapping);
    if (!slot) return tl::make_unexpected(slot.error());
    return fail_refresh(*slot, step);
}

}  // namespace storpol
