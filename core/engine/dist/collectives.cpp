// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/capsule.h"

#include <numeric>

namespace parallax::dist {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Capsule : torch::CustomClassHolder {
    explicit Capsule(std::shared_ptr<const Ranks> r) : ranks(std::move(r)) { }
    std::shared_ptr<const Ranks> ranks;
};

struct Gather : torch::autograd::Function<Gather> {
    static torch::Tensor forward(AutogradContext *context, const torch::Tensor &rows, std::shared_ptr<const Ranks> ranks,
                                 std::int64_t offset)
    {
        context->saved_data["ranks"] = capsule(ranks);
        context->saved_data["offset"] = offset;
        context->saved_data["rows"] = rows.size(0);
        return ranks->allGatherRows(rows);
    }

    static variable_list backward(AutogradContext *context, variable_list gradients)
    {
        // Every rank's loss depends on every row: the own rows' gradient is the sum of what all ranks found for them.
        torch::Tensor gradient = gradients[0].contiguous().clone();
        fromCapsule(context->saved_data["ranks"]).allReduceSum(gradient);
        const auto own = gradient.narrow(0, context->saved_data["offset"].toInt(), context->saved_data["rows"].toInt());
        return {own.clone(), torch::Tensor(), torch::Tensor()};
    }
};

struct Sum : torch::autograd::Function<Sum> {
    static torch::Tensor forward(AutogradContext *context, const torch::Tensor &tensor, std::shared_ptr<const Ranks> ranks)
    {
        context->saved_data["ranks"] = capsule(ranks);
        torch::Tensor total = tensor.contiguous().clone();
        ranks->allReduceSum(total);
        return total;
    }

    static variable_list backward(AutogradContext *context, variable_list gradients)
    {
        torch::Tensor gradient = gradients[0].contiguous().clone();
        fromCapsule(context->saved_data["ranks"]).allReduceSum(gradient);
        return {gradient, torch::Tensor()};
    }
};

} // namespace

c10::IValue capsule(std::shared_ptr<const Ranks> ranks)
{
    return c10::IValue::make_capsule(c10::make_intrusive<Capsule>(std::move(ranks)));
}

const Ranks &fromCapsule(const c10::IValue &value) { return *static_cast<const Capsule &>(*value.toCapsule()).ranks; }

std::vector<std::int64_t> Ranks::counts(std::int64_t rows) const
{
    const torch::Tensor all = allGatherEqual(torch::tensor({rows}, torch::kInt64));
    const auto *first = all.data_ptr<std::int64_t>();
    return {first, first + m_world};
}

torch::Tensor Ranks::gather(const torch::Tensor &rows) const
{
    if (m_world == 1) return rows;
    return Gather::apply(rows, shared_from_this(), offsetOf(rows.size(0)).first);
}

torch::Tensor Ranks::sum(const torch::Tensor &tensor) const
{
    if (m_world == 1) return tensor;
    return Sum::apply(tensor, shared_from_this());
}

std::pair<std::int64_t, std::int64_t> Ranks::offsetOf(std::int64_t rows) const
{
    const auto count = counts(rows);
    return {std::accumulate(count.begin(), count.begin() + m_rank, std::int64_t(0)),
            std::accumulate(count.begin(), count.end(), std::int64_t(0))};
}

} // namespace parallax::dist
