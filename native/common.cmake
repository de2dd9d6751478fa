# What the CPU engine and the CUDA engine are built alike with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

set(DCPSCOPE_NATIVE "${CMAKE_CURRENT_LIST_DIR}")
get_filename_component(DCPSCOPE_ROOT "${DCPSCOPE_NATIVE}/.." ABSOLUTE)
set(DCPSCOPE_OUTPUT_DIR "${DCPSCOPE_ROOT}/dist/native" CACHE PATH "Where the engine's libraries are written")

set(DCPSCOPE_WARNINGS -Wall -Wextra -Werror -Wno-psabi)

# Files of vector code in core/. Each is compiled once per instruction set into its own namespace. They include
# nothing that defines inline functions with external linkage.
set(DCPSCOPE_CORE_VECTOR_SOURCES
  ${DCPSCOPE_NATIVE}/core/generate.cpp ${DCPSCOPE_NATIVE}/core/quantise.cpp ${DCPSCOPE_NATIVE}/core/reference.cpp
  ${DCPSCOPE_NATIVE}/core/attend.cpp)
file(GLOB DCPSCOPE_CORE_SOURCES CONFIGURE_DEPENDS ${DCPSCOPE_NATIVE}/core/*.cpp)
list(REMOVE_ITEM DCPSCOPE_CORE_SOURCES ${DCPSCOPE_CORE_VECTOR_SOURCES})
# Generated data is the same on every machine only without fused multiply-add.
set_source_files_properties(${DCPSCOPE_NATIVE}/core/generate.cpp PROPERTIES COMPILE_OPTIONS -ffp-contract=off)

# What must be the same for the addon and the CUDA engine, which hand each other C++ objects.
file(GLOB DCPSCOPE_SHARED_HEADERS CONFIGURE_DEPENDS ${DCPSCOPE_NATIVE}/core/*.h ${DCPSCOPE_NATIVE}/cuda/library.h)
set(DCPSCOPE_INTERFACE "${CMAKE_CXX_COMPILER_ID}-${CMAKE_CXX_COMPILER_VERSION}")
foreach(header ${DCPSCOPE_SHARED_HEADERS})
  file(SHA256 ${header} hash)
  string(SHA256 DCPSCOPE_INTERFACE "${DCPSCOPE_INTERFACE} ${hash}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
endforeach()
set_source_files_properties(${DCPSCOPE_NATIVE}/node/cuda_library.cpp ${DCPSCOPE_NATIVE}/cuda/library.cpp
  PROPERTIES COMPILE_DEFINITIONS "DCPSCOPE_INTERFACE=\"${DCPSCOPE_INTERFACE}\"")
