# libflotsam-scenes: scene files, run folders, surfaces and pictures, with everything that libflotsam holds, since it
# uses the inside of worlds. And the program.
find_package(PkgConfig REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(Threads REQUIRED)

file(GLOB_RECURSE scene_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/io/*.c ${CMAKE_SOURCE_DIR}/src/render/*.c
  ${CMAKE_SOURCE_DIR}/src/surface/*.c ${CMAKE_SOURCE_DIR}/src/geometry/mesh_io.c ${CMAKE_SOURCE_DIR}/src/geometry/mesh_obj.c
  ${CMAKE_SOURCE_DIR}/src/geometry/mesh_ply.c ${CMAKE_SOURCE_DIR}/src/geometry/mesh_stl.c)

# Mesh formats besides our own, if assimp is there.
pkg_check_modules(ASSIMP IMPORTED_TARGET assimp)
if(ASSIMP_FOUND)
  list(APPEND scene_sources ${CMAKE_SOURCE_DIR}/src/optional/mesh_assimp.c)
  list(APPEND scene_libraries PkgConfig::ASSIMP)
else()
  list(APPEND scene_sources ${CMAKE_SOURCE_DIR}/src/optional/mesh_no_assimp.c)
endif()

# Rays for pictures, if Embree is there.
if(FLOTSAM_PICTURES)
  find_package(embree 3 QUIET)
  set(embree_version 3)
  if(NOT embree_FOUND)
    find_package(embree 4 QUIET)
    set(embree_version 4)
  endif()
endif()
if(FLOTSAM_PICTURES AND embree_FOUND)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/render/tracer.c PROPERTIES
    COMPILE_DEFINITIONS FLO_EMBREE=${embree_version})
  list(APPEND scene_libraries embree)
  list(REMOVE_ITEM scene_sources ${CMAKE_SOURCE_DIR}/src/render/tracer_none.c)
else()
  message(STATUS "Embree is missing or not wanted: this build draws no pictures of scenes")
  list(REMOVE_ITEM scene_sources ${CMAKE_SOURCE_DIR}/src/render/tracer.c)
endif()

add_library(flotsam_scenes_objects OBJECT ${scene_sources})
target_include_directories(flotsam_scenes_objects PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
set(scene_libraries PkgConfig::JANSSON PkgConfig::EXPAT hdf5::hdf5 Threads::Threads PNG::PNG ZLIB::ZLIB
  OpenMP::OpenMP_C ${scene_libraries} m)
target_link_libraries(flotsam_scenes_objects PRIVATE flotsam_flags ${scene_libraries})
set_target_properties(flotsam_scenes_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)

add_library(flotsam_scenes_shared SHARED $<TARGET_OBJECTS:flotsam_scenes_objects> $<TARGET_OBJECTS:flotsam_objects>
  ${wide_objects})
target_include_directories(flotsam_scenes_shared PUBLIC
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(flotsam_scenes_shared PRIVATE $<BUILD_INTERFACE:flotsam_flags> ${scene_libraries})
set_target_properties(flotsam_scenes_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${abi_version}
  OUTPUT_NAME flotsam-scenes EXPORT_NAME flotsam-scenes)

# The same with all symbols in reach, and measurements of speed, for the program and the tests.
file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/bench/*.c)
add_library(flotsam_tools STATIC $<TARGET_OBJECTS:flotsam_scenes_objects> ${bench_sources})
target_include_directories(flotsam_tools PUBLIC ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(flotsam_tools PUBLIC flotsam_static flotsam_flags PkgConfig::JANSSON PRIVATE ${scene_libraries})

file(GLOB app_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/app/*.c)
add_executable(flotsam ${app_sources})
target_link_libraries(flotsam PRIVATE flotsam_tools flotsam_flags OpenMP::OpenMP_C m)
target_compile_definitions(flotsam PRIVATE FLOTSAM_SOURCE_SCENES="${CMAKE_SOURCE_DIR}/scenes")

# The manual page and the completions come from the program's own tables; it must be able to run here to print them.
if(NOT CMAKE_CROSSCOMPILING)
  function(print_by_program file)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${file} DEPENDS flotsam VERBATIM
      COMMAND $<TARGET_FILE:flotsam> ${ARGN} > ${CMAKE_BINARY_DIR}/${file})
  endfunction()
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share)
  print_by_program(share/flotsam.1 help --man)
  print_by_program(share/flotsam.bash completion bash)
  print_by_program(share/_flotsam completion zsh)
  add_custom_target(flotsam_pages ALL DEPENDS ${CMAKE_BINARY_DIR}/share/flotsam.1 ${CMAKE_BINARY_DIR}/share/flotsam.bash
    ${CMAKE_BINARY_DIR}/share/_flotsam)
endif()
