// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/rendezvous.h"

#include "core/base/text.h"

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace parallax::dist {

namespace {

constexpr std::string_view tcpScheme = "tcp://";

std::chrono::milliseconds milliseconds(double seconds) { return std::chrono::milliseconds(std::int64_t(seconds * 1000)); }

std::string environment(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}

bool isLoopback(const in_addr &address) { return (ntohl(address.s_addr) >> 24) == 127; }

/// The first IPv4 address of an interface that is up and for which `wanted` holds; empty: none.
template<class Wanted>
std::string interfaceAddress(Wanted wanted)
{
    ifaddrs *list = nullptr;
    if (getifaddrs(&list) != 0) return {};
    std::string found;
    for (const ifaddrs *entry = list; entry && found.empty(); entry = entry->ifa_next) {
        if (!entry->ifa_addr || entry->ifa_addr->sa_family != AF_INET || !(entry->ifa_flags & IFF_UP)) continue;
        const in_addr address = reinterpret_cast<const sockaddr_in *>(entry->ifa_addr)->sin_addr;
        char name[INET_ADDRSTRLEN] = {};
        if (wanted(address) && inet_ntop(AF_INET, &address, name, sizeof name)) found = name;
    }
    freeifaddrs(list);
    return found;
}

std::string loopbackAddress()
{
    return interfaceAddress([](const in_addr &address) { return address.s_addr == htonl(INADDR_LOOPBACK); });
}

/// The local address that packets to host:port would leave from: the system's routing decides, nothing is sent.
std::string localAddressTowards(const TcpAddress &peer)
{
    addrinfo hints = {};
    hints.ai_family = AF_INET;
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo *found = nullptr;
    if (const int code = getaddrinfo(peer.host.c_str(), std::to_string(peer.port).c_str(), &hints, &found))
        throw std::runtime_error("The host " + peer.host + " of the rendezvous is not known: " + gai_strerror(code));
    std::string address;
    if (const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); fd >= 0) {
        sockaddr_in local = {};
        socklen_t length = sizeof local;
        char name[INET_ADDRSTRLEN] = {};
        if (connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
            getsockname(fd, reinterpret_cast<sockaddr *>(&local), &length) == 0 &&
            inet_ntop(AF_INET, &local.sin_addr, name, sizeof name))
            address = name;
        close(fd);
    }
    freeaddrinfo(found);
    return address;
}

/// FileStore itself tries for five minutes to open a file that cannot be.
void checkStoreFile(const std::string &path)
{
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) throw std::runtime_error("The ranks cannot meet at the file " + path + ": " + std::strerror(errno));
    close(fd);
}

bool isLoopbackName(const std::string &host)
{
    in_addr address = {};
    return host == "localhost" || (inet_pton(AF_INET, host.c_str(), &address) == 1 && isLoopback(address));
}

} // namespace

bool isTcp(const std::string &store) { return store.starts_with(tcpScheme); }

TcpAddress parseTcp(const std::string &store)
{
    const std::string rest = store.substr(tcpScheme.size());
    const auto colon = rest.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : text::parseInt(rest.substr(colon + 1));
    if (colon == 0 || !port || *port < 1 || *port > 65535)
        throw std::runtime_error("The rendezvous address " + store + " is not of the form tcp://host:port");
    return {rest.substr(0, colon), int(*port)};
}

c10::intrusive_ptr<c10d::Store> makeStore(const RanksOptions &options)
{
    if (!isTcp(options.store)) {
        checkStoreFile(options.store);
        auto store = c10::make_intrusive<c10d::FileStore>(options.store, options.world);
        store->setTimeout(milliseconds(options.timeoutSeconds));
        return store;
    }
    const TcpAddress address = parseTcp(options.store);
    c10d::TCPStoreOptions tcp;
    tcp.port = std::uint16_t(address.port);
    tcp.isServer = options.rank == 0 && environment("TORCHELASTIC_USE_AGENT_STORE") != "True";
    tcp.numWorkers = std::size_t(options.world);
    tcp.waitWorkers = false; // the group's own rendezvous waits, with a message of its own
    tcp.timeout = milliseconds(options.timeoutSeconds);
    auto store = c10::make_intrusive<c10d::TCPStore>(address.host, tcp);
    // An agent that serves the store keeps it over restarts: keys of the launch before must not be met again.
    const std::string attempt = environment("TORCHELASTIC_RESTART_COUNT");
    return c10::make_intrusive<c10d::PrefixStore>("parallax/" + (attempt.empty() ? "0" : attempt), store);
}

std::shared_ptr<gloo::transport::Device> makeGlooDevice(const RanksOptions &options)
{
    using c10d::ProcessGroupGloo;
    const bool oneMachine = !isTcp(options.store) || isLoopbackName(parseTcp(options.store).host);
    if (oneMachine) {
        const std::string address = loopbackAddress();
        if (address.empty())
            throw std::runtime_error("The loopback interface lo is down: the ranks of one machine talk over 127.0.0.1. "
                                     "Bring it up with: ip link set lo up");
        return ProcessGroupGloo::createDeviceForHostname(address);
    }
    if (const std::string name = environment("GLOO_SOCKET_IFNAME"); !name.empty())
        return ProcessGroupGloo::createDeviceForInterface(name);
    std::string address = localAddressTowards(parseTcp(options.store));
    // On the store's own machine the name often stands for 127.0.1.1, which the other machines cannot reach.
    in_addr parsed = {};
    if (inet_pton(AF_INET, address.c_str(), &parsed) != 1 || isLoopback(parsed))
        address = interfaceAddress([](const in_addr &candidate) { return !isLoopback(candidate); });
    if (address.empty())
        throw std::runtime_error("No network interface leads to the other machines. Name one in GLOO_SOCKET_IFNAME");
    return ProcessGroupGloo::createDeviceForHostname(address);
}

} // namespace parallax::dist
