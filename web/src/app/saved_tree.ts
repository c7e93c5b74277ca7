import { AnswerColours } from '../draw/answer_colours';
import { asObject, asText, type Json } from '../model/json';
import type { Tree } from '../model/tree';
import { treeFromFile } from '../model/tree_file';
import { Changes } from './frames';
import { failureOf, type Shown } from './shown';

/** The tree of a file (docs/tree-file.md). Nothing more comes. */
export class SavedTree implements Shown {
  readonly tree: Tree;
  readonly changes = new Changes();
  readonly id = null;
  readonly question: string;
  readonly phase = 'done';
  readonly active = false;
  readonly refused = false;
  readonly error: string | null;
  readonly colours = new AnswerColours();
  readonly coloursFrom = 'first';
  readonly reference = null;

  constructor(file: Json) {
    this.tree = treeFromFile(file);
    this.question = this.tree.opening!.question || asText(asObject(file.prompt).text);
    this.colours.add(this.tree);
    this.error = failureOf(this.tree.outcome!);
  }
}
