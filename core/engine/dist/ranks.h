// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

namespace parallax::dist {

struct RanksOptions {
    int rank = 0, world = 1;
    std::string store; ///< FileStore path, new for every launch; or "tcp://host:port" for several machines
    torch::Device device = torch::kCPU;
    double timeoutSeconds = 600;
};

/// The ranks of a run: collectives, with and without gradient. With one rank every call is the identity, so callers hold no
/// `if (world > 1)`. Backend by device: NCCL on CUDA (through the CUDA module), Gloo on the CPU, bound to loopback.
/// A collective that another rank does not join throws std::runtime_error after the timeout, or at once when that rank died.
class Ranks : public std::enable_shared_from_this<Ranks>
{
public:
    static std::shared_ptr<Ranks> connect(const RanksOptions &options); ///< throws std::runtime_error with a plain reason
    virtual ~Ranks() = default;
    int rank() const { return m_rank; }
    int world() const { return m_world; }
    torch::Device device() const { return m_device; }

    /// Sum over ranks, in place, no gradient.
    virtual void allReduceSum(torch::Tensor &tensor) const = 0;
    virtual void allReduceMax(torch::Tensor &tensor) const = 0;
    /// Rows of all ranks concatenated in rank order, no gradient. Ranks may hold different numbers of rows.
    virtual torch::Tensor allGatherRows(const torch::Tensor &rows) const = 0;
    /// Tensors of one shape from all ranks, stacked: [world, shape…]; one collective, no gradient.
    virtual torch::Tensor allGatherEqual(const torch::Tensor &tensor) const = 0;
    virtual void broadcast(torch::Tensor &tensor, int root) const = 0;
    virtual void barrier() const = 0;

    /// allGatherRows with gradient: backward sums every rank's gradient of the gathered tensor and returns the own slice,
    /// so that DDP's mean equals the single-process gradient.
    torch::Tensor gather(const torch::Tensor &rows) const;
    /// Sum over ranks with gradient: backward sums the ranks' gradients.
    torch::Tensor sum(const torch::Tensor &tensor) const;
    /// Row offset of this rank in a gathered tensor, and the total, for ranks with different counts.
    std::pair<std::int64_t, std::int64_t> offsetOf(std::int64_t rows) const;

    /// Rows that each rank holds; exchanged over the CPU, so that no GPU waits for it.
    std::vector<std::int64_t> counts(std::int64_t rows) const;

    /// A small number agreed on by all ranks over the CPU (largest wins): control messages such as pause and stop.
    virtual std::int64_t agreeMax(std::int64_t value) const = 0;
    /// For the reducer only.
    virtual void *processGroup() const = 0;

protected:
    Ranks(int rank, int world, torch::Device device) : m_rank(rank), m_world(world), m_device(device) { }
    int m_rank, m_world;
    torch::Device m_device;
};

/// A view of the same ranks in which gather and sum stay local: what distributed.gather = false means.
/// DDP averaging and SyncBatchNorm use the true ranks.
std::shared_ptr<Ranks> localRanks(torch::Device device);

} // namespace parallax::dist
