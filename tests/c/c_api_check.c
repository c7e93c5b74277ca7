/* What the example does not do: cancelling from a callback, conversations, stop strings, null where it must not be. */
#include <dts/dts_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "does not hold: %s\n", what);
  exit(1);
}

static void succeed(dts_c_error* error) {
  if (error != NULL) fprintf(stderr, "%s\n", dts_c_error_text(error));
  check(error == NULL, "no error");
}

static void refuse(dts_c_error* error, const char* expected, int usage) {
  check(error != NULL && strstr(dts_c_error_text(error), expected) != NULL, expected);
  check(dts_c_error_is_usage(error) == usage, "the kind of the error");
  dts_c_error_free(error);
}

struct seen {
  long tokens;
  int steps;
  int stop_at; /* 0: never */
};

static int watch(const dts_c_event* event, void* data) {
  struct seen* seen = data;
  seen->tokens += (long)event->grown_count;
  if (strcmp(event->type, "step") == 0) ++seen->steps;
  return seen->stop_at > 0 && seen->steps >= seen->stop_at;
}

static int stop_at_once(const char* stage, double fraction, void* data) {
  const char** seen = data;
  *seen = stage;
  return fraction >= 0;
}

int main(int argc, char** argv) {
  dts_c_model* model = NULL;
  dts_c_question* question = NULL;
  dts_c_result* result = NULL;
  dts_c_model_options options = {0};
  struct seen seen = {0, 0, 0};
  const char* text = NULL;
  const char* stage = "";
  check(argc == 2, "usage: c_api_check MODEL");
  check(strlen(dts_c_version()) > 0, "a version");

  options.parallel_branches = -1;
  refuse(dts_c_model_load(argv[1], &options, &model), "parallel_branches is", 1);
  refuse(dts_c_model_load(NULL, NULL, &model), "a pointer is null", 1);
  options.parallel_branches = 8;
  options.engine = "fast";
  refuse(dts_c_model_load(argv[1], &options, &model), "engine is 'fast': it must be one of auto, llama, native", 1);
  options.engine = "llama";
  options.progress = stop_at_once;
  options.progress_data = &stage;
  refuse(dts_c_model_load(argv[1], &options, &model), argv[1], 0);
  check(strcmp(stage, "load") == 0, "the stage");
  options.progress = NULL;
  refuse(dts_c_model_load_hub("nowhere", NULL, &options, &model), "ORG/REPO", 1);
  refuse(dts_c_model_load_hub(NULL, NULL, &options, &model), "a pointer is null", 1);
  options.threads = 1;
  succeed(dts_c_model_load(argv[1], &options, &model));

  refuse(dts_c_question_new("", &question), "the question is empty", 1);
  succeed(dts_c_question_new("Find the value of (66 - 36) x 8 - 14 + 86.", &question));
  succeed(dts_c_question_message(question, "system", "Be brief."));
  succeed(dts_c_question_set(question, "seed", "1"));
  refuse(dts_c_question_set(question, "tau_v", "wide"), "tau_v is 'wide'", 1);
  succeed(dts_c_run(model, question, watch, &seen, &result));
  check(strcmp(dts_c_result_answer(result), "312") == 0, "the answer");
  check(dts_c_result_complete(result) == 1, "complete");
  check(seen.tokens == dts_c_result_unique_tokens(result), "every token was told once");
  check(seen.steps == dts_c_result_steps(result), "every step was told once");
  check(strlen(dts_c_result_thinking(result)) > 0, "thinking");
  check(*dts_c_result_disagreement(result) == '\0', "some agree");
  check(dts_c_result_vote_answer(result, 1000) == NULL, "no such vote");
  succeed(dts_c_result_json(result, &text));
  check(text[0] == '{', "JSON");
  succeed(dts_c_result_svg(result, &text));
  check(strncmp(text, "<svg", 4) == 0, "SVG");
  dts_c_result_free(result);

  refuse(dts_c_question_answer(question, "round"), "answer is 'round'", 1);
  refuse(dts_c_question_profile(question, "/nowhere.toml"), "/nowhere.toml", 0);
  succeed(dts_c_question_answer(question, "boxed"));
  succeed(dts_c_run(model, question, NULL, NULL, &result));
  succeed(dts_c_result_json(result, &text));
  check(strstr(text, "within \\\\boxed{}") != NULL, "the form is asked for");
  dts_c_result_free(result);

  seen.stop_at = 5;
  seen.steps = 0;
  succeed(dts_c_question_set(question, "method", "standard"));
  succeed(dts_c_question_stop(question, "312"));
  succeed(dts_c_run(model, question, NULL, NULL, &result));
  check(strstr(dts_c_result_text(result), "312") == NULL, "the stop string is left out");
  dts_c_result_free(result);
  refuse(dts_c_run(model, NULL, NULL, NULL, &result), "a pointer is null", 1);

  succeed(dts_c_run(model, question, watch, &seen, &result));
  check(seen.steps == 5, "nothing is told after the callback has ended it");
  dts_c_result_free(result);
  dts_c_question_free(question);
  dts_c_model_free(model);
  dts_c_model_free(NULL);
  dts_c_error_free(NULL);
  return 0;
}
