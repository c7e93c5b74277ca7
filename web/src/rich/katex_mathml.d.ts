/** What scripts/katex_mathml.mjs makes of KaTeX. */
import 'katex';

declare module 'katex' {
  /** What KaTeX builds before it writes anything. */
  interface Built {
    type?: string;
    text?: string;
    character?: string | null;
    width?: number;
    attributes?: Record<string, unknown>;
    children?: Built[];
  }
  function __mathml(tex: string, options: KatexOptions): Built;
}
