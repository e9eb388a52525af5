// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/engine/methods/method.h"
#include "core/engine/nn/head.h"
#include "core/engine/nn/memorybank.h"

#include <torch/torch.h>

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

/// What several methods are made of.
namespace parallax::methods {

/// The views of methods with two: the same operations, but that the second one alone is solarised, and may be blurred with a
/// probability of its own.
std::vector<data::ViewSpec> twoViews(const data::AugmentConfig &augment);

/// Small crops beside the two large ones (SwAV: Caron et al. 2020, arXiv:2006.09882).
struct MultiCrop {
    std::int64_t localViews = 0, localSize = 16;
    double localCropMin = 0.05, localCropMax = 0.14;
    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const; ///< two large ones, then the small ones
    /// Declares the fields in the options of a method, which derive from this.
    template<class Options>
    static void describeCrops(config::Group<Options> &group)
    {
        // Converted first: a template does not take a base class's member for a member of Options.
        std::int64_t Options::*count = &MultiCrop::localViews, Options::*size = &MultiCrop::localSize;
        double Options::*smallest = &MultiCrop::localCropMin, Options::*largest = &MultiCrop::localCropMax;
        group.field("local_views", count)
            .label("Small views")
            .unit("an image")
            .range(0, 32)
            .help("Small crops beside the two large views: they cost little and help much on large images. 0: none.");
        group.field("local_size", size)
            .label("Small view size")
            .unit("px")
            .range(8, 1024)
            .advanced()
            .help("Height and width of a small view.");
        group.field("local_crop_min", smallest)
            .label("Smallest small crop")
            .unit("of the area")
            .range(0.01, 1)
            .advanced()
            .help("Smallest share of the image's area that a small view takes.");
        group.field("local_crop_max", largest)
            .label("Largest small crop")
            .unit("of the area")
            .range(0.01, 1)
            .advanced()
            .help("Largest share of the image's area that a small view takes.");
    }
};

/// What tells whether a representation still spreads out: standard deviation of the L2-normalised projections, mean over the
/// dimensions (1/√d when they fill the sphere, 0 when they have collapsed), and the mean cosine of true and of false pairs.
std::map<std::string, double> spread(const torch::Tensor &z0, const torch::Tensor &z1);

/// A method with one network whose features are of use.
class BackboneMethod : public Method
{
public:
    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return twoViews(augment); }
    torch::Tensor features(const torch::Tensor &images) override { return m_backbone->forward(images); }
    double chanceLoss(std::int64_t) const override { return std::numeric_limits<double>::quiet_NaN(); }
    std::shared_ptr<torch::nn::Module> backbone() const override { return m_backbone; }

protected:
    explicit BackboneMethod(const BackboneFactory &make, const std::string &name = "backbone");
    std::int64_t width() const { return m_backbone->features; }
    /// `configured`, or the width of the features where it is 0.
    std::int64_t orWidth(std::int64_t configured) const { return configured > 0 ? configured : width(); }

    nn::Backbone m_backbone;
};

/// Backbone and projection head.
class ProjectingMethod : public BackboneMethod
{
protected:
    using BackboneMethod::BackboneMethod;
    void setHead(nn::Head head) { m_head = register_module("projection_head", std::move(head)); }
    torch::Tensor project(const torch::Tensor &images) { return m_head->forward(m_backbone->forward(images)); }

    nn::Head m_head = nullptr;
};

/// The moving average's weight at a step: half a cosine from `start` to `end` over the run.
double momentumAt(double start, double end, const Context &context);

/// A method whose targets come from a moving average of backbone and projection head.
class MomentumMethod : public ProjectingMethod
{
protected:
    explicit MomentumMethod(const BackboneFactory &make) : ProjectingMethod(make), m_makeBackbone(make) { }
    /// Takes both heads, which are of one shape; the average starts as a copy of the network.
    void setHeads(nn::Head head, nn::Head average);
    void moveAverage(double momentum);
    torch::Tensor projectByAverage(const torch::Tensor &images);

    nn::Backbone m_averageBackbone;
    nn::Head m_averageHead = nullptr;

private:
    BackboneFactory m_makeBackbone; ///< for setHeads alone
};

/// `network` on images that were dealt out anew among the ranks for this one forward, so that batch norm's statistics do not
/// betray which images belong together (shuffled batch norm: He et al. 2020, arXiv:1911.05722). Nothing to do where batch norm
/// sees all ranks anyway.
torch::Tensor shuffled(const torch::Tensor &images, const Context &context,
                       const std::function<torch::Tensor(const torch::Tensor &)> &network);

/// Random numbers [n, …] of the global batch's rows, uniform in 0 … 1, of which this rank gets its own: the same for an image
/// whatever the number of ranks.
torch::Tensor randomRows(const torch::Tensor &like, std::int64_t n, std::int64_t columns, const dist::Ranks &all);

} // namespace parallax::methods
