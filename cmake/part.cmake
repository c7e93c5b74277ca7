# The parts of the program, each a static library of one folder below src/, and what each may include.
#
# A part's headers are seen through a folder of its own in the build tree, build/<preset>/parts/<part>/, that has links
# to the part's folder and to those headers of include/dts that belong to it. Whoever does not link a part has no include
# path to it: a wrong #include does not compile.

# dts_part(NAME ROOM text SOURCES ... [HEADERS dts/x.h ...]): the library dts_NAME, alias dts::NAME.
# ROOM is its folder below src/; HEADERS are the public headers that belong to it.
function(dts_part name)
  cmake_parse_arguments(PART "" "ROOM" "SOURCES;HEADERS" ${ARGN})
  set(target dts_${name})
  add_library(${target} STATIC ${PART_SOURCES})
  add_library(dts::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:dts_warnings>)

  set(seen ${PROJECT_BINARY_DIR}/parts/${name})
  file(REMOVE_RECURSE ${seen})  # a header that was moved away must not be found any longer
  cmake_path(GET PART_ROOM PARENT_PATH above)
  file(MAKE_DIRECTORY ${seen}/${above})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${PART_ROOM} ${seen}/${PART_ROOM} SYMBOLIC)
  if(PART_HEADERS)
    file(MAKE_DIRECTORY ${seen}/dts)
  endif()
  foreach(header IN LISTS PART_HEADERS)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/${header} ${seen}/${header} SYMBOLIC)
  endforeach()
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${seen}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_property(TARGET ${target} PROPERTY DTS_HEADERS "${PART_HEADERS}")
endfunction()

# dts_install_part(NAME): the library, its public headers and its targets file, as a component of the package.
function(dts_install_part name)
  set(dir ${CMAKE_INSTALL_LIBDIR}/cmake/dts)
  install(TARGETS dts_${name} EXPORT dts-${name}-targets)
  install(EXPORT dts-${name}-targets NAMESPACE dts:: DESTINATION ${dir})
  get_target_property(headers dts_${name} DTS_HEADERS)
  foreach(header IN LISTS headers)
    install(FILES ${PROJECT_SOURCE_DIR}/include/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/dts)
  endforeach()
endfunction()
