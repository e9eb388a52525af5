// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/losses/dino.h"
#include "core/engine/methods/fields.h"
#include "core/engine/methods/parts.h"
#include "core/engine/nn/dinohead.h"
#include "core/engine/nn/ema.h"

#include <cmath>

namespace parallax::methods {

namespace {

struct DinoConfig : MultiCrop {
    std::int64_t outputs = 2048;
    double studentTemperature = 0.1, teacherTemperature = 0.04, warmupTeacherTemperature = 0.04;
    std::int64_t warmupTeacherEpochs = 0;
    double centerMomentum = 0.9, momentum = 0.99, momentumEnd = 0.99;
    std::int64_t freezeEpochs = 1;
    std::int64_t hiddenDim = 2048, bottleneckDim = 256;
    bool batchNorm = true, normLastLayer = true;
    static void describe(config::Group<DinoConfig> &group)
    {
        group.field("outputs", &DinoConfig::outputs)
            .label("Outputs")
            .range(2, 1 << 20)
            .help("Prototypes that student and teacher distribute an image over.");
        group.field("student_temperature", &DinoConfig::studentTemperature)
            .label("Student temperature")
            .range(0.001, 10)
            .advanced()
            .help("Small values make the student's distribution sharp.");
        group.field("teacher_temperature", &DinoConfig::teacherTemperature)
            .label("Teacher temperature")
            .range(0.001, 10)
            .help("Sharper than the student's; too sharp and it collapses onto one output.");
        group.field("warmup_teacher_temperature", &DinoConfig::warmupTeacherTemperature)
            .label("Teacher temperature at first")
            .range(0.001, 10)
            .advanced()
            .help("The teacher's temperature goes from here to its own over the warm-up.");
        group.field("warmup_teacher_epochs", &DinoConfig::warmupTeacherEpochs)
            .label("Teacher warm-up")
            .unit("epochs")
            .atLeast(0)
            .advanced()
            .help("Epochs over which the teacher's temperature changes.");
        group.field("center_momentum", &DinoConfig::centerMomentum)
            .label("Centre momentum")
            .range(0, 1)
            .advanced()
            .help("Share of the moving mean of the teacher's outputs that stays at a step.");
        fields::momentum(group, &DinoConfig::momentum, &DinoConfig::momentumEnd);
        describeCrops(group);
        group.field("freeze_epochs", &DinoConfig::freezeEpochs)
            .label("Last layer still for")
            .unit("epochs")
            .atLeast(0)
            .advanced()
            .help("The student's last layer learns only after so many epochs.");
        fields::hiddenDim(group, &DinoConfig::hiddenDim).help("Width of the hidden layers of the head.");
        group.field("bottleneck_dim", &DinoConfig::bottleneckDim)
            .label("Bottleneck")
            .range(2, 65536)
            .advanced()
            .help("Width of the vectors that are compared with the prototypes.");
        group.field("batch_norm", &DinoConfig::batchNorm)
            .label("Batch norm in the head")
            .advanced()
            .help("For convolutional networks; transformers go without.");
        group.field("norm_last_layer", &DinoConfig::normLastLayer)
            .label("Prototypes of length 1")
            .advanced()
            .help("Steadier; without it a little better for large networks.");
    }
};

class DinoMethod final : public BackboneMethod
{
public:
    DinoMethod(const DinoConfig &config, const BackboneFactory &make)
        : BackboneMethod(make, "student_backbone"), m_config(config)
    {
        const nn::DinoHeadOptions options{.in = width(),
                                          .hidden = config.hiddenDim,
                                          .bottleneck = config.bottleneckDim,
                                          .out = config.outputs,
                                          .batchNorm = config.batchNorm,
                                          .normLastLayer = config.normLastLayer};
        m_head = register_module("student_head", nn::DinoHead(options));
        m_teacherBackbone = register_module("teacher_backbone", make());
        m_teacherHead = register_module("teacher_head", nn::DinoHead(options));
        nn::startMomentum(*m_backbone, *m_teacherBackbone);
        nn::startMomentum(*m_head, *m_teacherHead);
        losses::DinoOptions lossOptions(config.outputs);
        lossOptions.studentTemperature = config.studentTemperature;
        lossOptions.centerMomentum = config.centerMomentum;
        m_loss = register_module("loss", losses::Dino(lossOptions));
    }

    std::vector<data::ViewSpec> views(const data::AugmentConfig &augment) const override { return m_config.views(augment); }

    void beforeStep(const Context &context) override
    {
        const double momentum = momentumAt(m_config.momentum, m_config.momentumEnd, context);
        nn::updateMomentum(*m_backbone, *m_teacherBackbone, momentum);
        nn::updateMomentum(*m_head, *m_teacherHead, momentum);
    }

    StepResult step(const std::vector<torch::Tensor> &views, const Context &context) override
    {
        std::vector<torch::Tensor> teacher, student, embedded;
        {
            const torch::NoGradGuard noGrad;
            for (std::size_t v = 0; v < 2; ++v)
                teacher.push_back(m_teacherHead->forward(m_teacherBackbone->forward(views.at(v))));
        }
        for (const auto &view : views) {
            embedded.push_back(m_backbone->forward(view));
            student.push_back(m_head->forward(embedded.back()));
        }
        const double temperature = losses::dinoTeacherTemperature(
            m_config.warmupTeacherTemperature, m_config.teacherTemperature, m_config.warmupTeacherEpochs, context.epoch);
        const torch::Tensor loss = m_loss->forward(teacher, student, temperature, *context.ranks);
        return {loss, spread(embedded.at(0), embedded.at(1)), 0};
    }

    void afterBackward(const Context &context) override
    {
        if (context.epoch < m_config.freezeEpochs) m_head->dropLastLayerGradient();
    }

    double chanceLoss(std::int64_t) const override { return std::log(double(m_config.outputs)); }

private:
    DinoConfig m_config;
    nn::DinoHead m_head = nullptr, m_teacherHead = nullptr;
    nn::Backbone m_teacherBackbone;
    losses::Dino m_loss = nullptr;
};

const Registry::Entry entry(described<DinoMethod, DinoConfig>(
    {.name = "dino",
     .label = "DINO",
     .paper = "Caron et al. 2021, arXiv:2104.14294",
     .use = "A student learns a momentum teacher's soft labels from parts of the image. Made for vision transformers.",
     .gatherAdvice = "No effect: the centre is a mean over all ranks either way.",
     .syncBnAdvice = "For convolutional networks, and for the head where it has batch norm. Transformers have none."}));

} // namespace

} // namespace parallax::methods
