#include "engine/llama/template_guard.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/thread_time.h"
#include "engine/llama/jinja.h"
#include "engine/llama/template_bounds.h"

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

// An expression whose value is looked at before anybody makes something of it.
struct Measured : jinja::expression {
  explicit Measured(jinja::statement_ptr&& inner) : of(std::move(inner)) { pos = of->pos; }
  std::string type() const override { return of->type(); }
  jinja::value execute_impl(jinja::context& context) const override {
    jinja::value value = of->execute(context);
    measure(value);
    return value;
  }
  void visit(jinja::context& context) const override { of->visit(context); }

  jinja::statement_ptr of;
};

struct Constant : jinja::expression {
  explicit Constant(jinja::value what) : value(std::move(what)) {}
  jinja::value execute_impl(jinja::context&) const override { return value; }
  jinja::value value;
};

// "a" * 1000000000000
struct Product : jinja::binary_expression {
  using jinja::binary_expression::binary_expression;
  jinja::value execute_impl(jinja::context& context) const override {
    const jinja::value a = left->execute(context);
    const jinja::value b = right->execute(context);
    for (const auto& [text, times] : {std::pair(a, b), std::pair(b, a)}) {
      if (!jinja::is_val<jinja::value_string>(text) || integer(times) <= 0) continue;
      // A copy takes a part of the string, too, however short it is.
      check_bytes(static_cast<double>(text->val_str.length() + sizeof(jinja::string_part)) *
                  static_cast<double>(integer(times)));
    }
    return jinja::binary_expression(op, std::make_unique<Constant>(a), std::make_unique<Constant>(b))
        .execute_impl(context);
  }
};

// {% set x.y = ... %}
struct SetMember : jinja::set_statement {
  using jinja::set_statement::set_statement;
  jinja::value execute_impl(jinja::context& context) const override {
    jinja::value result = jinja::set_statement::execute_impl(context);
    const auto* member = dynamic_cast<const jinja::member_expression*>(assignee.get());
    const jinja::value object = member->object->execute(context);
    try {
      measure(object);
      const auto* property = dynamic_cast<const jinja::identifier*>(member->property.get());
      if (current != nullptr) current->charge_nesting(measure(object->at(property->val)).depth);
    } catch (const std::exception&) {
      // One that holds itself would never be freed.
      if (auto* holder = dynamic_cast<jinja::value_object_t*>(object.get())) {
        holder->val_obj.clear();
        holder->unordered.clear();
      }
      throw;
    }
    return result;
  }
};

void check_first(jinja::statements& body) { body.insert(body.begin(), std::make_unique<Check>()); }

void guard_all(jinja::statements& body);
void guard_expression(jinja::statement_ptr& expression);

void guard_operand(jinja::statement_ptr& operand) {
  if (operand == nullptr) return;
  guard_expression(operand);
  operand = std::make_unique<Measured>(std::move(operand));
}

void guard_arguments(jinja::statements& arguments) {
  for (jinja::statement_ptr& argument : arguments) guard_operand(argument);
}

// `filter` and `test` are a name, or a call of a name: their types are looked at.
void guard_named(jinja::statement* named) {
  if (auto* call = dynamic_cast<jinja::call_expression*>(named)) guard_arguments(call->args);
}

void guard_expression(jinja::statement_ptr& expression) {
  jinja::statement* node = expression.get();
  if (auto* binary = dynamic_cast<jinja::binary_expression*>(node)) {
    guard_operand(binary->left);
    guard_operand(binary->right);
    if (binary->op.value == "*") {
      auto product = std::make_unique<Product>(binary->op, std::move(binary->left), std::move(binary->right));
      product->pos = binary->pos;
      expression = std::move(product);
    }
  } else if (auto* filter = dynamic_cast<jinja::filter_expression*>(node)) {
    guard_operand(filter->operand);
    guard_named(filter->filter.get());
  } else if (auto* test = dynamic_cast<jinja::test_expression*>(node)) {
    guard_operand(test->operand);
    guard_named(test->test.get());
  } else if (auto* call = dynamic_cast<jinja::call_expression*>(node)) {
    guard_expression(call->callee);
    guard_arguments(call->args);
  } else if (auto* member = dynamic_cast<jinja::member_expression*>(node)) {
    guard_expression(member->object);
    if (auto* slice = dynamic_cast<jinja::slice_expression*>(member->property.get())) {
      for (jinja::statement_ptr* part : {&slice->start_expr, &slice->stop_expr, &slice->step_expr}) {
        guard_operand(*part);
      }
    } else if (member->computed) {
      guard_operand(member->property);
    }
  } else if (auto* unary = dynamic_cast<jinja::unary_expression*>(node)) {
    guard_operand(unary->argument);
  } else if (auto* ternary = dynamic_cast<jinja::ternary_expression*>(node)) {
    for (jinja::statement_ptr* part : {&ternary->condition, &ternary->true_expr, &ternary->false_expr}) {
      guard_operand(*part);
    }
  } else if (auto* select = dynamic_cast<jinja::select_expression*>(node)) {
    guard_operand(select->lhs);
    guard_operand(select->test);
  } else if (auto* list = dynamic_cast<jinja::array_literal*>(node)) {
    guard_arguments(list->val);
  } else if (auto* tuple = dynamic_cast<jinja::tuple_literal*>(node)) {
    guard_arguments(tuple->val);
  } else if (auto* object = dynamic_cast<jinja::object_literal*>(node)) {
    for (auto& [key, value] : object->val) {
      guard_operand(key);
      guard_operand(value);
    }
  } else if (auto* named = dynamic_cast<jinja::keyword_argument_expression*>(node)) {
    guard_operand(named->val);
  } else if (auto* spread = dynamic_cast<jinja::spread_expression*>(node)) {
    guard_operand(spread->argument);
  }
}

void guard_one(jinja::statement_ptr& place) {
  jinja::statement* statement = place.get();
  if (auto* loop = dynamic_cast<jinja::for_statement*>(statement)) {
    // The loop looks whether it is one with a condition.
    if (dynamic_cast<jinja::select_expression*>(loop->iterable.get()) != nullptr) {
      guard_expression(loop->iterable);
    } else {
      guard_operand(loop->iterable);
    }
    guard_all(loop->body);
    guard_all(loop->default_block);
    check_first(loop->body);
  } else if (auto* macro = dynamic_cast<jinja::macro_statement*>(statement)) {
    for (const jinja::statement_ptr& parameter : macro->args) {
      if (auto* named = dynamic_cast<jinja::keyword_argument_expression*>(parameter.get())) guard_operand(named->val);
    }
    guard_all(macro->body);
    check_first(macro->body);
  } else if (auto* condition = dynamic_cast<jinja::if_statement*>(statement)) {
    guard_operand(condition->test);
    guard_all(condition->body);
    guard_all(condition->alternate);
  } else if (auto* set = dynamic_cast<jinja::set_statement*>(statement)) {
    guard_operand(set->val);
    guard_all(set->body);
    if (dynamic_cast<jinja::member_expression*>(set->assignee.get()) != nullptr) {
      auto member = std::make_unique<SetMember>(std::move(set->assignee), std::move(set->val), std::move(set->body));
      member->pos = set->pos;
      place = std::move(member);
    }
  } else if (auto* filter = dynamic_cast<jinja::filter_statement*>(statement)) {
    guard_named(filter->filter.get());
    guard_all(filter->body);
  } else if (auto* call = dynamic_cast<jinja::call_statement*>(statement)) {
    guard_expression(call->call);
    guard_all(call->body);
    check_first(call->body);
  } else if (dynamic_cast<jinja::expression*>(statement) != nullptr) {
    guard_operand(place);  // what is written out
  }
}

void guard_all(jinja::statements& body) {
  for (jinja::statement_ptr& statement : body) guard_one(statement);
}

}  // namespace

void guard(jinja::program& program) {
  guard_builtins();
  guard_all(program.body);
  program.body.insert(program.body.begin(), std::make_unique<BoundRange>());
}

TemplateBudget::TemplateBudget(double seconds)
    : outer_(current), deadline_(thread_seconds() + seconds), stack_(stack_pointer()), heap_(allocated_bytes()) {
  current = this;
}

TemplateBudget::~TemplateBudget() { current = outer_; }

const TemplateBudget* TemplateBudget::of_thread() { return current; }

void TemplateBudget::charge_nesting(int depth) const {
  constexpr int kMost = 20'000;
  nested_ += depth;
  if (nested_ > kMost) throw std::runtime_error("lists are put into lists too often for a chat template");
}

void TemplateBudget::check() const {
  const std::byte* here = stack_pointer();
  const std::size_t used =
      here < stack_ ? static_cast<std::size_t>(stack_ - here) : static_cast<std::size_t>(here - stack_);
  if (used > kMaxStackBytes) throw std::runtime_error("a macro calls itself too deeply");
  if (allocated_bytes() > heap_ + kMaxHeapBytes) throw std::runtime_error("it takes too much memory");
  if (thread_seconds() > deadline_) throw std::runtime_error("it takes too long");
}

}  // namespace dts
