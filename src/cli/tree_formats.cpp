#include "cli/tree_formats.h"

#include "draw/pdf.h"
#include "dts/draw.h"

namespace dts::cli {

std::string draw_as(const TreeDocument& document, OutputFormat format) {
  switch (format) {
    case OutputFormat::kText:
      return draw_text(document);
    case OutputFormat::kDot:
      return draw_dot(document);
    case OutputFormat::kSvg:
      return draw_svg(document);
    case OutputFormat::kPdf:
      return svg_to_pdf(draw_svg(document));
    case OutputFormat::kHtml:
      return draw_html(document);
    default:
      return to_json_text(document);
  }
}

}  // namespace dts::cli
