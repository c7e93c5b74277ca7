// Everything an embedding program needs.
#pragma once

#include "dts/answer.h"
#include "dts/confidence.h"
#include "dts/distribution.h"
#include "dts/draw.h"
#include "dts/engine.h"
#include "dts/error.h"
#include "dts/llama.h"
#include "dts/method.h"
#include "dts/prediction.h"
#include "dts/rng.h"
#include "dts/scheduler.h"
#include "dts/search.h"
#include "dts/tree.h"
#include "dts/tree_file.h"
#include "dts/vocabulary.h"
#include "dts/vote.h"
