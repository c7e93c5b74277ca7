# llama.cpp's Jinja engine and its converter from JSON schemas to grammars, compiled from its source tree: chat templates
# need all of Jinja, and the rest of llama.cpp's `common` is not wanted.
#
# A program that links us may have a llama.cpp of its own, `common` included. So the engine is compiled with hidden
# symbols, linked with the files of ours that use it into one object, and its symbols are made local there: nothing
# of it can be seen, or clash, outside.
set(dts_jinja_dir ${DTS_LLAMA_SOURCE_DIR}/common)
if(NOT EXISTS ${dts_jinja_dir}/jinja/runtime.h)
  message(FATAL_ERROR "DTS_LLAMA_SOURCE_DIR=${DTS_LLAMA_SOURCE_DIR}: no common/jinja there; "
    "it should be a source tree of llama.cpp v0.5.0.")
endif()

# dts_add_chat_templates(TARGET SOURCES...): the sources, which alone see those headers, and what they use.
function(dts_add_chat_templates target)
  add_library(dts_jinja OBJECT
    ${dts_jinja_dir}/jinja/caps.cpp
    ${dts_jinja_dir}/jinja/lexer.cpp
    ${dts_jinja_dir}/jinja/parser.cpp
    ${dts_jinja_dir}/jinja/runtime.cpp
    ${dts_jinja_dir}/jinja/string.cpp
    ${dts_jinja_dir}/jinja/value.cpp
    ${dts_jinja_dir}/json-schema-to-grammar.cpp
    ${dts_jinja_dir}/json-schema.cpp
    ${dts_jinja_dir}/json.cpp
    ${dts_jinja_dir}/trie.cpp
    ${dts_jinja_dir}/unicode.cpp)
  target_include_directories(dts_jinja SYSTEM PRIVATE ${dts_jinja_dir} ${DTS_LLAMA_SOURCE_DIR}/vendor)
  target_link_libraries(dts_jinja PRIVATE llama)
  target_compile_options(dts_jinja PRIVATE -w $<$<CONFIG:Release>:-O1>)
  set_target_properties(dts_jinja PROPERTIES CXX_CLANG_TIDY "" POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)

  add_library(dts_templates OBJECT ${ARGN})
  target_include_directories(dts_templates SYSTEM PRIVATE ${dts_jinja_dir})
  target_include_directories(dts_templates PRIVATE $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_features(dts_templates PRIVATE cxx_std_20)
  target_link_libraries(dts_templates PRIVATE dts_core dts_warnings fmt::fmt)

  # What std:: has one copy of in a program must stay weak in ours: "unique" symbols cannot be given twice. Not in a build
  # that is only for tools: clang's do not know the flag.
  foreach(objects dts_jinja dts_templates)
    target_compile_options(${objects} PRIVATE
      $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${DTS_TOGETHER}>>:-fno-gnu-unique>)
  endforeach()
  # GNU's tools whatever the compiler is: clang would choose lld, which cannot do this.
  find_program(DTS_SEALING_LINKER NAMES ld.bfd ld REQUIRED)
  find_program(DTS_SEALING_OBJCOPY NAMES objcopy REQUIRED)
  # *5jinja*: what std:: makes of Jinja's types by a template of its own is not always hidden with them.
  # --force-group-allocation: a group that is named after a symbol that has become local could not be told from the
  # program's own.
  set(sealed ${CMAKE_CURRENT_BINARY_DIR}/chat_templates.o)
  add_custom_command(OUTPUT ${sealed}
    COMMAND ${DTS_SEALING_LINKER} -r --force-group-allocation -o ${sealed}
      $<TARGET_OBJECTS:dts_templates> $<TARGET_OBJECTS:dts_jinja>
    COMMAND ${DTS_SEALING_OBJCOPY} --localize-hidden --wildcard --localize-symbol=*5jinja* ${sealed}
    DEPENDS dts_templates dts_jinja $<TARGET_OBJECTS:dts_templates> $<TARGET_OBJECTS:dts_jinja>
    COMMENT "Sealing the chat templates" COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${sealed} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE ${sealed})
endfunction()
