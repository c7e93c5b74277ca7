#include "eval/report/html_style.h"

namespace dts::eval::report {

const std::string_view kReportStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfcfd; --card: #ffffff; --shade: #f3f5f8; --ink: #1b2230; --dim: #596577; --rule: #dfe4eb;
  --grid: #e8ecf1; --accent: #b3261e; --good: #137347; --bad: #b3261e; --again: #ffe3df; --best: #fff3d1;
  --m-standard: #444d5a; --m-self-consistency: #2867c6; --m-best-of-n: #3d9bd1; --m-deepconf-low: #6d4fc4;
  --m-deepconf-high: #a457c2; --m-first-finish: #11807a; --m-short-m-k: #7fb800; --m-max-logit: #97701a;
  --m-dts-greedy: #e07b12; --m-dts-stable: #c8281e; --m-other: #7d8797;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12151a; --card: #181c22; --shade: #1f242c; --ink: #e7ebf2; --dim: #9aa7b8; --rule: #2b333e;
    --grid: #262d37; --accent: #ff8a7d; --good: #59dda1; --bad: #ff8a7d; --again: #54211c; --best: #3a3008;
    --m-standard: #8a94a3; --m-self-consistency: #74a7ff; --m-best-of-n: #78c6ee; --m-deepconf-low: #ac95ff;
    --m-deepconf-high: #d79af0; --m-first-finish: #4fc9c1; --m-short-m-k: #c3ea6e; --m-max-logit: #d9b154;
    --m-dts-greedy: #ffab52; --m-dts-stable: #ff6f61; --m-other: #8f9bab;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif;
}
.page { max-width: 1180px; margin: 0 auto; padding: 32px 24px 48px; }
h1 { font-size: 27px; line-height: 1.25; margin: 0 0 14px; letter-spacing: -.01em; }
h2 { font-size: 20px; line-height: 1.3; margin: 0 0 2px; }
h3 { font-size: 15.5px; margin: 22px 0 6px; }
a { color: inherit; }
.facts { display: flex; flex-wrap: wrap; gap: 6px 26px; margin: 0 0 18px; }
.facts div { min-width: 0; }
.facts dt { color: var(--dim); font-size: 12.5px; margin: 0; }
.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.headlines { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(290px, 100%), 1fr)); gap: 14px; margin: 0 0 22px; }
.headline { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 16px 18px; }
.headline p { margin: 0; color: var(--dim); font-size: 13px; overflow-wrap: anywhere; }
.headline .step { font-size: 25px; font-weight: 650; margin: 2px 0; color: var(--ink); font-variant-numeric: tabular-nums; }
.headline .step span { color: var(--dim); font-weight: 400; }
.headline .step b { color: var(--m-dts-stable); }
nav { display: flex; flex-wrap: wrap; gap: 6px 8px; margin: 0 0 26px; }
nav a {
  font-size: 13px; text-decoration: none; color: var(--dim); border: 1px solid var(--rule); border-radius: 99px;
  padding: 3px 12px; background: var(--card);
}
nav a:hover, nav a:focus-visible { color: var(--ink); border-color: var(--dim); }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; padding: 22px 24px 24px; margin: 0 0 20px; }
.source { color: var(--dim); font-size: 13px; margin: 0 0 10px; }
.text { margin: 0 0 14px; max-width: 82ch; color: var(--ink); font-size: 14px; }
.missing { background: var(--shade); border-radius: 8px; padding: 12px 14px; margin: 0 0 14px; font-size: 14px; }
.missing code { display: block; margin-top: 6px; overflow-x: auto; white-space: pre; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 10px 40px; margin: 4px 0 10px; }
.charts .text { align-self: center; margin: 0; }
figure { margin: 0; max-width: 500px; min-width: 0; }
figcaption { font-size: 13.5px; font-weight: 600; margin: 8px 0 2px; overflow-wrap: anywhere; }
.chart { display: block; width: 100%; height: auto; }
.chart text { font-size: 11px; fill: var(--ink); }
.chart .tick { fill: var(--dim); font-size: 10.5px; font-variant-numeric: tabular-nums; }
.chart .axis-name { fill: var(--dim); }
.chart .value { font-variant-numeric: tabular-nums; font-weight: 600; }
.chart .halo { paint-order: stroke; stroke: var(--card); stroke-width: 3.5px; stroke-linejoin: round; }
.chart .grid { stroke: var(--grid); fill: none; stroke-width: 1; }
.chart .tinted { fill: color-mix(in srgb, currentColor 70%, var(--ink)); }
.chart .leader { stroke: var(--dim); stroke-width: .8; opacity: .7; }
.chart .reference { stroke: var(--m-standard); stroke-dasharray: 3 3; }
.chart .interval { stroke: currentColor; stroke-width: 3; stroke-linecap: round; opacity: .45; }
.chart .thin { stroke-width: 1.6; }
.chart .mark { fill: currentColor; stroke: var(--card); stroke-width: 1.5; }
.chart .plain { fill: var(--dim); }
.chart .band { fill: currentColor; opacity: .14; stroke: none; }
.chart .curve, .chart .shape { fill: none; stroke: currentColor; stroke-width: 2; stroke-linejoin: round; }
.chart .m-standard .dashed { stroke-dasharray: 1.5 3; } .chart .m-best-of-n .dashed { stroke-dasharray: 6 3; }
.chart .m-deepconf-low .dashed { stroke-dasharray: 8 2 2 2; } .chart .m-deepconf-high .dashed { stroke-dasharray: 3 2; }
.chart .m-first-finish .dashed { stroke-dasharray: 10 3; } .chart .m-max-logit .dashed { stroke-dasharray: 4 4; }
.chart .m-short-m-k .dashed { stroke-dasharray: 6 2 1.5 2 1.5 2; }
.chart .m-dts-stable .shape, .chart .m-dts-greedy .shape { stroke-width: 2.6; }
.chart .m-dts-stable .shape { fill: currentColor; fill-opacity: .08; }
.chart g { color: var(--m-other); }
.chart .series-0, .chart .series-0 g { color: var(--m-self-consistency); }
.chart .series-1, .chart .series-1 g { color: var(--m-dts-greedy); }
.chart .m-standard { color: var(--m-standard); } .chart .m-self-consistency { color: var(--m-self-consistency); }
.chart .m-best-of-n { color: var(--m-best-of-n); } .chart .m-deepconf-low { color: var(--m-deepconf-low); }
.chart .m-deepconf-high { color: var(--m-deepconf-high); } .chart .m-first-finish { color: var(--m-first-finish); }
.chart .m-short-m-k { color: var(--m-short-m-k); } .chart .m-max-logit { color: var(--m-max-logit); }
.chart .m-dts-greedy { color: var(--m-dts-greedy); } .chart .m-dts-stable { color: var(--m-dts-stable); }
.scroll { overflow-x: auto; margin: 0 0 6px; -webkit-overflow-scrolling: touch; }
.scroll:focus-visible { outline: 2px solid var(--dim); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; font-size: 13.5px; min-width: 100%; }
caption { text-align: left; font-weight: 600; font-size: 13.5px; padding: 12px 0 6px; }
th { text-align: left; font-weight: 500; color: var(--dim); font-size: 12.5px; line-height: 1.3; vertical-align: bottom; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th.n { white-space: normal; min-width: 72px; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--card); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; padding: 5px 0 5px 18px; }
td.wrap { white-space: normal; min-width: 260px; overflow-wrap: anywhere; color: var(--dim); font-size: 12.5px; }
td small { color: var(--dim); font-size: 11.5px; display: block; line-height: 1.25; }
td.best b { background: var(--best); border-radius: 4px; padding: 0 4px; margin: 0 -4px; }
tr:hover td { background: var(--shade); }
details { margin: 10px 0 0; }
summary { cursor: pointer; font-size: 13.5px; color: var(--dim); }
code { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.question {
  border-left: 3px solid var(--rule); padding: 2px 0 2px 14px; margin: 8px 0 14px; white-space: pre-wrap; overflow-wrap: anywhere;
}
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(380px, 100%), 1fr)); gap: 16px; }
.side { min-width: 0; border: 1px solid var(--rule); border-radius: 10px; padding: 12px 14px; }
.side h4 { margin: 0; font-size: 14.5px; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 2px 12px; }
.right { color: var(--good); } .wrong { color: var(--bad); }
.side .meta { color: var(--dim); font-size: 12.5px; margin: 2px 0 8px; }
.trace {
  margin: 0; max-height: 26em; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; color: var(--dim);
  font: 12.5px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
.trace b { color: var(--ink); font-weight: 600; }
.trace mark { background: var(--again); color: inherit; border-radius: 2px; }
.tree { overflow-x: auto; margin: 14px 0 4px; border: 1px solid var(--rule); border-radius: 10px; }
.tree svg { display: block; min-width: 860px; width: 100%; height: auto; }
footer { color: var(--dim); font-size: 12.5px; margin-top: 22px; }
@media (max-width: 640px) {
  .page { padding: 20px 14px 36px; }
  section { padding: 16px 14px 18px; }
  h1 { font-size: 22px; }
  th:first-child, td:first-child { max-width: 42vw; white-space: normal; overflow-wrap: anywhere; }
  nav { flex-wrap: nowrap; overflow-x: auto; margin-right: -14px; padding: 0 14px 4px 0; }
  nav a { white-space: nowrap; }
}
@media print { nav { display: none; } section { break-inside: avoid; } .trace { max-height: none; } }
)css";

}  // namespace dts::eval::report
