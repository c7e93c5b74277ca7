/* dts for every language that can call C: opaque handles, errors as values, events by callback.
 *
 * A function that can fail returns a dts_c_error*: null is success, anything else is yours to free. Strings are UTF-8
 * and end with a zero; those that are returned belong to the handle they were asked of and live as long as it does. A
 * null handle may be freed. examples/c/ask.c is a program.
 *
 * A model may be asked from any thread, and by several at once: their questions are decoded together. All other handles
 * belong to one thread at a time. */
#ifndef DTS_C_H
#define DTS_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dts_c_error dts_c_error;
typedef struct dts_c_model dts_c_model;
typedef struct dts_c_question dts_c_question;
typedef struct dts_c_result dts_c_result;

/* "0.1.0" */
const char* dts_c_version(void);

/* Errors: one line that says what is wrong, the value seen and what would be right. */
const char* dts_c_error_text(const dts_c_error* error);
/* 1: the caller's mistake, an option outside its range, say; 0: the world's, a missing file, say. */
int dts_c_error_is_usage(const dts_c_error* error);
void dts_c_error_free(dts_c_error* error);

/* Called while a model is downloaded ("download") and read ("load"), on the thread that asked for it, with 0..1.
 * Anything but 0 ends it; what was downloaded is kept, and the next call carries on from there. */
typedef int (*dts_c_progress)(const char* stage, double fraction, void* data);

/* Models. Zero in a field is its default. */
typedef struct {
  int threads;           /* 0: one a core */
  int cpu_only;          /* 1: no layers on a GPU */
  int parallel_branches; /* open at once, over all questions; 0: 48. A question that needs more has them */
  int context_length;    /* tokens a branch may hold; 0: what the questions need, or the model and memory allow */
  const char* engine; /* "auto", "llama", "native", "native-cpu" or "native-oracle"; null: auto, as `dts run` has it */
  dts_c_progress progress; /* null: none */
  void* progress_data;
} dts_c_model_options;

/* A GGUF file; of a split model its first part. `options` may be null. */
dts_c_error* dts_c_model_load(const char* path, const dts_c_model_options* options, dts_c_model** out);
/* A model of the Hugging Face hub, "ORG/REPO" or "ORG/REPO:QUANT", downloaded into the hub's own cache when it is not
 * there. `file` is one of the repository's; null: by the quant. HF_TOKEN, HF_ENDPOINT, HF_HOME, HF_HUB_CACHE and
 * HF_HUB_OFFLINE are read as the hub's own tools read them. */
dts_c_error* dts_c_model_load_hub(const char* name, const char* file, const dts_c_model_options* options,
                                  dts_c_model** out);
/* As a person would name it. */
const char* dts_c_model_name(const dts_c_model* model);
/* No question may be under way. */
void dts_c_model_free(dts_c_model* model);

/* Questions. */
dts_c_error* dts_c_question_new(const char* text, dts_c_question** out);
/* A message before the question: of "system", "user" or "assistant", in the order of the calls. */
dts_c_error* dts_c_question_message(dts_c_question* question, const char* role, const char* content);
/* An option by its name, "method", "seed", "max_tokens", "tau_v", ..., with its value as text. */
dts_c_error* dts_c_question_set(dts_c_question* question, const char* option, const char* value);
/* A text that ends a trajectory where its answer comes to it. */
dts_c_error* dts_c_question_stop(dts_c_question* question, const char* text);
/* In which form the answer is asked for, read and voted on: "auto", "boxed", "letter" or "text", as of `dts run`.
 * Without a call: the question as it is, and last lines vote. */
dts_c_error* dts_c_question_answer(dts_c_question* question, const char* form);
/* What a profile of `dts calibrate` sets; later calls of dts_c_question_set() count before it. */
dts_c_error* dts_c_question_profile(dts_c_question* question, const char* path);
void dts_c_question_free(dts_c_question* question);

/* Events. All pointers are valid during the callback only. */
typedef struct {
  int32_t segment;
  int32_t token;
  const char* text; /* its bytes: a character may span several tokens */
  size_t text_size; /* bytes; the text may hold a zero */
  float logprob;
  float entropy;    /* H, nats */
  float varentropy; /* VE, nats^2 */
} dts_c_token;

typedef struct {
  const char* type; /* "prefill", "step", "branch", "finish", "exhaust", "retire", "done" */
  int32_t step;
  int32_t segment; /* branch: the one that split; finish, exhaust, retire: the leaf; else -1 */
  int32_t live;
  int32_t finished;
  int64_t tokens;           /* prefill: of the prompt so far; else: in the tree */
  const char* answer;       /* finish: what the trajectory votes for; else empty */
  const dts_c_token* grown; /* step: the tokens it added */
  size_t grown_count;
} dts_c_event;

/* Called on the thread that called dts_c_run(). Anything but 0 ends the search with what it has. */
typedef int (*dts_c_callback)(const dts_c_event* event, void* data);

/* Decodes a question and waits for the end. `callback` may be null. The result is the caller's to free. */
dts_c_error* dts_c_run(dts_c_model* model, const dts_c_question* question, dts_c_callback callback, void* data,
                       dts_c_result** out);

/* Results. */
/* What the winner answered, normalised; empty: nothing finished. */
const char* dts_c_result_answer(const dts_c_result* result);
/* What the winner wrote after its thinking; without a winner, the best trajectory as far as it got. */
const char* dts_c_result_text(const dts_c_result* result);
const char* dts_c_result_thinking(const dts_c_result* result);
/* Why the search stopped: "enough-finished", "cancelled", ... */
const char* dts_c_result_reason(const dts_c_result* result);
/* 1: it ended as its method intends, not by a budget or a cancellation. */
int dts_c_result_complete(const dts_c_result* result);
/* The answers there were, the winning one first. */
size_t dts_c_result_vote_count(const dts_c_result* result);
const char* dts_c_result_vote_answer(const dts_c_result* result, size_t index); /* null: there is no such vote */
int dts_c_result_vote_votes(const dts_c_result* result, size_t index);
/* "no two agree: the first to finish was taken"; empty: some do, or there is nothing to agree on. */
const char* dts_c_result_disagreement(const dts_c_result* result);
int64_t dts_c_result_unique_tokens(const dts_c_result* result); /* in the tree */
int64_t dts_c_result_branch_tokens(const dts_c_result* result); /* as if nothing were shared */
int64_t dts_c_result_steps(const dts_c_result* result);
/* The whole tree: the tree file's JSON (docs/tree-file.md), and a picture. */
dts_c_error* dts_c_result_json(dts_c_result* result, const char** out);
dts_c_error* dts_c_result_svg(dts_c_result* result, const char** out);
void dts_c_result_free(dts_c_result* result);

#ifdef __cplusplus
}
#endif

#endif
