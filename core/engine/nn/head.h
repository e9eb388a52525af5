// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/nn/batchnorm.h"
#include "core/engine/nn/precision.h"

#include <torch/torch.h>

#include <optional>
#include <vector>

namespace parallax::nn {

enum class HeadNorm { None, Batch, BatchPlain, Layer }; ///< BatchPlain: without weight and bias of its own
enum class Activation { None, Relu, Gelu };

/// A linear layer of a head and what follows it.
struct HeadLayer {
    std::int64_t in = 0, out = 0;
    HeadNorm norm = HeadNorm::Batch;
    Activation activation = Activation::Relu;
    /// The linear layer's own bias. By default it has one only without norm, whose bias would double it.
    std::optional<bool> bias = {};
};

/// A multi-layer perceptron behind a backbone: [n, in] → [n, out]. Its parts are "layers.0", "layers.1", … in the state dict,
/// counting linear layers, norms and activations, as lightly names them.
class HeadImpl : public torch::nn::Module
{
public:
    explicit HeadImpl(const std::vector<HeadLayer> &layers);
    torch::Tensor forward(const torch::Tensor &x)
    {
        return inPrecision(x, [&] { return m_layers->forward(x); });
    }

private:
    torch::nn::Sequential m_layers;
};
TORCH_MODULE(Head);

/// The heads of the methods: `in`, `hidden` and `out` are widths, `layers` counts linear layers. Those with a choice of layers
/// throw c10::Error for fewer than 2.

/// SimCLR (Chen et al. 2020, arXiv:2002.05709): batch norm behind each layer, ReLU behind all but the last.
Head simclrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers = 2, bool batchNorm = true);

/// MoCo v2 (Chen et al. 2020, arXiv:2003.04297) without batch norm; MoCo v3 (arXiv:2104.02057): 3 layers with it. DenseCL's
/// (arXiv:2011.09157) is that of MoCo v2.
Head mocoProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers = 2, bool batchNorm = false);

/// NNCLR (Dwibedi et al. 2021, arXiv:2104.14548): 3 layers, batch norm behind each.
Head nnclrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out);

/// Linear, batch norm, ReLU, linear: the projection heads of BYOL (Grill et al. 2020, arXiv:2006.07733), SwAV (Caron et al.
/// 2020, arXiv:2006.09882) and TiCo (Zhu et al. 2022, arXiv:2206.10698); the prediction heads of BYOL, SimSiam, NNCLR, SMoG.
Head twoLayerHead(std::int64_t in, std::int64_t hidden, std::int64_t out);

/// VICReg (Bardes et al. 2022, arXiv:2105.04906), and with 3 layers Barlow Twins (Zbontar et al. 2021, arXiv:2103.03230): batch
/// norm and ReLU behind all layers but the last.
Head vicregProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int layers = 3);

/// VICRegL's head for local features (Bardes et al. 2022, arXiv:2210.01571): 3 layers with layer norm, for [..., in].
Head vicreglLocalProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out);

/// SimSiam (Chen and He 2021, arXiv:2011.10566): 3 layers, batch norm behind each, the last one without weight and bias.
Head simsiamProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out);

/// SMoG (Pang et al. 2022, arXiv:2207.06167): 2 layers, batch norm behind each, the last one without weight and bias.
Head smogProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out);

/// MSN (Assran et al. 2022, arXiv:2204.07141): 3 layers with batch norm and GELU.
Head msnProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out);

/// MMCR (Yerxa et al. 2023, arXiv:2303.03307): `hiddenLayers` layers with ReLU, then one without; `bias` holds for all.
Head mmcrProjectionHead(std::int64_t in, std::int64_t hidden, std::int64_t out, int hiddenLayers = 2, bool batchNorm = true,
                        bool bias = false);

} // namespace parallax::nn
