// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/host/trim_journal.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "engine/base/handle.h"

namespace storpol {

std::string render_journal_entry(const JournalFields& fields) {
    std::string entry;
    for (const auto& [name, value] : fields) {
        entry += name;
        if (value.find('\n') == std::string::npos) {
            entry += "=" + value + "\n";
            continue;
        }
        entry += '\n';
        for (unsigned shift = 0; shift < 64; shift += 8)
            entry += static_cast<char>((std::uint64_t{value.size()} >> shift) & 0xFFU);
        entry += value + "\n";
    }
    return entry;
}

bool send_to_journal(const JournalFields& fields, const std::string& socket_path) {
    const Fd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (!fd || socket_path.size() >= sizeof address.sun_path) return false;
    std::ranges::copy(socket_path, address.sun_path);
    const auto entry = render_journal_entry(fields);
    const auto sent = sendto(fd.get(), entry.data(), entry.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), sizeof address);
    return sent == static_cast<ssize_t>(entry.size());
}

}  // namespace storpol
