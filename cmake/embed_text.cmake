# dts_embed_text(OUT HEADER SCOPE NAME FILE...): a rule that writes a C++ file with the text of the FILEs as NAME, a
# std::string_view that HEADER declares (SCOPE::NAME); OUT is that file. As a script it does the writing.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(dts_embed_text out header scope name)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DHEADER=${header} -DSCOPE=${scope} -DNAME=${name} "-DFILES=${ARGN}" -DOUTPUT=${output}
        -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      DEPENDS ${ARGN} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      COMMENT "Embedding ${name}" VERBATIM)
    set(${out} ${output} PARENT_SCOPE)
  endfunction()
  return()
endif()

set(text "")
foreach(file IN LISTS FILES)
  file(READ "${file}" part)
  string(APPEND text "${part}")
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/embed_text.cmake.
#include \"${HEADER}\"

namespace ${SCOPE} {

const std::string_view ${NAME} = R\"dts(${text})dts\";

}  // namespace ${SCOPE}
")
