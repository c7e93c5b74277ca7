/** What the page holds between its parts: the server, what was asked, and the runs that are shown. */
import { AnswerColours } from '../draw/answer_colours';
import type { Json } from '../model/json';
import { Api, ApiError, type TreeListing } from '../net/api';
import { namedRuns, nameRuns } from './address';
import { kPlainMethod } from './asking';
import { readModels, type ModelOffer } from './capabilities';
import { Changes } from './frames';
import { readHistory, writeHistory, type Context, type HistoryEntry } from './history';
import { Run } from './run';

const kMostInMemory = 12;
const kHealthMs = 10000;
const kLookAgainMs = 2000;

/** A question to one method. */
export interface Lane {
  question: string;
  method: string;
  body: Json; // of the request
}

export class Session {
  readonly api = new Api();
  readonly changes = new Changes();
  models: ModelOffer[] = [];
  server: 'looking' | 'there' | 'gone' = 'looking';
  serverError: string | null = null;
  keyNeeded: 'no' | 'missing' | 'wrong' = 'no';
  /** Those that stand side by side; one alone is shown in full. */
  lanes: Run[] = [];
  /** The one of them that is shown in full. */
  focus: Run | null = null;
  history: HistoryEntry[] = readHistory(localStorage);
  elsewhere: TreeListing[] = []; // runs that were not asked from here
  readonly #runs = new Map<string, Run>(); // those in memory, the oldest first
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.api.onKeyNeeded = (hadKey) => {
      this.keyNeeded = hadKey ? 'wrong' : 'missing';
      this.changes.notify();
    };
  }

  /** The run that is shown in full, if one is. */
  get run(): Run | null {
    return this.focus ?? (this.lanes.length === 1 ? this.lanes[0]! : null);
  }

  get active(): boolean {
    return this.lanes.some((run) => run.active);
  }

  /** Finds the server, and the runs that the address names. */
  async begin(): Promise<void> {
    await this.#look();
    await this.list(); // what the address names may have been asked elsewhere
    const unanswered = this.lanes.some((run) => run.id === null && run.active); // what was just asked stays in sight
    if (!unanswered) await this.openNamed();
  }

  /** The runs that the address names, if they are others than those shown, or one of these was refused. */
  async openNamed(): Promise<void> {
    const shown = this.lanes;
    if (namedRuns(location.hash).ids.some((id) => !this.#isKnown(id))) await this.list();
    if (this.lanes !== shown) return; // something was asked or opened meanwhile
    const { ids, focus } = namedRuns(location.hash);
    if (ids.length === 0) return;
    const same = ids.length === this.lanes.length && ids.every((id, i) => this.lanes[i]!.id === id);
    if (same && !this.lanes.some((run) => run.refused))
      return this.show(this.lanes.find(({ id }) => id === focus) ?? null);
    for (const id of ids) if (this.#runs.get(id)?.refused === true) this.#runs.delete(id);
    this.open(ids, focus);
  }

  setKey(key: string): void {
    this.api.key = key;
    this.keyNeeded = 'no';
    this.changes.notify();
    void this.begin();
  }

  dismissKey(): void {
    this.keyNeeded = 'no';
    this.changes.notify();
  }

  ask(lanes: Lane[], context: Context, reference: string | null): void {
    const created = Math.floor(Date.now() / 1000);
    const colours = new Map(lanes.map(({ question }) => [question, new AnswerColours([], lanes.length === 1)]));
    let waiting = lanes.length;
    const main = mainMethod(lanes);
    const runs: Run[] = lanes.map(({ question, method, body }) => {
      const facts = {
        ...context,
        question,
        method,
        reference,
        colours: colours.get(question)!,
        coloursFrom: method === main ? ('first' as const) : ('last' as const),
      };
      const run = Run.start(this.api, facts, body, () => {
        this.#keep(run);
        if (--waiting === 0) this.#remember({ ...context, created, reference, lanes: runs.map(entryOf), colours: {} });
        if (this.lanes === runs) this.#name();
      });
      run.changes.subscribe(() => this.#noticed(run));
      return run;
    });
    this.#show(runs, null);
  }

  open(ids: string[], focus: string | null = null): void {
    const entry = this.history.find(({ lanes }) => lanes.some(({ id }) => id === ids[0]));
    const told = [...(entry?.lanes ?? []), ...this.elsewhere];
    const lanes = ids.map((id) => told.find((lane) => lane.id === id));
    const colours = new Map<string, AnswerColours>();
    const main = mainMethod(lanes.filter((lane) => lane !== undefined));
    const runs = ids.map((id, i) => {
      const known = this.#runs.get(id);
      if (known !== undefined) return known;
      const { question = '', method = '' } = lanes[i] ?? {};
      if (!colours.has(question)) {
        const beside = lanes.some((lane) => lane?.question === question && lane.method === main);
        colours.set(question, new AnswerColours(entry?.colours[question], ids.length === 1 || !beside));
      }
      const run = Run.open(this.api, id, {
        question,
        method,
        system: entry?.system ?? '',
        turns: entry?.turns ?? [],
        reference: entry === undefined ? this.#exampleAnswer(question) : entry.reference,
        colours: colours.get(question)!,
        coloursFrom: method === '' || method === main ? 'first' : 'last',
      });
      run.changes.subscribe(() => this.#noticed(run));
      return run;
    });
    this.#show(runs, runs.find(({ id }) => id === focus) ?? null);
    for (const run of runs) this.#keep(run); // only now: what is shown is never given up, however many they are
    this.#name();
  }

  /** One of the lanes in full, or all of them side by side. */
  show(run: Run | null): void {
    this.#show(this.lanes, run);
    this.#name();
  }

  /** Back to the examples. What runs goes on. */
  home(): void {
    this.#show([], null);
    history.pushState(null, '', location.pathname);
  }

  forget(): void {
    this.history = this.history.filter(({ lanes }) => lanes.some(({ state }) => state === 'running'));
    writeHistory(localStorage, this.history);
    this.changes.notify();
  }

  /** What the server has: others' runs, and how those went on that nobody looked at. */
  async list(): Promise<void> {
    try {
      const all = await this.api.trees();
      const mine = new Set(this.history.flatMap(({ lanes }) => lanes.map(({ id }) => id)));
      this.elsewhere = all.filter(({ id }) => !mine.has(id));
      const known = new Map(all.map((listing) => [listing.id, listing]));
      for (const lane of this.history.flatMap(({ lanes }) => lanes)) {
        const now = known.get(lane.id);
        if (lane.state !== 'running' || now === undefined) continue;
        if (['queued', 'prefill', 'decoding'].includes(now.state)) continue;
        lane.state = now.state;
        lane.answer = now.answer;
      }
      writeHistory(localStorage, this.history);
    } catch {
      this.elsewhere = []; // the connection's state says why
    }
    this.changes.notify();
  }

  #isKnown(id: string): boolean {
    const mine = this.history.some(({ lanes }) => lanes.some((lane) => lane.id === id));
    return mine || this.#runs.has(id) || this.elsewhere.some((listing) => listing.id === id);
  }

  /** Where somebody else has asked an example: they see whether it is right, and so does who has their link. */
  #exampleAnswer(question: string): string | null {
    const examples = this.models.flatMap((model) => model.examples);
    return examples.find((example) => example.question === question)?.answer ?? null;
  }

  #name(): void {
    const ids = this.lanes.map(({ id }) => id).filter((id) => id !== null);
    if (ids.length === 0) return;
    history.replaceState(null, '', nameRuns(ids, this.focus?.id ?? null));
  }

  /** Large trees take tens of megabytes: older ones come from the server again. */
  #keep(run: Run): void {
    if (run.id === null) return;
    this.#runs.delete(run.id);
    this.#runs.set(run.id, run);
    for (const [oldId, old] of this.#runs) {
      if (this.#runs.size <= kMostInMemory) break;
      if (this.lanes.includes(old)) continue;
      old.close();
      this.#runs.delete(oldId);
    }
  }

  #show(lanes: Run[], focus: Run | null): void {
    const shown = focus === null ? lanes : [focus];
    for (const run of this.lanes) if (!shown.includes(run)) run.hide();
    this.lanes = lanes;
    this.focus = lanes.length > 1 ? focus : null;
    focus?.colours.settle(); // alone it waits for nobody
    for (const run of shown) run.show();
    this.changes.notify();
  }

  #noticed(run: Run): void {
    if (!run.active && run.coloursFrom === 'first') {
      for (const other of this.lanes) if (other !== run && other.colours === run.colours) other.changes.notify();
    }
    if (!run.connected && run.active && this.server === 'there') this.#setServer('gone');
    if (run.connected && run.tree.lastEventId >= 0 && run.active && this.server === 'gone') this.#setServer('there');
    const entry = this.history.find(({ lanes }) => lanes.some(({ id }) => id === run.id));
    const lane = entry?.lanes.find(({ id }) => id === run.id);
    const { state, answer } = entryOf(run);
    if (lane === undefined || run.active || lane.state === state) return;
    lane.state = state;
    lane.answer = answer;
    entry!.colours[lane.question] = run.colours.slots;
    writeHistory(localStorage, this.history);
    this.changes.notify();
  }

  #remember(entry: HistoryEntry): void {
    this.history = [entry, ...readHistory(localStorage)]; // another tab may have asked meanwhile
    writeHistory(localStorage, this.history);
    this.changes.notify();
  }

  #setServer(state: 'there' | 'gone'): void {
    this.server = state;
    clearTimeout(this.#timer);
    const waits = this.history.some(({ lanes }) => lanes.some((lane) => lane.state === 'running'));
    this.#timer = setTimeout(() => void this.#look(), state === 'there' && !waits ? kHealthMs : kLookAgainMs);
    this.changes.notify();
  }

  /** Asks for the models when they are not known or the server was away; else only whether it is there. */
  async #look(): Promise<void> {
    if (document.visibilityState === 'hidden' && this.server === 'there') return this.#setServer('there');
    try {
      if (this.server !== 'there' || this.models.length === 0) {
        this.models = readModels(await this.api.models());
      } else {
        await this.api.fetch('/health');
        if (this.history.some(({ lanes }) => lanes.some(({ state }) => state === 'running'))) await this.list();
      }
      this.serverError = null;
      this.#setServer('there');
    } catch (error) {
      this.serverError = error instanceof Error ? error.message : String(error);
      // An answer is an answer, whatever it says.
      this.#setServer(error instanceof ApiError && error.status !== 0 ? 'there' : 'gone');
    }
  }
}

/** Whose tree it is about: plain decoding only stands beside it. */
function mainMethod(lanes: { method: string }[]): string {
  return (lanes.find(({ method }) => method !== kPlainMethod) ?? lanes[0])?.method ?? '';
}

function entryOf(run: Run) {
  const { outcome } = run.tree;
  const state = run.active ? 'running' : run.phase === 'done' ? (outcome?.reason ?? 'done') : run.phase;
  const answer = run.active ? null : (outcome?.answer ?? null);
  return { id: run.id!, question: run.question, method: run.method, state, answer };
}
