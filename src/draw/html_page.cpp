#include "draw/html_page.h"

namespace dts::draw {

const std::string_view kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --shade: #f4f6f9; --ink: #1b2230; --dim: #5a6678; --rule: #dde2e9;
  --stat: #8a5a08; --best: #fff1c7; --bar: #1f9d63; --bar-other: #b9c2cf; --focus: #2f6fde;
  --heat: 224, 142, 12;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --shade: #1b2027; --ink: #e7ebf2; --dim: #9aa7b8; --rule: #2c343f;
    --stat: #e0b055; --best: #3a3008; --bar: #3ecb8b; --bar-other: #47525f; --focus: #8db4ff;
    --heat: 230, 160, 40;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif;
}
header, section { max-width: 1680px; margin: 0 auto; padding: 0 28px; }
header { padding-top: 26px; }
h1 {
  font-size: 21px; line-height: 1.35; margin: 0 0 10px; max-height: 8.2em; overflow: auto;
  white-space: pre-wrap; overflow-wrap: anywhere;
}
h2 { font-size: 15px; margin: 0 0 10px; }
.meta { color: var(--dim); font-size: 13px; margin: 2px 0; overflow-wrap: anywhere; }
.answer { font-size: 21px; font-weight: 600; margin: 14px 0 2px; overflow-wrap: anywhere; }
.answer small { font-size: 13px; font-weight: 400; color: var(--dim); margin-left: 10px; }
.stage { display: grid; grid-template-columns: minmax(0, 1fr) 370px; gap: 20px; align-items: start; margin-top: 10px; }
.picture { overflow-x: auto; border-radius: 8px; outline-offset: 2px; }
.picture:focus-visible { outline: 2px solid var(--focus); }
.picture svg { display: block; min-width: 920px; width: 100%; }
.panel {
  position: sticky; top: 16px; max-height: calc(100vh - 32px); overflow: auto; background: var(--shade);
  border: 1px solid var(--rule); border-radius: 10px; padding: 16px 18px;
}
.panel h2 { display: flex; justify-content: space-between; gap: 8px; flex-wrap: wrap; }
.panel .meta { margin-bottom: 10px; }
.tokens {
  font: 13px/1.75 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: 10px 0 0;
}
.tokens span { border-radius: 3px; }
.tokens .before { color: var(--dim); }
.tokens .decided { box-shadow: inset 0 -2px 0 var(--stat); }
button {
  font: inherit; font-size: 13px; font-weight: 400; color: var(--ink); background: var(--paper);
  border: 1px solid var(--rule); border-radius: 6px; padding: 2px 10px; cursor: pointer;
}
button:hover, button:focus-visible { border-color: var(--focus); }
.columns {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(330px, 100%), 600px)); gap: 36px 56px;
  margin-top: 30px;
}
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th { text-align: left; font-weight: 500; color: var(--dim); }
th, td { padding: 4px 12px 4px 0; border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: anywhere; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; overflow-wrap: normal; }
tr.best td { background: var(--best); }
tr[data-id] { cursor: pointer; }
tr[data-id]:hover td { background: var(--shade); }
tr.best[data-id]:hover td { background: var(--best); }
code, .mono { font: 12.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.stat { color: var(--stat); white-space: nowrap; }
.bar { display: inline-block; height: 9px; min-width: 3px; border-radius: 2px; background: var(--bar-other); }
.bar.first { background: var(--bar); }
.choice { display: inline-block; margin-right: 14px; white-space: nowrap; }
pre {
  white-space: pre-wrap; overflow-wrap: anywhere; background: var(--shade); border: 1px solid var(--rule);
  border-radius: 8px; padding: 12px 14px; margin: 8px 0 0; max-height: 32em; overflow: auto;
  font: 13px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
details { margin-top: 18px; }
summary { cursor: pointer; font-weight: 600; }
footer { max-width: 1680px; margin: 36px auto 28px; padding: 0 28px; color: var(--dim); font-size: 12.5px; }
.dts .segment { cursor: pointer; }
.dts.picked .segment:not(.on), .dts.picked .end:not(.on), .dts.picked .decision:not(.on) { opacity: .38; }
.dts .segment:hover .line { stroke-width: 5; }
@media (max-width: 1180px) {
  .stage { grid-template-columns: minmax(0, 1fr); }
  .panel { position: static; max-height: 70vh; }
  header, section, footer { padding-left: 16px; padding-right: 16px; }
}
@media print { .panel, .noprint { display: none; } .stage { display: block; } }
)css";

const std::string_view kPageScript = R"js(
(() => {
  'use strict';
  const segments = JSON.parse(document.getElementById('tree-data').textContent);
  const svg = document.querySelector('.picture svg');
  const picture = document.querySelector('.picture');
  const panel = document.getElementById('panel');
  const best = Number(panel.dataset.best);
  const roots = segments.flatMap((segment, id) => (segment.parent < 0 ? [id] : []));
  let current = -1;    // shown
  let pinned = -1;     // shown again when the pointer leaves the picture
  let whole = false;   // with the text from the start of the trace

  const make = (tag, className, text) => {  // text is text: nothing here reads markup
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const number = (value) => value.toLocaleString('en-US');

  const pathTo = (id) => {
    const path = [];
    for (let at = id; at >= 0; at = segments[at].parent) path.unshift(at);
    return path;
  };

  // Each token on a background as warm as its entropy.
  const addTokens = (box, segment, className) => {
    segment.pieces.forEach((piece, i) => {
      const entropy = parseInt(segment.entropy[i], 36) / 10;
      const token = make('span', className, piece);
      if (i === 0 && segment.parent >= 0) token.classList.add('decided');
      const heat = Math.min(0.55, entropy * 0.24).toFixed(2);
      if (entropy >= 0.2) token.style.backgroundColor = `rgba(var(--heat), ${heat})`;
      token.title = `position ${segment.start + i}, H about ${entropy.toFixed(1)}`;
      box.append(token);
    });
  };

  const addChoices = (parent, chosen) => {
    const split = segments[parent];
    const position = number(split.start + split.pieces.length);
    panel.append(make('div', 'meta', `Decision at ${position}: H ${split.h}, VE ${split.v}`));
    const table = make('table');
    for (const id of split.children) {
      const child = segments[id];
      const row = make('tr', id === chosen ? 'best' : '');
      row.dataset.id = id;
      row.append(make('td', 'mono', child.token), make('td', 'n stat', child.p));
      const bar = make('span', 'bar' + (id === chosen ? ' first' : ''));
      bar.style.width = `${Math.max(3, 110 * child.share)}px`;
      const cell = make('td');
      cell.append(bar);
      row.append(cell, make('td', 'n', child.leaves === 1 ? child.end : `${number(child.leaves)} traces`));
      table.append(row);
    }
    panel.append(table);
  };

  const show = (id) => {
    current = id;
    const segment = segments[id];
    const path = pathTo(id);
    const on = new Set(path);
    svg.classList.add('picked');
    for (const group of svg.querySelectorAll('[data-id]')) {
      group.classList.toggle('on', on.has(Number(group.dataset.id)));
    }
    panel.replaceChildren();
    const title = make('h2', '', segment.children.length ? 'Segment' : `Trace: ${segment.end}`);
    const toggle = make('button', '', whole ? 'only this segment' : 'from the start');
    toggle.addEventListener('click', () => { whole = !whole; show(current); });
    if (path.length > 1) title.append(toggle);
    const size = segment.pieces.length;
    const positions = size ? `, positions ${number(segment.start)} to ${number(segment.start + size - 1)}` : '';
    panel.append(title, make('div', 'meta', `${number(size)} tokens${positions}`));
    if (segment.parent >= 0) addChoices(segment.parent, id);
    const text = make('div', 'tokens');
    if (whole) for (const before of path.slice(0, -1)) addTokens(text, segments[before], 'before');
    const first = text.childElementCount;
    addTokens(text, segment, '');
    panel.append(text);
    if (segment.children.length) addChoices(id, -1);
    panel.scrollTop = 0;
    const start = text.children[first];
    if (whole && start) panel.scrollTop = start.offsetTop - panel.clientHeight / 3;
  };

  const pin = (id) => { pinned = id; show(id); };

  document.addEventListener('click', (event) => {
    const target = event.target.closest('[data-id]');
    if (!target) return;
    pin(Number(target.dataset.id));
    // Where the panel is not beside the picture it may be out of sight.
    if (getComputedStyle(panel).position === 'static') panel.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  });
  svg.addEventListener('pointerover', (event) => {
    const target = event.target.closest('[data-id]');
    if (target && event.pointerType === 'mouse') show(Number(target.dataset.id));
  });
  svg.addEventListener('pointerleave', () => { if (pinned >= 0) show(pinned); });
  picture.addEventListener('keydown', (event) => {
    const segment = segments[current];
    if (!segment) return;
    const siblings = segment.parent >= 0 ? segments[segment.parent].children : roots;
    const place = siblings.indexOf(current);
    const next = {
      ArrowLeft: segment.parent,
      ArrowRight: segment.children[0],
      ArrowUp: siblings[place - 1],
      ArrowDown: siblings[place + 1],
    }[event.key];
    if (next === undefined || next < 0) return;
    event.preventDefault();
    pin(next);
  });

  // Our panel says more than the picture's own tooltips would.
  svg.querySelectorAll('g > title').forEach((title) => title.remove());
  if (segments.length) pin(best >= 0 ? best : 0);
  svg.classList.remove('picked');
})();
)js";

}  // namespace dts::draw
