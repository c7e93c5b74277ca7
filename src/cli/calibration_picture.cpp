#include "cli/calibration_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "draw/styles.h"
#include "text/display.h"
#include "text/markup.h"
#include "text/numbers.h"
#include "text/style.h"

namespace dts::cli {
namespace {

// How full a cell is, 0..1: by the logarithm, for most tokens are nearly certain.
double fullness(std::int64_t count, std::int64_t most) {
  if (count == 0) return 0;
  return std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
}

std::string heading(const CalibrationReport& report) {
  return fmt::format("{}: {} tokens of {} trajectories ({}); H and VE at temperature {:g}{}",
                     text::one_line(report.model), text::grouped(static_cast<std::int64_t>(report.tokens.size())),
                     report.trajectories, text::counted(report.prompts, "prompt"), report.stat_temperature,
                     report.exact ? "" : ", from a part of the distribution");
}

std::string rate_text(const CalibrationReport& report, const Thresholds& thresholds) {
  const BranchRate rate = branch_rate(report.tokens, thresholds);
  return fmt::format("{:.2f} ± {:.2f}", rate.per_thousand, rate.error);
}

// "--tau-v 1.5 --tau-h 2.5"
std::string thresholds_text(const Thresholds& thresholds) {
  return fmt::format("--tau-v {:g} --tau-h {:g}", thresholds.tau_v, thresholds.tau_h);
}

// Why the wanted rate was not reached; empty: it was.
std::string shortfall(const CalibrationReport& report) {
  const double most = branch_rate(report.tokens, report.chosen).per_thousand;
  const double one_token = 1000.0 / static_cast<double>(std::max<std::size_t>(report.tokens.size(), 1));
  if (most + one_token > report.wanted_rate) return "";
  if (report.choice == ThresholdChoice::kBoth) return "there are no more that the model hesitates at";
  const bool kept_v = report.choice == ThresholdChoice::kTauH;
  return fmt::format("there are no more with {} {:g}: --choose both would choose that, too",
                     kept_v ? "--tau-v" : "--tau-h", kept_v ? report.chosen.tau_v : report.chosen.tau_h);
}

struct ThresholdRow {
  double wanted;
  Thresholds thresholds;
};

std::vector<ThresholdRow> table_of(const CalibrationReport& report) {
  std::vector<ThresholdRow> rows;
  for (const double rate : kShownRates) {
    rows.push_back({rate, thresholds_for(report.tokens, rate, report.present, report.choice)});
  }
  return rows;
}

std::string quantile_line(const char* name, const std::array<double, 5>& values) {
  return fmt::format("{:<12} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f} {:>9.4f}\n", name, values[0], values[1], values[2],
                     values[3], values[4]);
}

// The map with its axes. A cell that holds decisions is coloured.
std::string map_text(const CalibrationReport& report, const Terminal& terminal) {
  constexpr int kRows = 14;
  constexpr int kMargin = 9;
  constexpr std::array<const char*, 5> kUnicode = {" ", "░", "▒", "▓", "█"};
  constexpr std::array<const char*, 5> kPlain = {" ", ".", ":", "+", "#"};
  const Thresholds& shown = report.shown();
  const int columns = std::clamp(terminal.size().columns - kMargin - 2, 20, 64);
  const HeatMap map = heat_map(report.tokens, columns, kRows, shown);
  const auto cell_of = [](double value, double most, int cells) {
    return std::isfinite(value) ? static_cast<int>(value / most * cells) : cells;
  };
  const int threshold_row = cell_of(shown.tau_v, map.most_varentropy, kRows);
  const int threshold_column = cell_of(shown.tau_h, map.most_entropy, columns);
  std::string out = "VE\n";
  for (int row = kRows - 1; row >= 0; --row) {
    const bool labelled = row == kRows - 1 || row == threshold_row || row == 0;
    const double value = row == kRows - 1 ? map.most_varentropy : (row == 0 ? 0 : shown.tau_v);
    out += labelled ? fmt::format("{:>7.3g} ", value) : std::string(8, ' ');
    out += terminal.unicode ? "│" : "|";
    std::string decisions;
    std::string others;
    for (int column = 0; column < columns; ++column) {
      const double full = fullness(map.at(row, column), map.most());
      const auto shade = static_cast<std::size_t>(std::ceil(4 * full));
      const bool decision = row >= threshold_row && column <= threshold_column;
      std::string cell = terminal.unicode ? kUnicode[shade] : kPlain[shade];
      if (shade == 0 && row == threshold_row && column <= threshold_column) cell = terminal.unicode ? "┄" : "-";
      (decision ? decisions : others) += cell;
    }
    out += text::styled(decisions, text::Style::kYellow, terminal.colour) + others + "\n";
  }
  out += std::string(8, ' ') + (terminal.unicode ? "└" : "+");
  for (int column = 0; column < columns; ++column) {
    const bool mark = column == threshold_column;
    out += terminal.unicode ? (mark ? "┴" : "─") : (mark ? "^" : "-");
  }
  std::string axis = fmt::format("{:<{}}", "0", columns);
  const auto put = [&axis](std::size_t at, const std::string& label) {
    if (at + label.size() <= axis.size()) axis.replace(at, label.size(), label);
  };
  if (threshold_column < columns) put(static_cast<std::size_t>(threshold_column), fmt::format("{:g}", shown.tau_h));
  const std::string most = fmt::format("{:g} H", map.most_entropy);
  put(axis.size() - most.size(), most);
  return out + "\n" + std::string(9, ' ') + axis + "\n";
}

// The picture by itself, 0,0 at its upper left corner; `style`: with its own style sheet.
std::string svg_of(const CalibrationReport& report, bool style) {
  const Thresholds& shown = report.shown();
  constexpr int kColumns = 80;
  constexpr int kRows = 48;
  constexpr double kCell = 8;
  constexpr double kLeft = 64;
  constexpr double kTop = 56;
  constexpr double kWidth = kLeft + kColumns * kCell + 24;
  constexpr double kHeight = kTop + kRows * kCell + 56;
  const HeatMap map = heat_map(report.tokens, kColumns, kRows, shown);
  const auto x_of = [&](double entropy) {
    return kLeft + std::min(entropy / map.most_entropy, 1.0) * kColumns * kCell;
  };
  const auto y_of = [&](double varentropy) {
    return kTop + kRows * kCell - std::min(varentropy / map.most_varentropy, 1.0) * kRows * kCell;
  };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dts\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<title>Entropy and varentropy of {2}</title>\n",
      kWidth, kHeight, text::escape_markup(text::one_line(report.model)));
  if (style) out += fmt::format("<style>\n{}</style>\n", draw::kSvgStyle);
  out += fmt::format("<rect class=\"paper\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", kWidth, kHeight);
  const auto text = [&out](double x, double y, const char* classes, std::string_view content, const char* anchor) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" style=\"text-anchor: {}\">{}</text>\n", x, y,
                       classes, anchor, text::escape_markup(content));
  };
  text(kLeft, 22, "title", text::shorten(text::one_line(report.model), 70), "start");
  text(kLeft, 40, "note",
       fmt::format("{} per 1,000 tokens are decisions at {}", rate_text(report, shown), thresholds_text(shown)),
       "start");
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      const std::int64_t count = map.at(row, column);
      if (count == 0) continue;
      const double entropy = (column + 0.5) * map.most_entropy / kColumns;
      const double varentropy = (row + 0.5) * map.most_varentropy / kRows;
      const bool decision = varentropy >= shown.tau_v && entropy <= shown.tau_h;
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{:.3f}\">"
          "<title>H {:.3g}, VE {:.3g}: {}</title></rect>\n",
          kLeft + column * kCell, kTop + (kRows - 1 - row) * kCell, kCell, kCell, decision ? "#d97706" : "#2563eb",
          0.12 + 0.88 * fullness(count, map.most()), entropy, varentropy, text::counted(count, "token"));
    }
  }
  const auto line = [&out](double x1, double y1, double x2, double y2, const char* dash) {
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#808080\" stroke-width=\"1\"{}/>\n", x1,
        y1, x2, y2, dash);
  };
  line(kLeft, kTop, kLeft, kTop + kRows * kCell, "");
  line(kLeft, kTop + kRows * kCell, kLeft + kColumns * kCell, kTop + kRows * kCell, "");
  const char* dashed = " stroke-dasharray=\"4 3\"";
  if (std::isfinite(shown.tau_v)) {
    line(kLeft, y_of(shown.tau_v), x_of(shown.tau_h), y_of(shown.tau_v), dashed);
    line(x_of(shown.tau_h), kTop, x_of(shown.tau_h), y_of(shown.tau_v), dashed);
    text(kLeft - 6, y_of(shown.tau_v) + 4, "note", fmt::format("{:g}", shown.tau_v), "end");
  }
  text(kLeft - 6, kTop + 8, "note", fmt::format("{:g}", map.most_varentropy), "end");
  text(kLeft - 6, kTop + kRows * kCell, "note", "0", "end");
  text(kLeft - 6, kTop + 24, "note", "VE, nats²", "end");
  text(kLeft + kColumns * kCell, kTop + kRows * kCell + 16, "note", fmt::format("{:g}", map.most_entropy), "end");
  text(kLeft + kColumns * kCell / 2, kTop + kRows * kCell + 34, "note", "H, nats", "middle");
  text(x_of(shown.tau_h), kTop + kRows * kCell + 16, "note", fmt::format("{:g}", shown.tau_h), "middle");
  return out + "</svg>\n";
}

}  // namespace

std::string calibration_text(const CalibrationReport& report, const Terminal& terminal) {
  std::string out = heading(report) + "\n\n" + map_text(report, terminal) + "\n";
  const Quantiles values = quantiles(report.tokens);
  out += fmt::format("{:<12} {:>9} {:>9} {:>9} {:>9} {:>9}\n", "", "half", "90%", "99%", "99.9%", "all");
  out += quantile_line("H  (nats)", values.entropy);
  out += quantile_line("VE (nats^2)", values.varentropy);
  out += fmt::format("\n{}: {} decisions per 1,000 tokens\n\n", thresholds_text(report.present),
                     rate_text(report, report.present));
  out += "wanted  --tau-v   --tau-h   gives, per 1,000 tokens\n";
  for (const ThresholdRow& row : table_of(report)) {
    out += fmt::format("{:>6g}  {:<8.4g}  {:<8.4g}  {}\n", row.wanted, row.thresholds.tau_v, row.thresholds.tau_h,
                       rate_text(report, row.thresholds));
  }
  if (report.wanted_rate > 0) {
    out += fmt::format("\n{:g} per 1,000 tokens: {} gives {}\n", report.wanted_rate, thresholds_text(report.chosen),
                       rate_text(report, report.chosen));
    if (const std::string note = shortfall(report); !note.empty()) out += note + "\n";
  }
  return terminal.unicode ? out : [&out] {
    for (std::size_t at = out.find("±"); at != std::string::npos; at = out.find("±", at)) out.replace(at, 2, "+-");
    return out;
  }();
}

std::string calibration_svg(const CalibrationReport& report) { return svg_of(report, true); }

std::string calibration_html(const CalibrationReport& report) {
  const Quantiles values = quantiles(report.tokens);
  const auto cells = [](const char* name, const std::array<double, 5>& numbers) {
    std::string row = fmt::format("<tr><th>{}</th>", name);
    for (const double number : numbers) row += fmt::format("<td>{:.4f}</td>", number);
    return row + "</tr>\n";
  };
  std::string body = fmt::format("<main class=\"plain\">\n<h1>Where {} decides</h1>\n<p>{}</p>\n{}",
                                 text::escape_markup(text::one_line(report.model)),
                                 text::escape_markup(heading(report)), svg_of(report, false));
  body +=
      "<h2>Shares of the tokens</h2>\n<table>\n<tr><th></th><th>half</th><th>90%</th><th>99%</th><th>99.9%</th>"
      "<th>all</th></tr>\n" +
      cells("H, nats", values.entropy) + cells("VE, nats²", values.varentropy) + "</table>\n";
  body += fmt::format(
      "<h2>Thresholds</h2>\n<p>{}: {} decisions per 1,000 tokens.</p>\n<table>\n<tr><th>wanted</th>"
      "<th>tau-v</th><th>tau-h</th><th>gives</th></tr>\n",
      text::escape_markup(thresholds_text(report.present)), rate_text(report, report.present));
  for (const ThresholdRow& row : table_of(report)) {
    body += fmt::format("<tr><td>{:g}</td><td>{:.4g}</td><td>{:g}</td><td>{}</td></tr>\n", row.wanted,
                        row.thresholds.tau_v, row.thresholds.tau_h, rate_text(report, row.thresholds));
  }
  body += "</table>\n";
  if (report.wanted_rate > 0) {
    body += fmt::format("<p>{:g} per 1,000 tokens: {} gives {}.</p>\n", report.wanted_rate,
                        text::escape_markup(thresholds_text(report.chosen)), rate_text(report, report.chosen));
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" class=\"alone\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Calibration of {}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n{}</main>\n</body>\n</html>\n",
      text::escape_markup(text::one_line(report.model)), draw::kPlainStyle, draw::kSvgStyle, body);
}

std::string calibration_profile(const CalibrationReport& report) {
  const BranchRate rate = branch_rate(report.tokens, report.chosen);
  std::string name;  // inside a TOML text
  for (const char c : text::one_line(report.model))
    name += c == '"' || c == '\\' ? std::string("'") : std::string(1, c);
  return fmt::format(
      "# Written by dts calibrate; read by --profile.\n# {}\n"
      "tau-v = {}\ntau-h = {}\nstat-temp = {:g}\n\n"
      "[profile]\nmodel = \"{}\"\ntokens = {}\nchosen = \"{}\"\nwanted-rate = {}\nrate = {:.4f}\nrate-error = {:.4f}\n",
      heading(report), report.chosen.tau_v, report.chosen.tau_h, report.stat_temperature, name, rate.tokens,
      dts::name_of(kThresholdChoices, report.choice), report.wanted_rate, rate.per_thousand, rate.error);
}

}  // namespace dts::cli
