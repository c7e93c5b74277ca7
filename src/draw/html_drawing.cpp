#include <fmt/format.h>

#include <string>

#include "draw/html.h"
#include "draw/labels.h"
#include "draw/plain_html.h"
#include "draw/styles.h"
#include "dts/draw.h"
#include "text/display.h"
#include "text/markup.h"

namespace dts {

using namespace text;
namespace draw {
namespace {

constexpr int kTitle = 80;  // cells of the page's title

std::string title_of(const TreeDocument& document) {
  const std::string title = shorten(question_line(document), kTitle);
  return title.empty() ? "A decoding tree" : escape_markup(title);
}

// A document alone: nothing in it can run, whatever its text may try.
std::string scriptless_page(const TreeDocument& document) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" class=\"alone\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-dts'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style nonce=\"dts\">\n{}{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      title_of(document), kPlainStyle, kSvgStyle, plain_html(document));
}

}  // namespace

std::string html_page(const TreeDocument& document, const ViewerPage* viewer) {
  if (viewer == nullptr) return scriptless_page(document);
  std::string out(viewer->before_title);
  out += title_of(document);
  out += viewer->before_content;
  out += plain_html(document);
  out += viewer->before_tree;
  out += escape_script_json(to_json_text(document));
  out += viewer->end;
  return out;
}

}  // namespace draw

std::string draw_html(const TreeDocument& document) { return draw::html_page(document, draw::viewer_page()); }

}  // namespace dts
