/* ask MODEL QUESTION [OPTION=VALUE...]: the answer and its votes, through dts_c.h. MODEL is a GGUF file, or hf:ORG/REPO
 * with perhaps :QUANT behind it for one of the hub. Beside the options of decoding there are answer=FORM and
 * profile=FILE.
 *
 *   cc -std=c99 ask.c -ldts_c -o ask
 *   ./ask model.gguf "How many primes are below 50?" method=dts-greedy seed=1 answer=boxed */
#include <dts/dts_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Says what failed, frees it, and gives the exit code: 2 for a mistake of ours, 1 for the world's. 0: nothing failed.
 */
static int failed(dts_c_error* error) {
  int code;
  if (error == NULL) return 0;
  fprintf(stderr, "ask: %s\n", dts_c_error_text(error));
  code = dts_c_error_is_usage(error) ? 2 : 1;
  dts_c_error_free(error);
  return code;
}

static int watch(const dts_c_event* event, void* data) {
  int* branches = data;
  if (strcmp(event->type, "branch") == 0) ++*branches;
  return 0; /* go on */
}

static int show_download(const char* stage, double fraction, void* data) {
  int* last = data; /* percent that was said */
  int percent = (int)(100 * fraction);
  if (strcmp(stage, "download") == 0 && (percent >= *last + 10 || fraction >= 1)) {
    fprintf(stderr, "ask: %d%% downloaded\n", percent);
    *last = percent;
  }
  return 0; /* go on */
}

static int set_option(dts_c_question* question, const char* name, const char* value) {
  if (strcmp(name, "answer") == 0) return failed(dts_c_question_answer(question, value));
  if (strcmp(name, "profile") == 0) return failed(dts_c_question_profile(question, value));
  return failed(dts_c_question_set(question, name, value));
}

static int set_options(dts_c_question* question, int count, char** options) {
  int i;
  for (i = 0; i < count; ++i) {
    char* value = strchr(options[i], '=');
    int code;
    if (value == NULL) {
      fprintf(stderr, "ask: '%s' should be OPTION=VALUE\n", options[i]);
      return 2;
    }
    *value = '\0';
    code = set_option(question, options[i], value + 1);
    if (code != 0) return code;
  }
  return 0;
}

static int load(const char* name, dts_c_model** model) {
  dts_c_model_options options = {0};
  int last = 0;
  options.progress = show_download;
  options.progress_data = &last;
  if (strncmp(name, "hf:", 3) == 0) return failed(dts_c_model_load_hub(name + 3, NULL, &options, model));
  return failed(dts_c_model_load(name, &options, model));
}

static int ask(dts_c_model* model, const dts_c_question* question) {
  dts_c_result* result = NULL;
  int branches = 0;
  size_t i;
  int code = failed(dts_c_run(model, question, watch, &branches, &result));
  if (code != 0) return code;
  printf("%s: %s\n", dts_c_model_name(model), dts_c_result_text(result));
  for (i = 0; i < dts_c_result_vote_count(result); ++i) {
    printf("%s: %d votes\n", dts_c_result_vote_answer(result, i), dts_c_result_vote_votes(result, i));
  }
  if (*dts_c_result_disagreement(result) != '\0') printf("%s\n", dts_c_result_disagreement(result));
  printf("%d decisions, %ld of %ld tokens shared\n", branches,
         (long)(dts_c_result_branch_tokens(result) - dts_c_result_unique_tokens(result)),
         (long)dts_c_result_branch_tokens(result));
  dts_c_result_free(result);
  return 0;
}

int main(int argc, char** argv) {
  dts_c_model* model = NULL;
  dts_c_question* question = NULL;
  int code;
  if (argc < 3) {
    fprintf(stderr, "usage: ask MODEL QUESTION [OPTION=VALUE...]\n");
    return 2;
  }
  code = failed(dts_c_question_new(argv[2], &question));
  if (code == 0) code = set_options(question, argc - 3, argv + 3);
  if (code == 0) code = load(argv[1], &model);
  if (code == 0) code = ask(model, question);
  dts_c_question_free(question);
  dts_c_model_free(model);
  return code;
}
