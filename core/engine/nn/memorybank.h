// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/dist/ranks.h"

#include <torch/torch.h>

namespace parallax::nn {

/// A ring of the newest embeddings (Wu et al. 2018, arXiv:1805.01978; as a queue: He et al. 2020, arXiv:1911.05722). Both
/// tensors are part of the state dict, so that a resumed run goes on with the same rows (lightly leaves them out).
class MemoryBankImpl : public torch::nn::Module
{
public:
    /// Starts with `size` random unit rows of width d, from torch's seed: alike on all ranks.
    MemoryBankImpl(std::int64_t size, std::int64_t d);

    /// A copy of the rows [size, d]: what a loss has read stays as it was when the bank moves on.
    torch::Tensor rows() const { return bank.detach().clone(); }

    /// Writes the rows [n, d] of all ranks, in rank order, over the oldest ones; no gradient. It goes on at the start when
    /// it meets the end (lightly drops what does not fit). Of more rows than the bank holds the last stay. Throws c10::Error
    /// for rows of another width.
    void enqueue(const torch::Tensor &rows, const dist::Ranks &ranks);

    /// For each row of z: [n, d] the bank's row of largest cosine, as it was enqueued, no gradient (NNCLR: Dwibedi et al.
    /// 2021, arXiv:2104.14548).
    torch::Tensor nearest(const torch::Tensor &z) const;

    void pretty_print(std::ostream &stream) const override;

    torch::Tensor bank;     ///< [size, d]
    torch::Tensor bank_ptr; ///< [1], the row that is written next
};
TORCH_MODULE(MemoryBank);

} // namespace parallax::nn
