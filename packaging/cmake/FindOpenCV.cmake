# SPDX-FileCopyrightText: Parallax contributors
# SPDX-License-Identifier: Apache-2.0
#
# The few OpenCV modules that Parallax uses, as imported targets opencv_<module>. OpenCV's own OpenCVConfig.cmake lies in
# Debian's libopencv-dev, which brings every module and their dependencies (VTK, HDF5 …) along; the modules' own -dev
# packages are enough here.
find_path(OpenCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4)
set(OpenCV_VERSION "")
if(OpenCV_INCLUDE_DIR)
  file(STRINGS "${OpenCV_INCLUDE_DIR}/opencv2/core/version.hpp" _lines REGEX "#define CV_VERSION_(MAJOR|MINOR|REVISION) ")
  string(REGEX REPLACE "[^0-9;]" "" _numbers "${_lines}")
  list(JOIN _numbers "." OpenCV_VERSION)
endif()
set(_libraries "")
foreach(_module ${OpenCV_FIND_COMPONENTS})
  find_library(OpenCV_${_module}_LIBRARY opencv_${_module})
  mark_as_advanced(OpenCV_${_module}_LIBRARY)
  list(APPEND _libraries OpenCV_${_module}_LIBRARY)
endforeach()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenCV REQUIRED_VARS OpenCV_INCLUDE_DIR ${_libraries} VERSION_VAR OpenCV_VERSION)
if(OpenCV_FOUND)
  foreach(_module ${OpenCV_FIND_COMPONENTS})
    if(NOT TARGET opencv_${_module})
      add_library(opencv_${_module} SHARED IMPORTED)
      set_target_properties(opencv_${_module} PROPERTIES IMPORTED_LOCATION "${OpenCV_${_module}_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${OpenCV_INCLUDE_DIR}")
    endif()
  endforeach()
endif()
mark_as_advanced(OpenCV_INCLUDE_DIR)
