# make install: the shared library, its headers, the command, what pkg-config and find_package need, and,
# under share/mcpilco, pages, tasks and examples as they lie in the source tree, so that they find each other.
# The installed tree may be moved: nothing in it names the place it was installed to.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
target_include_directories(mcpilco INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS mcpilco EXPORT mcpilcoTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS mcpilco_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/mcpilco DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(share ${CMAKE_INSTALL_DATADIR}/mcpilco)
install(DIRECTORY tasks DESTINATION ${share})
install(DIRECTORY examples DESTINATION ${share} USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
install(DIRECTORY docs DESTINATION ${share} PATTERN mcpilco.1 EXCLUDE)
install(FILES README.md CONTRIBUTING.md CHANGELOG.md DESTINATION ${share})
install(FILES docs/mcpilco.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Installed pages call the command by its name and link to nothing that only the source tree has.
install(CODE "
  file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${share}/*.md\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${share}/docs/*.md\")
  foreach(page \${pages})
    execute_process(COMMAND sed -E -i -e \"s#build/mcpilco#mcpilco#g\"
      -e \"s#\\\\[([^]]*)\\\\]\\\\(\\\\.\\\\./(src|experiments|tests)[^)]*\\\\)#\\\\1#g\" \${page})
  endforeach()")

# Completions and the schema, printed by the command itself.
set(printed ${CMAKE_BINARY_DIR}/printed)
set(to_bash bash-completion/completions/mcpilco)
set(to_zsh zsh/site-functions/_mcpilco)
set(to_fish fish/vendor_completions.d/mcpilco.fish)
file(MAKE_DIRECTORY ${printed})
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${printed}/completion.${shell} DEPENDS mcpilco_cli
    COMMAND mcpilco_cli help completion ${shell} > ${printed}/completion.${shell})
  list(APPEND printed_files ${printed}/completion.${shell})
  get_filename_component(folder ${to_${shell}} DIRECTORY)
  get_filename_component(name ${to_${shell}} NAME)
  install(FILES ${printed}/completion.${shell} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name})
endforeach()
add_custom_command(OUTPUT ${printed}/task.schema.json DEPENDS mcpilco_cli
  COMMAND mcpilco_cli help task --schema > ${printed}/task.schema.json)
add_custom_target(mcpilco_printed ALL DEPENDS ${printed_files} ${printed}/task.schema.json)
install(FILES ${printed}/task.schema.json DESTINATION ${share})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mcpilco)
install(EXPORT mcpilcoTargets NAMESPACE mcpilco:: DESTINATION ${package_dir})
file(WRITE ${CMAKE_BINARY_DIR}/mcpilcoConfig.cmake
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/mcpilcoTargets.cmake\")\n")
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mcpilcoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mcpilcoConfig.cmake ${CMAKE_BINARY_DIR}/mcpilcoConfigVersion.cmake
  DESTINATION ${package_dir})

file(RELATIVE_PATH MCP_PC_PREFIX /x/${CMAKE_INSTALL_LIBDIR}/pkgconfig /x)
configure_file(cmake/mcpilco.pc.in mcpilco.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/mcpilco.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
