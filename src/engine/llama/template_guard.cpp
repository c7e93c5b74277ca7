#include "engine/llama/template_guard.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstdint>
#include <memory>
#include <stdexcept>

#include "engine/llama/jinja.h"

namespace dts {
namespace {

// A thread's stack has 8 MiB, or less where an embedding program says so; real templates take a few dozen KiB.
constexpr std::size_t kMaxStackBytes = std::size_t{1} << 19U;
constexpr std::int64_t kMaxRange = 100'000;
// What a round of a loop may leave allocated; it is the whole process that is looked at, so this is generous.
constexpr std::size_t kMaxHeapBytes = std::size_t{128} << 20U;

std::size_t allocated_bytes() {
#if defined(__GLIBC__)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

thread_local const TemplateBudget* current = nullptr;

const std::byte* stack_pointer() { return static_cast<const std::byte*>(__builtin_frame_address(0)); }

struct Check : jinja::statement {
  std::string type() const override { return "Check"; }
  jinja::value execute_impl(jinja::context&) const override {
    if (current != nullptr) current->check();
    return jinja::mk_val<jinja::value_undefined>();
  }
};

std::int64_t integer(const jinja::value& value) { return jinja::is_val<jinja::value_int>(value) ? value->as_int() : 0; }

// As the engine's own, which makes the whole list at once.
jinja::value bounded_range(const jinja::func_args& args) {
  for (std::size_t i = 0; i < args.count(); ++i) {
    const std::int64_t bound = integer(args.get_pos(i));
    if (bound > kMaxRange || bound < -kMaxRange) throw std::runtime_error("range() is too long for a chat template");
  }
  return jinja::global_builtins().at("range")(args);
}

struct BoundRange : jinja::statement {
  std::string type() const override { return "BoundRange"; }
  jinja::value execute_impl(jinja::context& context) const override {
    context.set_val("range", jinja::mk_val<jinja::value_func>("range", bounded_range));
    return jinja::mk_val<jinja::value_undefined>();
  }
};

void check_first(jinja::statements& body) { body.insert(body.begin(), std::make_unique<Check>()); }

void guard_all(jinja::statements& body);

void guard_one(jinja::statement* statement) {
  if (auto* loop = dynamic_cast<jinja::for_statement*>(statement)) {
    guard_all(loop->body);
    guard_all(loop->default_block);
    check_first(loop->body);
  } else if (auto* macro = dynamic_cast<jinja::macro_statement*>(statement)) {
    guard_all(macro->body);
    check_first(macro->body);
  } else if (auto* condition = dynamic_cast<jinja::if_statement*>(statement)) {
    guard_all(condition->body);
    guard_all(condition->alternate);
  } else if (auto* set = dynamic_cast<jinja::set_statement*>(statement)) {
    guard_all(set->body);
  } else if (auto* filter = dynamic_cast<jinja::filter_statement*>(statement)) {
    guard_all(filter->body);
  } else if (auto* call = dynamic_cast<jinja::call_statement*>(statement)) {
    guard_all(call->body);
    check_first(call->body);
  }
}

void guard_all(jinja::statements& body) {
  for (const jinja::statement_ptr& statement : body) guard_one(statement.get());
}

}  // namespace

void guard(jinja::program& program) {
  guard_all(program.body);
  program.body.insert(program.body.begin(), std::make_unique<BoundRange>());
}

TemplateBudget::TemplateBudget(double seconds)
    : outer_(current),
      deadline_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                       std::chrono::duration<double>(seconds))),
      stack_(stack_pointer()),
      heap_(allocated_bytes()) {
  current = this;
}

TemplateBudget::~TemplateBudget() { current = outer_; }

void TemplateBudget::check() const {
  const std::byte* here = stack_pointer();
  const std::size_t used =
      here < stack_ ? static_cast<std::size_t>(stack_ - here) : static_cast<std::size_t>(here - stack_);
  if (used > kMaxStackBytes) throw std::runtime_error("a macro calls itself too deeply");
  if (allocated_bytes() > heap_ + kMaxHeapBytes) throw std::runtime_error("it takes too much memory");
  if (std::chrono::steady_clock::now() > deadline_) throw std::runtime_error("it takes too long");
}

}  // namespace dts
