# What `cmake --install` puts where: library, headers, program, scenes, the import script for Blender, manual page,
# completions, and the two ways to find the library.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS flotsam_shared EXPORT flotsam-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS flotsam RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/flotsam DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY scenes/ DESTINATION ${CMAKE_INSTALL_DATADIR}/flotsam/scenes)
install(PROGRAMS tools/flotsam_blender.py DESTINATION ${CMAKE_INSTALL_DATADIR}/flotsam)
if(TARGET flotsam_pages)
  set(pages ${CMAKE_BINARY_DIR}/share)
  install(FILES ${pages}/flotsam.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/flotsam.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME flotsam)
  install(FILES ${pages}/_flotsam DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/flotsam)
install(EXPORT flotsam-targets NAMESPACE flotsam:: DESTINATION ${package_dir})
configure_package_config_file(cmake/flotsam-config.cmake.in flotsam-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(flotsam-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/flotsam-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/flotsam-config-version.cmake
  DESTINATION ${package_dir})

# Both ways find the tree relative to their own file, so that it may be moved.
file(RELATIVE_PATH include_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
configure_file(cmake/flotsam.pc.in flotsam.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/flotsam.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
