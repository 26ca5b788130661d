# libflotsam: worlds. It needs the C library, libm and OpenMP's runtime only; reading files is the part of the other
# library, see program.cmake. The wide passes are compiled once per instruction set and chosen at run time.
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS
  ${CMAKE_SOURCE_DIR}/src/base/*.c ${CMAKE_SOURCE_DIR}/src/sph/*.c ${CMAKE_SOURCE_DIR}/src/geometry/*.c
  ${CMAKE_SOURCE_DIR}/src/bodies/*.c ${CMAKE_SOURCE_DIR}/src/solve/*.c ${CMAKE_SOURCE_DIR}/src/soft/*.c ${CMAKE_SOURCE_DIR}/src/state/*.c
  ${CMAKE_SOURCE_DIR}/src/coupling/*.c ${CMAKE_SOURCE_DIR}/src/world/*.c)
list(FILTER core_sources EXCLUDE REGEX "wide_[a-z_]*\\.c$")

list(FILTER core_sources EXCLUDE REGEX "/mesh_(io|obj|ply|stl)\\.c$")
file(GLOB wide_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/sph/wide_*.c ${CMAKE_SOURCE_DIR}/src/solve/wide_*.c)

function(add_wide_passes isa)
  add_library(wide_${isa} OBJECT ${wide_sources})
  target_compile_definitions(wide_${isa} PRIVATE FLO_ISA=${isa} FLO_SIMD_HEADER="base/simd_${isa}.h")
  target_compile_options(wide_${isa} PRIVATE ${ARGN} -Wno-psabi)
  target_include_directories(wide_${isa} PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(wide_${isa} PRIVATE flotsam_flags)
  set_target_properties(wide_${isa} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  list(APPEND wide_objects $<TARGET_OBJECTS:wide_${isa}>)
  set(wide_objects ${wide_objects} PARENT_SCOPE)
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_definitions(flotsam_flags INTERFACE FLO_HAS_AVX2)
  add_wide_passes(avx2 -mavx2 -mfma -mbmi2 -mpopcnt)
endif()
add_wide_passes(generic)

# The core as objects: once into the shared library, once (with all symbols in reach) into a static one for tests.
add_library(flotsam_objects OBJECT ${core_sources})
target_include_directories(flotsam_objects PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(flotsam_objects PRIVATE flotsam_flags OpenMP::OpenMP_C)
set_target_properties(flotsam_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)

# While the major version is 0, every minor version may change the binary interface; see docs/library.md.
set(abi_version ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(abi_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
foreach(kind SHARED STATIC)
  string(TOLOWER flotsam_${kind} target)
  add_library(${target} ${kind} $<TARGET_OBJECTS:flotsam_objects> ${wide_objects})
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:flotsam_flags> OpenMP::OpenMP_C m)
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${abi_version})
endforeach()
set_target_properties(flotsam_shared PROPERTIES OUTPUT_NAME flotsam EXPORT_NAME flotsam)
set_target_properties(flotsam_static PROPERTIES OUTPUT_NAME flotsam EXPORT_NAME flotsam_static)
