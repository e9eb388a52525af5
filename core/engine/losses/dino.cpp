// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/dino.h"

#include "core/engine/losses/center.h"
#include "core/engine/losses/tensors.h"

namespace parallax::losses {

DinoImpl::DinoImpl(const DinoOptions &options) : m_options(options)
{
    center = register_buffer("center", torch::zeros({1, 1, options.outputs}));
}

torch::Tensor DinoImpl::forward(const std::vector<torch::Tensor> &teacher, const std::vector<torch::Tensor> &student,
                                double teacherTemperature, const dist::Ranks &ranks)
{
    const std::size_t pairs = teacher.size() * student.size() - std::min(teacher.size(), student.size());
    TORCH_CHECK(!teacher.empty() && !student.empty() && pairs > 0, "DINO needs two different crops");
    for (const auto *crops : {&teacher, &student})
        for (const auto &crop : *crops)
            TORCH_CHECK(crop.dim() == 2 && crop.size(1) == m_options.outputs && crop.size(0) == student[0].size(0),
                        "DINO takes crops of shape [", student[0].size(0), ", ", m_options.outputs, "], not ", crop.sizes());

    const torch::Tensor middle = center.view({1, -1}).clone();
    std::vector<torch::Tensor> targets;
    for (const auto &crop : teacher) targets.push_back(((widened(crop.detach()) - middle) / teacherTemperature).softmax(1));
    torch::Tensor sum = torch::zeros({student[0].size(0)}, widened(student[0]).options());
    for (std::size_t s = 0; s < student.size(); ++s) {
        const torch::Tensor logits = widened(student[s]) / m_options.studentTemperature;
        for (std::size_t t = 0; t < teacher.size(); ++t)
            if (t != s) sum = sum + softCrossEntropy(targets[t], logits);
    }
    const torch::Tensor loss = rankMean(sum, ranks) / double(pairs);
    moveCenter(center, torch::cat(teacher).detach(), m_options.centerMomentum, ranks);
    return loss;
}

double dinoTeacherTemperature(double first, double last, std::int64_t epochs, std::int64_t epoch)
{
    if (epoch >= epochs) return float(last);
    return torch::linspace(first, last, epochs, torch::kFloat32)[epoch].item<float>();
}

} // namespace parallax::losses
