# The products of quantised weights keep their sums in registers: no product of bytes is followed by a store of its sum.
# What a benchmark would show as half the speed, without measuring time.
#   cmake -DPROGRAM=... -DNM=... -DOBJDUMP=... -P sums_in_registers.cmake
execute_process(COMMAND "${NM}" "${PROGRAM}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
# Twelve rows at once, of each type.
string(REGEX MATCHALL "_Z[A-Za-z0-9_]*N_AVX3_DL14quantised_tile[A-Za-z0-9_]*Li12E[A-Za-z0-9_]*" kernels "${symbols}")
list(REMOVE_DUPLICATES kernels)
list(LENGTH kernels count)
if(count LESS 6)
  message(FATAL_ERROR "${PROGRAM} has ${count} kernels of twelve rows; should be one for each type of quantised weights")
endif()
foreach(kernel IN LISTS kernels)
  execute_process(COMMAND "${OBJDUMP}" -d --no-show-raw-insn "--disassemble=${kernel}" "${PROGRAM}"
    OUTPUT_VARIABLE code COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "vpdpbusd " products "${code}")
  string(REGEX MATCHALL "vpdpbusd [^\n]*(%zmm[0-9]+)\n[^\n]*vmovdq[au][0-9]+ +%zmm[0-9]+,0x[0-9a-f]+\\(%rsp\\)" stored "${code}")
  list(LENGTH products all)
  list(LENGTH stored of_them)
  message(STATUS "${kernel}: ${all} products, ${of_them} stored")
  math(EXPR bound "${all} / 4")
  if(all LESS 12 OR of_them GREATER bound)
    message(FATAL_ERROR "${kernel} stores ${of_them} of ${all} sums; should keep them in registers")
  endif()
endforeach()
