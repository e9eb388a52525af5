// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Before a function whose loops are worth vector instructions: it is compiled for AVX-512, AVX2 and any x86-64 processor, and the
/// right one is chosen when the program is loaded. The bytes it makes are the same: every lane does the same operations in the same
/// order, and the build allows no fused multiply-add. Sanitizers run before that choice could be made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                    \
    !defined(__SANITIZE_THREAD__)
#define PARALLAX_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PARALLAX_VECTORISED
#endif

/// Belongs into the loops of its callers, with their instructions.
#define PARALLAX_INLINE inline __attribute__((always_inline))
