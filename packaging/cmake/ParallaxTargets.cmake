# SPDX-FileCopyrightText: Parallax contributors
# SPDX-License-Identifier: Apache-2.0
#
# How every target of the project is made. A library is a folder; its sources are the folder's .cpp files, found by
# glob, so that a new file needs no list.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# -ffp-contract=off: no fused multiply-add chosen by the compiler, so that a view has the same bytes on every machine.
# -Wno-restrict: GCC 12 finds an overlap in "text" + std::string that is not there (its bug 105651).
add_compile_options(-Wall -Wextra -Werror -Wno-missing-field-initializers -Wno-restrict -ffp-contract=off)
if(PARALLAX_SANITIZE)
  if(PARALLAX_ENGINE)
    message(FATAL_ERROR "PARALLAX_SANITIZE needs PARALLAX_ENGINE=OFF: LibTorch is not built with sanitizers")
  endif()
  # -O1: compiles in half the time. -Wno-maybe-uninitialized: GCC's own checks look like such uses to it.
  add_compile_options(-O1 -fsanitize=${PARALLAX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
                      -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${PARALLAX_SANITIZE})
endif()
if(PARALLAX_FUZZ)
  if(PARALLAX_ENGINE OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "PARALLAX_FUZZ needs PARALLAX_ENGINE=OFF and CMAKE_CXX_COMPILER=clang++")
  endif()
  # -Wno-error: warnings are judged by GCC, which knows others.
  add_compile_options(-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -Wno-error -Wno-unknown-warning-option)
  add_link_options(-fsanitize=address,undefined)
endif()
find_program(PARALLAX_CCACHE ccache)
if(PARALLAX_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${PARALLAX_CCACHE})
endif()

find_package(Threads REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(Qt6 6.4 REQUIRED COMPONENTS Core Network)
find_package(OpenCV 4.5 REQUIRED COMPONENTS core imgproc imgcodecs)
find_package(ZLIB REQUIRED)
find_package(CURL 7.85 REQUIRED) # parallax data get
find_package(LibArchive 3.6 REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED) # header only
find_library(JPEG_LIBRARY jpeg REQUIRED)
find_library(GIF_LIBRARY gif REQUIRED) # first frames that OpenCV does not read: GIF, animated WebP
find_library(WEBPDEMUX_LIBRARY webpdemux REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_path(HNSWLIB_INCLUDE_DIR hnswlib/hnswlib.h REQUIRED) # header only
if(PARALLAX_STUDIO)
  find_package(Qt6 6.4 REQUIRED COMPONENTS Widgets Svg DBus)
  find_path(QCustomPlot_INCLUDE_DIR qcustomplot.h REQUIRED)
  find_library(QCustomPlot_LIBRARY NAMES QCustomPlotQt6 qcustomplot-qt6 REQUIRED)
  add_library(QCustomPlot::qt6 SHARED IMPORTED)
  set_target_properties(QCustomPlot::qt6 PROPERTIES IMPORTED_LOCATION "${QCustomPlot_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${QCustomPlot_INCLUDE_DIR}" INTERFACE_COMPILE_DEFINITIONS QCUSTOMPLOT_USE_LIBRARY
    INTERFACE_LINK_LIBRARIES "Qt6::Widgets;Qt6::PrintSupport")
  find_package(Qt6 6.4 REQUIRED COMPONENTS PrintSupport)
endif()
if(PARALLAX_TESTS)
  find_package(Qt6 6.4 REQUIRED COMPONENTS Test)
endif()
if(PARALLAX_ENGINE)
  find_package(LibTorch REQUIRED)
  find_path(Gloo_INCLUDE_DIR gloo/context.h REQUIRED)
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
endif()

# parallax_library(NAME [QT] [DEPS targets...]): a static library of this folder's .cpp files.
function(parallax_library name)
  cmake_parse_arguments(ARG "QT" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "*.cpp" "*.h")
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  if(ARG_QT)
    set_target_properties(${name} PROPERTIES AUTOMOC ON AUTORCC ON)
    target_compile_definitions(${name} PRIVATE QT_NO_CAST_FROM_ASCII QT_NO_FOREACH)
  endif()
endfunction()

# parallax_torch_library(NAME [DEPS targets...]): the same, with LibTorch and the shared precompiled header.
function(parallax_torch_library name)
  parallax_library(${name} DEPS LibTorch::torch ${ARGN})
  parallax_use_torch_pch(${name})
endfunction()

# LibTorch's headers are not clean under -Wextra: they count as system headers. The precompiled header is made once.
function(parallax_use_torch_pch name)
  if(NOT TARGET parallax_torch_pch)
    file(WRITE "${CMAKE_BINARY_DIR}/torch_pch.cpp" "// carries the precompiled header\n")
    add_library(parallax_torch_pch STATIC "${CMAKE_BINARY_DIR}/torch_pch.cpp")
    target_link_libraries(parallax_torch_pch PUBLIC LibTorch::torch)
    target_precompile_headers(parallax_torch_pch PRIVATE <torch/torch.h>)
    target_compile_options(parallax_torch_pch PRIVATE -fpch-preprocess)
  endif()
  target_precompile_headers(${name} REUSE_FROM parallax_torch_pch)
  target_compile_options(${name} PRIVATE -fpch-preprocess) # lets ccache see through the precompiled header
  get_target_property(type ${name} TYPE)
  if(type STREQUAL EXECUTABLE) # the precompiled header is made with -fPIC, which -fPIE does not match
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIC)
  endif()
endfunction()
