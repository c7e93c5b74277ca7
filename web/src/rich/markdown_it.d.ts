/** What is used of markdown-it. */
declare module 'markdown-it' {
  export interface Token {
    type: string;
    tag: string;
    nesting: -1 | 0 | 1;
    content: string;
    info: string;
    markup: string;
    block: boolean;
    hidden: boolean;
    children: Token[] | null;
    meta: unknown;
    map: [number, number] | null;
    attrGet(name: string): string | null;
  }
  export interface InlineState {
    src: string;
    pos: number;
    posMax: number;
    push(type: string, tag: string, nesting: 0): Token;
  }
  export interface BlockState {
    src: string;
    line: number;
    blkIndent: number;
    bMarks: number[];
    eMarks: number[];
    tShift: number[];
    sCount: number[];
    push(type: string, tag: string, nesting: 0): Token;
  }
  export default class MarkdownIt {
    constructor(preset: string, options: { html: boolean; linkify: boolean; breaks: boolean; maxNesting?: number });
    inline: {
      ruler: { before(name: string, rule: string, fn: (state: InlineState, silent: boolean) => boolean): void };
    };
    block: {
      ruler: {
        before(
          name: string,
          rule: string,
          fn: (state: BlockState, start: number, end: number, silent: boolean) => boolean,
          options: { alt: string[] },
        ): void;
      };
    };
    parse(text: string, environment: object): Token[];
    validateLink(address: string): boolean;
  }
}
