# The program, and the parts only it needs (scene files, run folders, pictures), as a library so that tests reach them.
file(GLOB_RECURSE tool_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/io/*.c ${CMAKE_SOURCE_DIR}/src/render/*.c
  ${CMAKE_SOURCE_DIR}/src/bench/*.c)
add_library(flotsam_tools STATIC ${tool_sources})
target_include_directories(flotsam_tools PUBLIC ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(flotsam_tools PUBLIC flotsam_static flotsam_flags PkgConfig::JANSSON
  PRIVATE embree hdf5::hdf5 Threads::Threads PNG::PNG ZLIB::ZLIB OpenMP::OpenMP_C m)

file(GLOB app_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/app/*.c)
add_executable(flotsam ${app_sources})
target_link_libraries(flotsam PRIVATE flotsam_tools flotsam_flags OpenMP::OpenMP_C m)
target_compile_definitions(flotsam PRIVATE FLOTSAM_SOURCE_SCENES="${CMAKE_SOURCE_DIR}/scenes")
