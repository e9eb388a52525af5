// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/ranks.h"

#include "core/engine/dist/cudamodule.h"
#include "core/engine/dist/rendezvous.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <stdexcept>

namespace parallax::dist {

namespace {

using c10d::ProcessGroup;
using c10d::ProcessGroupGloo;

/// One rank: every collective is the identity.
class LocalRanks final : public Ranks
{
public:
    explicit LocalRanks(torch::Device device) : Ranks(0, 1, device) { }
    void allReduceSum(torch::Tensor &) const override { }
    void allReduceMax(torch::Tensor &) const override { }
    torch::Tensor allGatherRows(const torch::Tensor &rows) const override { return rows.detach(); }
    torch::Tensor allGatherEqual(const torch::Tensor &tensor) const override { return tensor.detach().unsqueeze(0); }
    void broadcast(torch::Tensor &, int) const override { }
    void barrier() const override { }
    std::int64_t agreeMax(std::int64_t value) const override { return value; }
    void *processGroup() const override { return nullptr; }
};

/// The first line of an exception: LibTorch appends a C++ stack to its own.
std::string firstLine(const std::exception &exception)
{
    const std::string text = exception.what();
    return text.substr(0, text.find('\n'));
}

class GroupRanks final : public Ranks
{
public:
    GroupRanks(const RanksOptions &options, c10::intrusive_ptr<ProcessGroup> group)
        : Ranks(options.rank, options.world, options.device), m_group(std::move(group)), m_timeout(options.timeoutSeconds)
    {
    }

    void allReduceSum(torch::Tensor &tensor) const override { allReduce(tensor, c10d::ReduceOp::SUM); }
    void allReduceMax(torch::Tensor &tensor) const override { allReduce(tensor, c10d::ReduceOp::MAX); }

    torch::Tensor allGatherEqual(const torch::Tensor &tensor) const override
    {
        torch::Tensor own = tensor.detach().contiguous();
        std::vector<std::int64_t> shape = own.sizes().vec();
        shape.insert(shape.begin(), m_world);
        torch::Tensor all = torch::empty(shape, own.options());
        if (own.numel() == 0) return all;
        // The flat forms: the backends take [n] → [world·n].
        torch::Tensor flat = all.view({-1}), ownFlat = own.view({-1});
        joined("an all-gather", [&] { m_group->all_gather_single(flat, ownFlat)->wait(); });
        return all;
    }

    torch::Tensor allGatherRows(const torch::Tensor &rows) const override
    {
        const std::vector<std::int64_t> count = counts(rows.size(0));
        const std::int64_t most = *std::max_element(count.begin(), count.end());
        torch::Tensor own = rows.detach();
        if (own.size(0) < most) {
            std::vector<std::int64_t> shape = own.sizes().vec();
            shape[0] = most - own.size(0);
            own = torch::cat({own, torch::zeros(shape, own.options())});
        }
        const torch::Tensor all = allGatherEqual(own); // [world, most, …]
        std::vector<torch::Tensor> parts;
        for (int rank = 0; rank < m_world; ++rank) parts.push_back(all[rank].narrow(0, 0, count[std::size_t(rank)]));
        return torch::cat(parts);
    }

    void broadcast(torch::Tensor &tensor, int root) const override
    {
        torch::NoGradGuard noGrad;
        std::vector<torch::Tensor> list{tensor.detach().contiguous()};
        c10d::BroadcastOptions options;
        options.rootRank = root;
        joined("a broadcast", [&] { m_group->broadcast(list, options)->wait(); });
        if (!list[0].is_alias_of(tensor)) tensor.copy_(list[0]);
    }

    void barrier() const override { agreeMax(0); }

    std::int64_t agreeMax(std::int64_t value) const override
    {
        torch::Tensor tensor = torch::tensor({value}, torch::kInt64);
        allReduceMax(tensor);
        return tensor.item<std::int64_t>();
    }

    void *processGroup() const override { return m_group.get(); }

private:
    template<class Collective>
    void joined(const char *what, Collective collective) const
    {
        try {
            collective();
        } catch (const std::exception &exception) {
            throw std::runtime_error("Rank " + std::to_string(m_rank) + " lost the other ranks in " + what +
                                     ": one of them ended, or did not answer within " +
                                     std::to_string(std::int64_t(m_timeout)) + " s (" + firstLine(exception) + ")");
        }
    }

    void allReduce(torch::Tensor &tensor, c10d::ReduceOp::RedOpType op) const
    {
        torch::NoGradGuard noGrad;
        std::vector<torch::Tensor> list{tensor.detach().contiguous()};
        c10d::AllreduceOptions options;
        options.reduceOp = op;
        joined("an all-reduce", [&] { m_group->allreduce(list, options)->wait(); });
        if (!list[0].is_alias_of(tensor)) tensor.copy_(list[0]);
    }

    c10::intrusive_ptr<ProcessGroup> m_group;
    double m_timeout;
};

void checkOptions(const RanksOptions &options)
{
    if (options.world < 1 || options.rank < 0 || options.rank >= options.world)
        throw std::runtime_error("Rank " + std::to_string(options.rank) + " of " + std::to_string(options.world) +
                                 " does not exist: ranks count from 0");
    if (options.world > 1 && options.store.empty())
        throw std::runtime_error("Several ranks need a rendezvous: a file that is new for this launch, or tcp://host:port");
}

c10::intrusive_ptr<c10d::Backend> makeNccl(const RanksOptions &options, const c10::intrusive_ptr<c10d::Store> &store)
{
    std::string error;
    const CudaInterface *cuda = openCudaModule(error);
    if (!cuda) throw std::runtime_error(error);
    const int device = options.device.has_index() ? options.device.index() : 0;
    return cuda->makeNccl(c10::make_intrusive<c10d::PrefixStore>("nccl", store), options.rank, options.world, device,
                          options.timeoutSeconds, !isTcp(options.store));
}

c10::intrusive_ptr<ProcessGroup> makeGroup(const RanksOptions &options)
{
    const auto store = makeStore(options);
    auto group = c10::make_intrusive<ProcessGroup>(store, options.rank, options.world);
    auto gloo = ProcessGroupGloo::Options::create(std::chrono::milliseconds(std::int64_t(options.timeoutSeconds * 1000)));
    gloo->devices.push_back(makeGlooDevice(options));
    group->setBackend(torch::kCPU, ProcessGroup::BackendType::GLOO,
                      c10::make_intrusive<ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store),
                                                            options.rank, options.world, gloo));
    group->setDefaultBackend(ProcessGroup::BackendType::GLOO);
    if (options.device.is_cuda()) {
        group->setBackend(torch::kCUDA, ProcessGroup::BackendType::NCCL, makeNccl(options, store));
        group->setDefaultBackend(ProcessGroup::BackendType::NCCL);
    }
    return group;
}

} // namespace

std::shared_ptr<Ranks> Ranks::connect(const RanksOptions &options)
{
    checkOptions(options);
    if (options.world == 1) return localRanks(options.device);
    try {
        return std::make_shared<GroupRanks>(options, makeGroup(options));
    } catch (const c10::Error &error) {
        throw std::runtime_error("Rank " + std::to_string(options.rank) + " of " + std::to_string(options.world) +
                                 " did not meet the others at " + options.store + ": " + firstLine(error));
    }
}

std::shared_ptr<Ranks> localRanks(torch::Device device) { return std::make_shared<LocalRanks>(device); }

} // namespace parallax::dist
