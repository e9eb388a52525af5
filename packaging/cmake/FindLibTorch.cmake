# SPDX-FileCopyrightText: Parallax contributors
# SPDX-License-Identifier: Apache-2.0
#
# Imported targets for the LibTorch inside PyPI's torch wheel or an unpacked LibTorch, without nvcc and without
# find_package(Torch), which demands nvcc when the wheel is a CUDA build.
#
#   LibTorch_ROOT   folder that holds include/ and lib/ (site-packages/torch); also read from $PARALLAX_TORCH_ROOT
#
#   LibTorch::torch        libtorch_cpu + libc10
#   LibTorch::torch_cuda   libtorch_cuda + libc10_cuda, NCCL and CUDA headers  (only when the CUDA packages of the
#                          full wheel lie beside it; LibTorch_CUDA_FOUND says so)
#   LibTorch_VERSION       as the wheel states it, such as 2.15.0+cu132
if(NOT LibTorch_ROOT AND DEFINED ENV{PARALLAX_TORCH_ROOT})
  set(LibTorch_ROOT "$ENV{PARALLAX_TORCH_ROOT}")
endif()
set(LibTorch_ROOT "${LibTorch_ROOT}" CACHE PATH "folder of the torch package: include/ and lib/ are below it")

find_path(LibTorch_INCLUDE_DIR torch/csrc/api/include/torch/torch.h
  PATHS "${LibTorch_ROOT}/include" NO_DEFAULT_PATH)
find_library(LibTorch_CPU_LIBRARY torch_cpu PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH)
find_library(LibTorch_C10_LIBRARY c10 PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH)

set(LibTorch_VERSION "")
foreach(_file "${LibTorch_ROOT}/version.py" "${LibTorch_ROOT}/build-version")
  if(EXISTS "${_file}" AND LibTorch_VERSION STREQUAL "")
    file(READ "${_file}" _text)
    if(_text MATCHES "([0-9]+\\.[0-9]+\\.[0-9]+[^'\n ]*)")
      set(LibTorch_VERSION "${CMAKE_MATCH_1}")
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch
  REQUIRED_VARS LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_INCLUDE_DIR
  VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run ./dev setup, or point PARALLAX_TORCH_ROOT at site-packages/torch or an unpacked LibTorch")

if(LibTorch_FOUND AND NOT TARGET LibTorch::torch)
  set(_includes "${LibTorch_INCLUDE_DIR}" "${LibTorch_INCLUDE_DIR}/torch/csrc/api/include")
  add_library(LibTorch::c10 SHARED IMPORTED)
  set_target_properties(LibTorch::c10 PROPERTIES IMPORTED_LOCATION "${LibTorch_C10_LIBRARY}")
  add_library(LibTorch::torch SHARED IMPORTED)
  set_target_properties(LibTorch::torch PROPERTIES
    IMPORTED_LOCATION "${LibTorch_CPU_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${_includes}"
    INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO"
    INTERFACE_LINK_LIBRARIES LibTorch::c10)
endif()

# The CUDA side: the wheel's own libraries plus the headers that the wheel's dependencies carry (nvidia/cu13, nvidia/nccl).
if(LibTorch_FOUND)
  find_library(LibTorch_CUDA_LIBRARY torch_cuda PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH)
  find_library(LibTorch_C10_CUDA_LIBRARY c10_cuda PATHS "${LibTorch_ROOT}/lib" NO_DEFAULT_PATH)
  file(GLOB _nvidia LIST_DIRECTORIES true "${LibTorch_ROOT}/../nvidia/*/include")
  find_path(LibTorch_CUDA_INCLUDE_DIR cuda_runtime_api.h
    PATHS ${_nvidia} "$ENV{CUDA_HOME}/include" /usr/local/cuda/include NO_DEFAULT_PATH)
  find_path(LibTorch_NCCL_INCLUDE_DIR nccl.h PATHS ${_nvidia} /usr/local/cuda/include /usr/include NO_DEFAULT_PATH)
  find_path(LibTorch_NVML_INCLUDE_DIR nvml.h PATHS ${_nvidia} "$ENV{CUDA_HOME}/include" /usr/local/cuda/include NO_DEFAULT_PATH)
  find_file(LibTorch_NCCL_LIBRARY NAMES libnccl.so.2 libnccl.so
    PATHS "${LibTorch_ROOT}/../nvidia/nccl/lib" /usr/lib/x86_64-linux-gnu NO_DEFAULT_PATH)
  find_file(LibTorch_CUDART_LIBRARY NAMES libcudart.so.13 libcudart.so.12 libcudart.so
    PATHS "${LibTorch_ROOT}/../nvidia/cu13/lib" "${LibTorch_ROOT}/lib" /usr/local/cuda/lib64 NO_DEFAULT_PATH)
  if(LibTorch_CUDA_LIBRARY AND LibTorch_C10_CUDA_LIBRARY AND LibTorch_CUDA_INCLUDE_DIR AND LibTorch_NCCL_INCLUDE_DIR
     AND LibTorch_NCCL_LIBRARY AND LibTorch_CUDART_LIBRARY)
    set(LibTorch_CUDA_FOUND TRUE)
    if(NOT TARGET LibTorch::torch_cuda)
      add_library(LibTorch::c10_cuda SHARED IMPORTED)
      set_target_properties(LibTorch::c10_cuda PROPERTIES IMPORTED_LOCATION "${LibTorch_C10_CUDA_LIBRARY}")
      add_library(LibTorch::cudart SHARED IMPORTED)
      set_target_properties(LibTorch::cudart PROPERTIES IMPORTED_LOCATION "${LibTorch_CUDART_LIBRARY}")
      add_library(LibTorch::torch_cuda SHARED IMPORTED)
      set_target_properties(LibTorch::torch_cuda PROPERTIES
        IMPORTED_LOCATION "${LibTorch_CUDA_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${LibTorch_CUDA_INCLUDE_DIR};${LibTorch_NCCL_INCLUDE_DIR};${LibTorch_NVML_INCLUDE_DIR}"
        INTERFACE_COMPILE_DEFINITIONS "USE_C10D_NCCL;USE_CUDA"
        INTERFACE_LINK_LIBRARIES "LibTorch::c10_cuda;LibTorch::torch")
    endif()
  else()
    set(LibTorch_CUDA_FOUND FALSE)
  endif()
endif()
mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_CPU_LIBRARY LibTorch_C10_LIBRARY LibTorch_CUDA_LIBRARY
  LibTorch_C10_CUDA_LIBRARY LibTorch_CUDA_INCLUDE_DIR LibTorch_NCCL_INCLUDE_DIR LibTorch_NCCL_LIBRARY
  LibTorch_NVML_INCLUDE_DIR LibTorch_CUDART_LIBRARY)
