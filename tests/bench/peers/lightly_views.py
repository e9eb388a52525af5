#!/usr/bin/env python3
# SPDX-FileCopyrightText: Parallax contributors
# SPDX-License-Identifier: Apache-2.0
"""Images a second of one core: Parallax beside lightly's transforms with torchvision and PIL.

    lightly_views.py PROGRAM FOLDER [--json] [--rounds N] [--seconds S]

PROGRAM is bench_views, FOLDER holds JPEG files. Both do the same work in one thread, in turn (theirs, ours, theirs, ours ...), so
that a machine that slows down slows both; CPU time is counted, not time on the clock; figures are medians over the rounds, also the
ratio's. lightly's files are in memory, Parallax reads its own from the disk. Exit status: 1 where a ratio lies below what is asked,
3 without torch, torchvision or lightly.
"""
import argparse
import glob
import io
import json
import statistics
import subprocess
import sys
import time

try:
    import numpy as np
    import torch
    from lightly.transforms import DINOTransform, SimCLRTransform
    from PIL import Image
except ImportError as missing:
    sys.stderr.write(f"lightly_views.py: {missing}\n")
    sys.exit(3)

BATCH = 32
# Work: what Parallax must at least be times as fast as; the work of lightly's that it is measured against: lightly keeps no
# decoded images, so its second epoch decodes like its first.
ASKED = {
    "arrays_32_simclr": (60, "arrays_32_simclr"),
    "jpeg_224_simclr": (5, "jpeg_224_simclr"),
    "decoded_224_simclr": (10, "jpeg_224_simclr"),
    "jpeg_multicrop_dino": (6, "jpeg_multicrop_dino"),
}


def lightlys_work(folder):
    """Of each work a function that makes the views of image i."""
    noise = np.random.default_rng(0)
    arrays = [Image.fromarray(noise.integers(0, 256, (32, 32, 3), dtype=np.uint8)) for _ in range(256)]
    blobs = [open(name, "rb").read() for name in sorted(glob.glob(folder + "/*.jp*g"))]
    small, large = SimCLRTransform(input_size=32, gaussian_blur=0.0), SimCLRTransform(input_size=224)
    crops = DINOTransform(global_crop_size=224, local_crop_size=96, n_local_views=6)

    def decoded(i):
        return Image.open(io.BytesIO(blobs[i % len(blobs)])).convert("RGB")

    return {
        "arrays_32_simclr": lambda i: small(arrays[i % len(arrays)]),
        "jpeg_224_simclr": lambda i: large(decoded(i)),
        "jpeg_multicrop_dino": lambda i: crops(decoded(i)),
    }


def images_per_second(views_of, seconds):
    """Batches of float32, a tensor for each view."""
    count, start, spent = 0, time.process_time(), 0.0
    while spent < seconds:
        images = [views_of(count + i) for i in range(BATCH)]
        batch = [torch.stack(views) for views in zip(*images)]
        assert batch[0].dtype == torch.float32
        count += BATCH
        spent = time.process_time() - start
    return count / spent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    theirs = lightlys_work(options.folder)
    program = subprocess.Popen([options.program, "serve", options.folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def our_rate(work):
        program.stdin.write(f"{work} {options.seconds}\n")
        program.stdin.flush()
        return float(program.stdout.readline())

    report, missed = [], False
    for work, (asked, against) in ASKED.items():
        images_per_second(theirs[against], 0.1)  # warm
        our_rate(work)
        pairs = [(images_per_second(theirs[against], options.seconds), our_rate(work)) for _ in range(options.rounds)]
        row = {
            "work": work,
            "parallax_images_per_s": statistics.median(ours for _, ours in pairs),
            "lightly_images_per_s": statistics.median(lightly for lightly, _ in pairs),
            "ratio": statistics.median(ours / lightly for lightly, ours in pairs),
            "ratio_lowest": min(ours / lightly for lightly, ours in pairs),
            "ratio_highest": max(ours / lightly for lightly, ours in pairs),
            "asked": asked,
        }
        row["holds"] = row["ratio"] >= asked
        missed |= not row["holds"]
        report.append(row)
        if not options.json:
            print(
                f"{work:22} {row['parallax_images_per_s']:9.0f} images/s, lightly {row['lightly_images_per_s']:7.1f}: "
                f"{row['ratio']:6.1f} times ({row['ratio_lowest']:.1f} to {row['ratio_highest']:.1f})  asked {asked:3} "
                f"{'ok' if row['holds'] else 'MISSED'}",
                flush=True,
            )
    program.stdin.close()
    program.wait()
    if options.json:
        print(json.dumps({"threads": 1, "rounds": options.rounds, "works": report}, indent=2))
    sys.exit(1 if missed else 0)


main()
