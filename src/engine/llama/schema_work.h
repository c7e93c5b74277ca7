// What llama.cpp's converter would do with a schema, counted before it is called.
#pragma once

#include "engine/llama/schema_json.h"

namespace dts {

// `plain`: of plain_schema(). Throws dts::Error in one line when the converter would take more than some tenths of a
// second. It writes a rule for every optional property that may follow another, and looks each of them up: 700 of them
// in one object took it 3.5 s, 1,500 took 34. It counts names up one by one where they differ in signs only, copies
// all its rules for every pattern, and names every rule by all that is around it.
void check_schema_work(const common_json& plain);

}  // namespace dts
