// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <string>

/// How the ranks of a run find each other.
namespace parallax::dist {

/// "tcp://host:port" taken apart.
struct TcpAddress {
    std::string host;
    int port = 0;
};
bool isTcp(const std::string &store);
TcpAddress parseTcp(const std::string &store); ///< throws std::runtime_error: what is wrong with the address

/// FileStore for a path; for "tcp://host:port" a TCPStore, served by rank 0 unless torchrun's agent serves it already
/// (TORCHELASTIC_USE_AGENT_STORE). Throws std::runtime_error.
c10::intrusive_ptr<c10d::Store> makeStore(const RanksOptions &options);

/// The address that Gloo listens on. One machine: 127.0.0.1, without any look-up of a name, so that neither the host's name
/// nor a DNS server matters and no port is open to the outside. Several machines: the interface GLOO_SOCKET_IFNAME, else the
/// local address from which the host of the store is reached.
std::shared_ptr<gloo::transport::Device> makeGlooDevice(const RanksOptions &options);

} // namespace parallax::dist
