# llama.cpp's Jinja engine, compiled from its source tree: chat templates need all of Jinja, and the rest of llama.cpp's
# `common` is not wanted. Its objects become part of our library. Only chat_template.cpp
# and template_guard.cpp see its headers.
set(dts_jinja_dir ${DTS_LLAMA_SOURCE_DIR}/common)
if(NOT EXISTS ${dts_jinja_dir}/jinja/runtime.h)
  message(FATAL_ERROR "DTS_LLAMA_SOURCE_DIR=${DTS_LLAMA_SOURCE_DIR}: no common/jinja there; "
    "it should be a source tree of llama.cpp v0.5.0.")
endif()

add_library(dts_jinja OBJECT
  ${dts_jinja_dir}/jinja/caps.cpp
  ${dts_jinja_dir}/jinja/lexer.cpp
  ${dts_jinja_dir}/jinja/parser.cpp
  ${dts_jinja_dir}/jinja/runtime.cpp
  ${dts_jinja_dir}/jinja/string.cpp
  ${dts_jinja_dir}/jinja/value.cpp
  ${dts_jinja_dir}/json.cpp
  ${dts_jinja_dir}/unicode.cpp
)
target_include_directories(dts_jinja SYSTEM PRIVATE ${dts_jinja_dir} ${DTS_LLAMA_SOURCE_DIR}/vendor)
target_link_libraries(dts_jinja PRIVATE llama)
target_compile_options(dts_jinja PRIVATE -w)
set_target_properties(dts_jinja PROPERTIES CXX_CLANG_TIDY "" POSITION_INDEPENDENT_CODE ON)

set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/engine/llama/chat_template.cpp ${PROJECT_SOURCE_DIR}/src/engine/llama/template_guard.cpp PROPERTIES
  COMPILE_OPTIONS "-isystem;${dts_jinja_dir}")
