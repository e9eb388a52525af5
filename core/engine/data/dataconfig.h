// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/config/group.h"

namespace parallax::data {

struct DataConfig {
    std::string source;
    std::string valSource;
    double valFraction = 0.1;
    std::int64_t limit = 0;
    std::int64_t threads = 0;
    std::int64_t prefetch = 2;
    std::string cache = "memory";
    double cacheSize = 20;
    static void describe(config::Group<DataConfig> &group)
    {
        group.field("source", &DataConfig::source)
            .label("Images")
            .hint("path")
            .help(
                "A folder of images (class subfolders, or flat and unlabelled); the name of a data set that `parallax data "
                "get` or a package of the system has installed, such as cifar10 or fashion-mnist (a folder of that name is "
                "written ./cifar10); a .csv list (columns path, label, split); "
                "IDX files; CIFAR-10, CIFAR-100 or STL-10 as published, unpacked or .tar.gz (STL-10's unlabeled_X.bin: its "
                "images and the labelled ones); a .npy array of uint8, uint16 (divided by 257) or float32 (0 to 1), labels "
                "in name_labels.npy; or tar archives in webdataset's form (one, a folder, or a-{000..012}.tar). Image files "
                "are "
                "read by content, not by name (JPEG, PNG, WebP, BMP, TIFF, GIF, PNM): upright by EXIF, first frame or page "
                "only, transparency dropped, at most 268 megapixels. JPEG pictures that take over 1 MiB "
                "are decoded at 1/2, 1/4 or 1/8 of their size where even the smallest crop then has pixels for its view.");
        group.field("val_source", &DataConfig::valSource)
            .label("Evaluation images")
            .hint("path")
            .advanced()
            .help(
                "Labelled images to measure kNN accuracy on. Empty: the test part of a published data set, a val/ or test/ "
                "folder beside train/, else a seeded fraction of the images that is left out of training.");
        group.field("val_fraction", &DataConfig::valFraction)
            .label("Evaluation fraction")
            .range(0, 0.5)
            .advanced()
            .help("Part of the images kept for evaluation when the data brings none.");
        group.field("limit", &DataConfig::limit)
            .label("At most")
            .unit("images")
            .atLeast(0)
            .help("Train on only so many images, drawn evenly over the data by the seed. 0: all.");
        group.field("threads", &DataConfig::threads)
            .label("Loader threads")
            .unit("per rank")
            .range(0, 256)
            .advanced()
            .help("Threads that decode and augment. 0: the machine's cores divided by the ranks.");
        group.field("prefetch", &DataConfig::prefetch)
            .label("Prefetch")
            .unit("batches")
            .range(1, 64)
            .advanced()
            .help("Finished batches that may wait for the network.");
        group.field("cache", &DataConfig::cache)
            .label("Keep decoded images")
            .advanced()
            .choice("memory", "In memory", "small images, up to a quarter of the free memory")
            .choice("disk", "On disk", "for all ranks and later runs; faster where decoding is slower than the disk")
            .choice("off", "No", "decode every image in every epoch")
            .help(
                "Where decoded images wait for the next epoch. On disk they lie below ~/.cache/parallax/decoded, large JPEG "
                "pictures as small as views allow, and are decoded again when their file changes. No view depends on it.");
        group.field("cache_size", &DataConfig::cacheSize)
            .label("Cache on disk")
            .unit("GB")
            .range(0.1, 100'000)
            .when({"data.cache", "disk"})
            .advanced()
            .help("What the decoded images of all data sets may take on disk; those of data sets that were not used for "
                  "longest go "
                  "first. Half of the free space is never touched.");
    }
};

struct AugmentConfig {
    std::int64_t size = 32;
    double cropMin = 0.08, cropMax = 1;
    std::string interpolation = "bilinear";
    double flipP = 0.5;
    double jitterP = 0.8, brightness = 0.4, contrast = 0.4, saturation = 0.4, hue = 0.1;
    double grayP = 0.2;
    double blurP = 0, blurSigmaMin = 0.1, blurSigmaMax = 2;
    double secondBlurP = -1;
    double solarizeP = 0;
    std::vector<double> mean{0.485, 0.456, 0.406}, std{0.229, 0.224, 0.225};
    bool onDevice = false;
    static void describe(config::Group<AugmentConfig> &group)
    {
        group.field("size", &AugmentConfig::size)
            .label("View size")
            .unit("px")
            .range(8, 1024)
            .help("Height and width of a view after the random crop.");
        group.field("crop_min", &AugmentConfig::cropMin)
            .label("Smallest crop")
            .unit("of the area")
            .range(0.01, 1)
            .hint("slider")
            .help("Smallest share of the image's area that a random resized crop takes.");
        group.field("crop_max", &AugmentConfig::cropMax)
            .label("Largest crop")
            .unit("of the area")
            .range(0.01, 1)
            .hint("slider")
            .advanced()
            .help("Largest share of the image's area that a random resized crop takes.");
        group.field("interpolation", &AugmentConfig::interpolation)
            .label("Interpolation")
            .choice("bilinear", "Bilinear", "as most published augmentations have it")
            .choice("bicubic", "Bicubic", "sharper, as with DINO")
            .advanced()
            .help("How a random resized crop is scaled to the view; where it shrinks, without aliasing.");
        group.field("flip_p", &AugmentConfig::flipP)
            .label("Flip probability")
            .range(0, 1)
            .hint("slider")
            .advanced()
            .help("Probability of a horizontal flip.");
        group.field("jitter_p", &AugmentConfig::jitterP)
            .label("Colour jitter probability")
            .range(0, 1)
            .hint("slider")
            .help("Probability that brightness, contrast, saturation and hue change, in random order.");
        group.field("brightness", &AugmentConfig::brightness)
            .label("Brightness")
            .range(0, 2)
            .hint("slider")
            .advanced()
            .help("Largest change of brightness: factor from 1 - b to 1 + b.");
        group.field("contrast", &AugmentConfig::contrast)
            .label("Contrast")
            .range(0, 2)
            .hint("slider")
            .advanced()
            .help("Largest change of contrast.");
        group.field("saturation", &AugmentConfig::saturation)
            .label("Saturation")
            .range(0, 2)
            .hint("slider")
            .advanced()
            .help("Largest change of saturation.");
        group.field("hue", &AugmentConfig::hue)
            .label("Hue")
            .unit("of the circle")
            .range(0, 0.5)
            .hint("slider")
            .advanced()
            .help("Largest turn of the hue.");
        group.field("gray_p", &AugmentConfig::grayP)
            .label("Grayscale probability")
            .range(0, 1)
            .hint("slider")
            .advanced()
            .help("Probability that a view loses its colour.");
        group.field("blur_p", &AugmentConfig::blurP)
            .label("Blur probability")
            .range(0, 1)
            .hint("slider")
            .help("Probability of a Gaussian blur. Images of 32 px are better off without.");
        group.field("blur_sigma_min", &AugmentConfig::blurSigmaMin)
            .label("Smallest blur")
            .unit("px")
            .range(0, 100)
            .advanced()
            .help("Smallest standard deviation of the blur.");
        group.field("blur_sigma_max", &AugmentConfig::blurSigmaMax)
            .label("Largest blur")
            .unit("px")
            .range(0, 100)
            .advanced()
            .help("Largest standard deviation of the blur.");
        group.field("second_blur_p", &AugmentConfig::secondBlurP)
            .label("Blur probability of the second view")
            .range(-1, 1)
            .advanced()
            .help("Where it differs from the first view's. Below 0: the same.");
        group.field("solarize_p", &AugmentConfig::solarizeP)
            .label("Solarise probability of the second view")
            .range(0, 1)
            .advanced()
            .help("Probability that bright values of the second view are inverted.");
        group.field("mean", &AugmentConfig::mean)
            .label("Mean")
            .range(0, 1)
            .advanced()
            .help("Subtracted from each channel, of 0..1. One value, or one a channel. Default: ImageNet's.");
        group.field("std", &AugmentConfig::std)
            .label("Standard deviation")
            .above(0)
            .advanced()
            .help("Each channel is divided by it. Default: ImageNet's.");
        group.field("on_device", &AugmentConfig::onDevice)
            .label("Augment on the device")
            .advanced()
            .help(
                "Loader threads only read the images; crops, colours and blur are computed on the training device. For GPUs "
                "that wait for their data. The same draws, and the same pixels but for rounding.");
    }
};

} // namespace parallax::data
