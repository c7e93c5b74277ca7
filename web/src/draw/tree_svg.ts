import { layoutRows } from '../layout/rows';
import { layoutSpans } from '../layout/spans';
import { fitView } from '../layout/view';
import { pathTo, type Segment, type Tree } from '../model/tree';
import type { AnswerColours } from './answer_colours';
import { drawTree } from './scene';
import { SvgPen } from './svg_pen';
import type { Theme } from './theme';

const kRowHeight = 30;
const kMargins = { left: 24, right: 230, top: 34, bottom: 18 };

/** The whole tree as an SVG file, to scale. */
export function treeSvg(tree: Tree, theme: Theme, colours: AnswerColours): string {
  colours.add(tree);
  const rows = layoutRows(tree);
  const spans = layoutSpans(tree, 'tokens');
  const size = {
    width: Math.min(4000, Math.max(900, spans.width * 8)),
    height: kMargins.top + kMargins.bottom + rows.count * kRowHeight,
  };
  const nothing: ReadonlySet<Segment> = new Set();
  const pen = new SvgPen(theme);
  drawTree(pen, {
    tree,
    rowOf: (segment) => rows.of.get(segment) ?? 0,
    spans: spans.of,
    measure: 'tokens',
    view: fitView(spans.width, rows.count, size, kMargins),
    size,
    theme,
    colours,
    winnerPath: tree.winner === null ? nothing : new Set(pathTo(tree.winner)),
    chosen: nothing,
    other: nothing,
    pulse: 1,
  });
  return pen.document(size.width, size.height, tree.opening?.question ?? 'A decoding tree');
}
