// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/train/reporter.h"

#include "core/engine/dist/cudamodule.h"
#include "core/engine/train/failure.h"

#include <cmath>
#include <fstream>
#include <limits>

#include <unistd.h>

namespace parallax::train {

runs::Json figureToJson(double value)
{
    if (std::isfinite(value)) return value;
    if (std::isnan(value)) return "NaN";
    return value > 0 ? "Infinity" : "-Infinity";
}

double residentMb()
{
    std::ifstream statm("/proc/self/statm");
    std::int64_t total = 0, resident = 0;
    if (!(statm >> total >> resident)) return std::numeric_limits<double>::quiet_NaN();
    return double(resident) * double(sysconf(_SC_PAGESIZE)) / 1e6;
}

Reporter::Reporter(const runs::RunFolder &run, int rank) : m_writer(valueOrThrow(runs::EventWriter::open(run.events(rank))))
{
}

void Reporter::moveTo(std::int64_t step, double epoch)
{
    m_step = step;
    m_epoch = epoch;
}

void Reporter::write(const std::string &event, runs::Json fields)
{
    runs::Json line{{"step", m_step}, {"epoch", m_epoch}};
    line.update(fields);
    valueOrThrow(m_writer.write(event, std::move(line)));
}

void Reporter::warn(const std::string &text)
{
    if (m_warned.insert(text).second) log("warning", text);
}

void Reporter::error(const Error &error)
{
    write("error", {{"what", error.what}, {"where", error.where}, {"hint", error.hint}});
}

void Reporter::memory(torch::Device device, bool now)
{
    const auto time = std::chrono::steady_clock::now();
    if (!now && time - m_lastMemory < std::chrono::seconds(1)) return;
    m_lastMemory = time;
    runs::Json fields{{"rss_mb", figureToJson(residentMb())}};
    if (device.is_cuda()) {
        std::string error;
        dist::CudaMemory memory;
        if (const auto *cuda = dist::openCudaModule(error); cuda && cuda->memory(device.index(), &memory)) {
            fields["allocated_mb"] = double(memory.allocated) / 1e6;
            fields["reserved_mb"] = double(memory.reserved) / 1e6;
            fields["device_used_mb"] = double(memory.deviceUsed) / 1e6;
            fields["device_total_mb"] = double(memory.deviceTotal) / 1e6;
        }
    }
    write("memory", std::move(fields));
}

} // namespace parallax::train
