/**
 * docs/fleet.svg from docs/fleet.csv, which tests/remote/fleet_simulation.cpp prints:
 *
 *   ninja -C build/release fleet_simulation
 *   build/release/bin/fleet_simulation > docs/fleet.csv
 *   node scripts/fleet_figure.mjs docs/fleet.csv docs/fleet.svg
 */
import { readFileSync, writeFileSync } from 'node:fs';

const [, , from, to] = process.argv;
if (from === undefined || to === undefined) {
  console.error('fleet_figure: give the CSV file and the SVG file to write');
  process.exit(2);
}
const [head, ...lines] = readFileSync(from, 'utf8').trim().split('\n').map((line) => line.split(','));
const rows = lines.map((line) => Object.fromEntries(line.map((value, i) => [head[i], i === 0 ? value : Number(value)])));
const networks = [
  { name: 'calm', label: 'all well', colour: '#1b6ca8', dash: '' },
  { name: 'failing', label: '1 in 10 away for 0.5 s, 1 in 20 five times as slow', colour: '#c8553d', dash: '6 4' },
];

const width = 300;
const height = 190;
const margin = { left: 70, right: 14, top: 44, bottom: 46 };
const most = Math.max(...rows.map((row) => row.endpoints));
const x = (endpoints) => margin.left + ((width - margin.left - margin.right) * Math.log(endpoints)) / Math.log(most);

/** 1, 2 or 5 times a power of ten, at least `value`. */
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

/** One panel; `series`: which columns, each drawn for each network. */
function panel(at, title, unit, series, { log = false, scale = 1, top } = {}) {
  const values = rows.flatMap((row) => series.map(({ column }) => row[column] * scale));
  const high = top ?? (log ? 10 ** Math.ceil(Math.log10(Math.max(...values))) : round(Math.max(...values)));
  const low = log ? 10 ** Math.floor(Math.log10(Math.min(...values))) : 0;
  const share = (value) => (log ? Math.log(value / low) / Math.log(high / low) : value / high);
  const y = (value) => margin.top + (height - margin.top - margin.bottom) * (1 - share(value));
  const ticks = log
    ? Array.from({ length: Math.round(Math.log10(high / low)) + 1 }, (_, i) => low * 10 ** i)
    : [0, 0.25, 0.5, 0.75, 1].map((part) => part * high);
  let out = `<g transform="translate(${at},0)"><text x="${margin.left}" y="18" class="title">${title}</text>`;
  out += `<text x="${margin.left}" y="34" class="small">${unit}</text>`;
  for (const tick of ticks) {
    out += `<line x1="${margin.left}" x2="${width - margin.right}" y1="${y(tick)}" y2="${y(tick)}" class="grid"/>`;
    out += `<text x="${margin.left - 6}" y="${y(tick) + 4}" class="small" text-anchor="end">${Number(tick.toPrecision(3)).toLocaleString('en')}</text>`;
  }
  for (let endpoints = 1; endpoints <= most; endpoints *= 10) {
    out += `<text x="${x(endpoints)}" y="${height - margin.bottom + 16}" class="small" text-anchor="middle">${endpoints.toLocaleString('en')}</text>`;
  }
  out += `<text x="${(margin.left + width - margin.right) / 2}" y="${height - 14}" class="small" text-anchor="middle">endpoints, ten questions each</text>`;
  for (const network of networks) {
    for (const { column, thin } of series) {
      const points = rows
        .filter((row) => row.network === network.name)
        .map((row) => `${x(row.endpoints).toFixed(1)},${y(row[column] * scale).toFixed(1)}`);
      out += `<polyline points="${points.join(' ')}" fill="none" stroke="${network.colour}" stroke-width="${thin ? 1 : 2}" stroke-dasharray="${network.dash}"/>`;
    }
  }
  return `${out}</g>`;
}

const panels = [
  panel(0, 'Throughput', 'tokens/s of the whole fleet', [{ column: 'tokens_per_s' }], { log: true }),
  panel(width, 'Prefix cache', '% of prefix tokens that were there', [{ column: 'cached_share' }], { scale: 100, top: 100 }),
  panel(2 * width, 'A question takes', 's: median (thin), 99th percentile', [
    { column: 'latency_p50_s', thin: true },
    { column: 'latency_p99_s' },
  ]),
];
const total = 3 * width;
let legend = '';
networks.forEach((network, i) => {
  const left = margin.left + i * 170;
  legend += `<line x1="${left}" x2="${left + 28}" y1="${height + 8}" y2="${height + 8}" stroke="${network.colour}" stroke-width="2" stroke-dasharray="${network.dash}"/>`;
  legend += `<text x="${left + 34}" y="${height + 12}" class="small">${network.label}</text>`;
});
writeFileSync(
  to,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${total} ${height + 24}" width="${total}" height="${height + 24}" font-family="sans-serif">
<title>A simulated fleet as it grows: throughput, prefix cache and the time of a question</title>
<style>.title{font-size:14px;font-weight:600}.small{font-size:11px;fill:#555}.grid{stroke:#ddd}</style>
<rect width="100%" height="100%" fill="#fff"/>
${panels.join('\n')}
${legend}
</svg>
`,
);
