// SPDX-FileCopyrightText: Parallax contributors
// SPDX-License-Identifier: Apache-2.0
#include "core/engine/dist/cudamodule.h"

#include <torch/torch.h>

#include <QTest>

#include <dlfcn.h>

/// The module opens on a machine with or without a GPU and says in words what it found.
class CudaModule : public QObject
{
    Q_OBJECT

private:
    const parallax::dist::CudaInterface *m_cuda = nullptr;

private Q_SLOTS:
    void initTestCase()
    {
        void *module = dlopen(PARALLAX_BIN_DIR "/parallax-cuda.so", RTLD_NOW | RTLD_GLOBAL);
        QVERIFY2(module, dlerror());
        using Entry = const parallax::dist::CudaInterface *(*)();
        const auto entry = reinterpret_cast<Entry>(dlsym(module, parallax::dist::cudaInterfaceSymbol));
        QVERIFY(entry);
        m_cuda = entry();
    }

    void speaksTheWorkersVersion() { QCOMPARE(m_cuda->version, parallax::dist::cudaInterfaceVersion); }

    void bringsTheCudaBackend()
    {
        // Without a device PyTorch must name the missing driver or device, not "compiled without CUDA".
        if (m_cuda->deviceCount() > 0) {
            QCOMPARE(torch::ones({2}, torch::kCUDA).sum().item<float>(), 2.0F);
            return;
        }
        try {
            torch::ones({2}, torch::kCUDA);
            QFAIL("a tensor was made on a device that is not there");
        } catch (const std::exception &error) {
            const QString text = QString::fromUtf8(error.what());
            QVERIFY2(!text.contains("backend") || text.contains("driver"), error.what());
        }
    }

    void saysWhyThereIsNoDevice()
    {
        char text[256] = "?";
        m_cuda->problem(text, sizeof text);
        QCOMPARE(QByteArray(text).isEmpty(), m_cuda->deviceCount() > 0);
        char tiny[4] = "???";
        m_cuda->problem(tiny, sizeof tiny);
        QVERIFY(std::strlen(tiny) < sizeof tiny);
    }

    void memoryOfADevice()
    {
        parallax::dist::CudaMemory memory;
        const bool known = m_cuda->memory(0, &memory);
        QCOMPARE(known, m_cuda->deviceCount() > 0);
        if (known) QVERIFY(memory.deviceTotal > 0 && memory.deviceUsed <= memory.deviceTotal);
    }
};

QTEST_GUILESS_MAIN(CudaModule)
#include "tst_module.moc"
