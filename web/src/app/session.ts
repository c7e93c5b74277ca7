/** What the page holds between its parts: the server, the runs of this session, the one that is shown. */
import { asArray, asObject, asString, parseJson, type Json } from '../model/json';
import { Api, ApiError, type TreeListing } from '../net/api';
import { readModels, type ModelOffer } from './capabilities';
import { Changes } from './frames';
import { Run } from './run';

export interface HistoryEntry {
  id: string;
  question: string;
  method: string;
  created: number; // seconds since 1970
  state: string; // running, done, cancelled, failed, ...
  answer: string | null;
}

const kHistoryName = 'dts-history';
const kMostEntries = 50;
const kMostInMemory = 8;
const kHealthMs = 10000;
const kLookAgainMs = 2000;
/** Of this page's own: each holds a connection, and the browser has six. */
const kMostAtOnce = 4;

export class Session {
  readonly api = new Api();
  readonly changes = new Changes();
  models: ModelOffer[] = [];
  server: 'looking' | 'there' | 'gone' = 'looking';
  serverError: string | null = null;
  keyNeeded: 'no' | 'missing' | 'wrong' = 'no';
  run: Run | null = null;
  history: HistoryEntry[] = readHistory();
  elsewhere: TreeListing[] = []; // runs of other clients
  readonly #runs = new Map<string, Run>(); // those in memory, the oldest first
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    this.api.onKeyNeeded = (hadKey) => {
      this.keyNeeded = hadKey ? 'wrong' : 'missing';
      this.changes.notify();
    };
  }

  /** Finds the server, and the run that the address names. */
  async begin(): Promise<void> {
    await this.#look();
    const unanswered = this.run !== null && this.run.id === null; // a question that was just asked stays in sight
    if (!unanswered) this.openNamed();
    void this.listElsewhere();
  }

  /** The run that the address names, if it is another than the one that is shown, or that one was refused. */
  openNamed(): void {
    const id = new URLSearchParams(location.hash.slice(1)).get('run');
    if (id === null || id === '' || (this.run?.id === id && !this.run.refused)) return;
    if (this.#runs.get(id)?.refused === true) this.#runs.delete(id);
    this.open(id);
  }

  /** Why no other question can be asked now, if so. */
  get full(): string | null {
    const active = new Set([...this.#runs.values(), this.run].filter((run) => run?.own === true && run.active));
    return active.size < kMostAtOnce ? null : `${kMostAtOnce} questions are being answered: wait for one of them.`;
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

  ask(question: string, body: Json): Run {
    const created = Math.floor(Date.now() / 1000);
    const method = asString(asObject(body.dts).method);
    const run = Run.start(this.api, question, body, (id) => {
      this.#keep(id, run);
      this.#remember({ id, question, method, created, state: 'running', answer: null });
      if (this.run === run) this.#name(id);
    });
    run.changes.subscribe(() => this.#noticed(run));
    this.#show(run);
    return run;
  }

  open(id: string): Run {
    const known = this.#runs.get(id);
    const entry = this.history.find((candidate) => candidate.id === id);
    const run = known ?? Run.open(this.api, id, entry?.question ?? '');
    if (known === undefined) run.changes.subscribe(() => this.#noticed(run));
    this.#keep(id, run);
    this.#name(id);
    this.#show(run);
    return run;
  }

  forget(): void {
    this.history = this.history.filter(({ id }) => this.#runs.get(id)?.active === true);
    writeHistory(this.history);
    this.changes.notify();
  }

  async listElsewhere(): Promise<void> {
    try {
      const mine = new Set(this.history.map(({ id }) => id));
      this.elsewhere = (await this.api.trees()).filter(({ id }) => !mine.has(id));
    } catch {
      this.elsewhere = []; // the connection's state says why
    }
    this.changes.notify();
  }

  #name(id: string): void {
    history.replaceState(null, '', `#run=${encodeURIComponent(id)}`);
  }

  /** Large trees take tens of megabytes: older ones come from the server again. */
  #keep(id: string, run: Run): void {
    this.#runs.delete(id);
    this.#runs.set(id, run);
    for (const [oldId, old] of this.#runs) {
      if (this.#runs.size <= kMostInMemory) break;
      if (old === this.run || (old.own && old.active)) continue;
      old.close();
      this.#runs.delete(oldId);
    }
  }

  #show(run: Run): void {
    if (this.run !== run) this.run?.hide();
    this.run = run;
    run.show();
    this.changes.notify();
  }

  #noticed(run: Run): void {
    if (!run.connected && run.active && this.server === 'there') this.#setServer('gone');
    if (run.connected && run.tree.lastEventId >= 0 && run.active && this.server === 'gone') this.#setServer('there');
    const entry = this.history.find(({ id }) => id === run.id);
    const { outcome } = run.tree;
    const state = run.phase === 'done' ? (outcome?.reason ?? 'done') : run.phase;
    if (entry === undefined || run.active || entry.state === state) return;
    entry.state = state;
    entry.answer = outcome?.answer ?? null;
    writeHistory(this.history);
    this.changes.notify();
  }

  #remember(entry: HistoryEntry): void {
    this.history = [entry, ...this.history.filter(({ id }) => id !== entry.id)].slice(0, kMostEntries);
    writeHistory(this.history);
    this.changes.notify();
  }

  #setServer(state: 'there' | 'gone'): void {
    this.server = state;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), state === 'there' ? kHealthMs : kLookAgainMs);
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

function readHistory(): HistoryEntry[] {
  return asArray(parseJson(sessionStorage.getItem(kHistoryName) ?? '')).map((value) => {
    const entry = asObject(value);
    return {
      id: asString(entry.id),
      question: asString(entry.question),
      method: asString(entry.method),
      created: typeof entry.created === 'number' ? entry.created : NaN,
      state: asString(entry.state),
      answer: typeof entry.answer === 'string' ? entry.answer : null,
    };
  });
}

function writeHistory(entries: HistoryEntry[]): void {
  try {
    sessionStorage.setItem(kHistoryName, JSON.stringify(entries));
  } catch {
    // Full or forbidden: the history then ends with the page.
  }
}
