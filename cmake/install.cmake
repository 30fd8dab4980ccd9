# make install: the shared library, its headers, the command, the tasks, and what pkg-config and find_package need. The
# installed tree may be moved: nothing in it names the place it was installed to.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
target_include_directories(mcpilco INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS mcpilco EXPORT mcpilcoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS mcpilco_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/mcpilco DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY tasks DESTINATION ${CMAKE_INSTALL_DATADIR}/mcpilco)
install(FILES docs/mcpilco.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mcpilco)
install(EXPORT mcpilcoTargets NAMESPACE mcpilco:: DESTINATION ${package_dir})
file(WRITE ${CMAKE_BINARY_DIR}/mcpilcoConfig.cmake "include(\"\${CMAKE_CURRENT_LIST_DIR}/mcpilcoTargets.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mcpilcoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mcpilcoConfig.cmake ${CMAKE_BINARY_DIR}/mcpilcoConfigVersion.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH MCP_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file(cmake/mcpilco.pc.in mcpilco.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mcpilco.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
