# Every tests/LABEL/test_*.c is one program with cmocka, every tests/cli/*.sh one script that gets the program's path,
# every tests/structure/*.sh one that gets the root of the sources.
# Exit code 77 means: skipped, for want of something optional.
set(FLOTSAM_TEST_LABELS "unit;equiv;physics;input;cli;consumer;structure" CACHE STRING "which kinds of tests to build and run")
set(test_root ${CMAKE_SOURCE_DIR}/tests)
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

# Tests run side by side, so each has one thread unless it asks for more, and idle threads sleep. What clang's OpenMP
# runtime keeps for its threads until the end is no leak of ours. Suppressions look at all callers that are known of a
# block: with more than the first, whatever leaks in a parallel region would be forgiven, too.
set(test_environment FLOTSAM_SOURCE=${CMAKE_SOURCE_DIR}
  OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive UBSAN_OPTIONS=print_stacktrace=1 ASAN_OPTIONS=malloc_context_size=2
  "LSAN_OPTIONS=suppressions='${test_root}/leaks.txt':print_suppressions=0")

# Under sanitizers some scripts do less: what costs much and would see nothing new.
if(FLOTSAM_SANITIZE)
  list(APPEND test_environment FLOTSAM_SLOW=1)
endif()

# The long ones begin first, so that no core is idle in the end.
set(costs physics 100 cli 10)

function(describe_test name label)
  set(cost 1)
  list(FIND costs ${label} at)
  if(at GREATER_EQUAL 0)
    math(EXPR at "${at} + 1")
    list(GET costs ${at} cost)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 600 COST ${cost}
    ENVIRONMENT "${test_environment}")
endfunction()

foreach(label unit equiv physics input)
  if(NOT label IN_LIST FLOTSAM_TEST_LABELS)
    continue()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${test_root}/${label}/test_*.c)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    set(target ${label}_${name})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src ${test_root})
    target_link_libraries(${target} PRIVATE flotsam_tools flotsam_flags PkgConfig::CMOCKA ZLIB::ZLIB PNG::PNG
      OpenMP::OpenMP_C m)
    add_test(NAME ${label}/${name} COMMAND ${target})
    describe_test(${label}/${name} ${label})
  endforeach()
endforeach()

# add_scripts(LABEL arguments...): every tests/LABEL/*.sh except common.sh, which the others share.
find_program(BASH_PROGRAM bash REQUIRED)
function(add_scripts label)
  if(NOT label IN_LIST FLOTSAM_TEST_LABELS)
    return()
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS ${test_root}/${label}/*.sh)
  list(FILTER scripts EXCLUDE REGEX "/common\\.sh$")
  foreach(script ${scripts})
    get_filename_component(name ${script} NAME_WE)
    add_test(NAME ${label}/${name} COMMAND ${BASH_PROGRAM} ${script} ${ARGN})
    describe_test(${label}/${name} ${label})
  endforeach()
endfunction()

add_scripts(cli $<TARGET_FILE:flotsam>)
add_scripts(consumer ${CMAKE_BINARY_DIR} ${CMAKE_COMMAND})
add_scripts(structure ${CMAKE_SOURCE_DIR})

# Fuzz targets need clang and -DFLOTSAM_SANITIZE=address,undefined. As a test each runs for a few seconds from its corpus;
# what it finds beyond goes into the build folder. Only readers tell the fuzzer which of their branches were taken: that
# would make the sweeps over particles three times as slow.
set(FLOTSAM_FUZZ_SECONDS 5 CACHE STRING "how long each fuzz target runs as a test")
if("fuzz" IN_LIST FLOTSAM_TEST_LABELS)
  file(GLOB readers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/io/*.c ${CMAKE_SOURCE_DIR}/src/geometry/mesh*.c)
  set_source_files_properties(${readers} PROPERTIES COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
  file(GLOB sources CONFIGURE_DEPENDS ${test_root}/fuzz/fuzz_*.c)
  foreach(source ${sources})
    get_filename_component(target ${source} NAME_WE)
    string(REPLACE "fuzz_" "" what ${target})
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${target} PRIVATE flotsam_tools flotsam_flags OpenMP::OpenMP_C m)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/corpus/${what})
    add_test(NAME fuzz/${what} COMMAND ${target} -max_total_time=${FLOTSAM_FUZZ_SECONDS} -timeout=30 -rss_limit_mb=3000
      -dict=${test_root}/fuzz/${what}.dict ${CMAKE_BINARY_DIR}/corpus/${what} ${test_root}/fuzz/corpus/${what})
    describe_test(fuzz/${what} fuzz)
    math(EXPR limit "${FLOTSAM_FUZZ_SECONDS} + 600")
    set_tests_properties(fuzz/${what} PROPERTIES TIMEOUT ${limit})
  endforeach()
endif()
