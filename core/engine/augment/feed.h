// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/result.h"
#include "core/engine/data/loader.h"

#include <torch/torch.h>

#include <memory>
#include <optional>
#include <vector>

namespace parallax::augment {

/// A loader's batches on the training device. Where `ahead` is set, a thread of its own copies the next batch, through pinned
/// memory and on a stream of its own where the device is CUDA, and makes its views there if the loader only draws them, while
/// the network works on the running one.
class Feed
{
public:
    struct Options {
        torch::Device device = torch::kCPU;
        torch::Dtype dtype = torch::kFloat32;
        torch::MemoryFormat layout = torch::MemoryFormat::Contiguous;
        bool ahead = false;
        bool drawOnly = false; ///< as data::Loader::Options
    };
    struct Views {
        std::vector<torch::Tensor> views; ///< each [n, 3, size, size]
        std::int64_t count() const { return views.front().size(0); }
    };

    /// `loader` outlives the feed and is asked by it alone.
    Feed(data::Loader &loader, std::vector<data::ViewSpec> specs, Options options);
    ~Feed();

    /// The next batch; nothing after the last. Errors: the loader's; what LibTorch throws in the thread is thrown here.
    Result<std::optional<Views>> next();
    /// Seconds that next() has waited so far: for the loader, or where a thread works ahead, for that.
    double waited() const { return m_waited; }

private:
    struct Ahead;
    Result<std::optional<Views>> load();
    std::vector<torch::Tensor> onDevice(const data::Batch &batch) const;

    data::Loader &m_loader;
    std::vector<data::ViewSpec> m_specs;
    Options m_options;
    data::Batch m_batch; ///< the last one; its memory is written to again
    double m_waited = 0;
    std::unique_ptr<Ahead> m_ahead;
};

} // namespace parallax::augment
