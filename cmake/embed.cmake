# mcp_embed(TARGET file...): each file becomes a string inside TARGET, rebuilt when the file changes. The
# string of templates/page.html.in is `extern const char mcp_embed_page_html[]`: the file's bytes, ended by a
# zero; ".in" is not part of the name. In CMakeLists.txt after mcp_folder(report ...), and in
# src/report/page.c:
#     mcp_embed(mcp_report src/report/templates/page.html.in src/report/templates/page.css)
#     #include "embedded.h"
if(CMAKE_SCRIPT_MODE_FILE) # the second half, at build time: -D IN=file -D OUT=file.c -D NAME=symbol
  file(READ ${IN} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}") # 16 bytes a line
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  file(WRITE ${OUT} "#include \"embedded.h\"\nconst char ${NAME}[] = {\n${bytes}0};\n")
  return()
endif()

set(MCP_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})

function(mcp_embed target)
  set(folder ${CMAKE_BINARY_DIR}/embed/${target})
  set(header "/* Files embedded by cmake/embed.cmake. */\n#pragma once\n")
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "\\.in$" "" name ${name})
    string(MAKE_C_IDENTIFIER mcp_embed_${name} name)
    get_filename_component(path ${file} ABSOLUTE)
    string(APPEND header "extern const char ${name}[];\n")
    add_custom_command(OUTPUT ${folder}/${name}.c
      COMMAND ${CMAKE_COMMAND} -D IN=${path} -D OUT=${folder}/${name}.c -D NAME=${name} -P ${MCP_EMBED_SCRIPT}
      DEPENDS ${path} ${MCP_EMBED_SCRIPT} VERBATIM)
    target_sources(${target} PRIVATE ${folder}/${name}.c)
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/embedded.h CONTENT "${header}" @ONLY)
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
