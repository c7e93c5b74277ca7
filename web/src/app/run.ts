/**
 * One question: asked, followed to its end, cancelled. The server computes it whether anybody looks or not; a run that
 * is not shown does not follow its tree.
 */
import { AnswerColours } from '../draw/answer_colours';
import { textRuns } from '../model/branch_text';
import { pathTo, Tree } from '../model/tree';
import { treeFromFile } from '../model/tree_file';
import type { TreeEvent } from '../model/events';
import type { Json } from '../model/json';
import { ApiError, type Api } from '../net/api';
import { followTree } from '../net/follow';
import { FollowPool } from '../net/follow_pool';
import { Changes } from './frames';
import type { Context } from './history';
import { failureOf, type Phase, type Shown } from './shown';

let serial = 0;

/** Two of the browser's six connections are left for everything else. */
const pool = new FollowPool(4);

/** What is known of a question beside its tree. */
export interface RunFacts extends Context {
  question: string; // until the server repeats it
  method: string;
  reference: string | null;
  colours: AnswerColours; // those of the runs it stands beside
  coloursFrom: 'first' | 'last';
}

export class Run implements Shown {
  readonly serial = ++serial;
  tree = new Tree();
  id: string | null = null;
  phase: Phase = 'starting';
  connected = true;
  cancelling = false;
  error: string | null = null;
  readonly changes = new Changes();
  readonly #stop = new AbortController();
  #following: AbortController | null = null;
  #shown = true;
  #restarts = 0;

  private constructor(
    private readonly api: Api,
    readonly facts: RunFacts,
  ) {}

  /** Asks. Never throws: what goes wrong is in `error`. */
  static start(api: Api, facts: RunFacts, body: Json, onId: () => void): Run {
    const run = new Run(api, facts);
    void run.#ask(body, onId);
    return run;
  }

  /** A run that the server knows already. */
  static open(api: Api, id: string, facts: RunFacts): Run {
    const run = new Run(api, facts);
    run.id = id;
    void run.#follow();
    return run;
  }

  get question(): string {
    return this.tree.opening?.question || this.facts.question;
  }

  get method(): string {
    return this.tree.opening?.methodName || this.facts.method;
  }

  get colours(): AnswerColours {
    return this.facts.colours;
  }

  get coloursFrom(): 'first' | 'last' {
    return this.facts.coloursFrom;
  }

  get reference(): string | null {
    return this.facts.reference;
  }

  get refused(): boolean {
    return this.phase === 'failed' && this.tree.segments.size === 0;
  }

  get active(): boolean {
    return this.phase === 'starting' || this.phase === 'running';
  }

  /** What the model says to the user, once it is done: what a next question follows on. */
  get reply(): string {
    const leaf = this.active ? null : this.tree.best;
    if (leaf === null) return '';
    return textRuns(pathTo(leaf), this.tree.opening?.opensThinking ?? false)
      .filter(({ part }) => part === 'answer')
      .map(({ text }) => text)
      .join('')
      .trim();
  }

  async cancel(): Promise<void> {
    if (!this.active || this.cancelling) return;
    this.cancelling = true;
    this.changes.notify();
    if (this.id === null) return this.#fail(new ApiError('Cancelled.', 0));
    try {
      await this.api.cancel(this.id);
    } catch (error) {
      this.cancelling = false;
      this.error = `It could not be cancelled. ${error instanceof Error ? error.message : ''}`;
      this.changes.notify();
    }
  }

  /** Goes on where the events broke off. */
  show(): void {
    this.#shown = true;
    if (this.id !== null) void this.#follow();
  }

  hide(): void {
    this.#shown = false;
    this.#following?.abort();
    this.#following = null;
    this.connected = true; // as far as anybody looks
  }

  /** Stops listening; the server goes on. */
  close(): void {
    this.#stop.abort();
    this.#following?.abort();
  }

  async #ask(body: Json, onId: () => void): Promise<void> {
    try {
      const id = await this.api.start(body, this.#stop.signal);
      if (!this.active) {
        // Cancelled before it had a name.
        return await this.api.cancel(id);
      }
      this.id = id;
      onId();
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#shown) void this.#follow();
  }

  async #follow(): Promise<void> {
    if (!this.active || this.#following !== null) return;
    const following = new AbortController();
    this.#following = following;
    const leave = await pool.enter(following.signal);
    try {
      if (!following.signal.aborted) await followTree(this.api, this.id!, this, following.signal);
    } catch (error) {
      if (!this.active) return;
      if (error instanceof ApiError && error.status === 404) {
        this.phase = 'lost';
        this.#settle();
        this.error = 'The server no longer has this run. What had arrived is below.';
        this.changes.notify();
      } else {
        this.#fail(error);
      }
    } finally {
      leave();
      if (this.#following === following) this.#following = null;
    }
  }

  lastEventId(): number {
    return this.tree.lastEventId;
  }

  onEvents(events: { id: number; event: TreeEvent }[]): void {
    for (const { id, event } of events) this.tree.apply(id, event);
    this.colours.add(this.tree, this.coloursFrom);
    if (this.phase === 'starting') this.phase = 'running';
    if (this.tree.damaged) this.#repair();
    else if (this.tree.outcome !== null) this.#done();
    if (!this.active) this.#settle();
    this.changes.notify();
  }

  onConnection(state: 'lost' | 'back'): void {
    this.connected = state === 'back';
    this.changes.notify();
  }

  /** No more answers come from here. */
  #settle(): void {
    if (this.coloursFrom === 'first') this.colours.settle();
  }

  #done(): void {
    this.phase = 'done';
    this.error = failureOf(this.tree.outcome!) ?? this.error;
  }

  /** Events were missed. Once the run is over the whole tree can be had; until then its parts are shown as they are. */
  #repair(): void {
    if (this.tree.outcome === null || this.#restarts++ > 0) return;
    void (async () => {
      try {
        this.tree = treeFromFile(await this.api.tree(this.id!), this.tree.lastEventId);
        this.#done();
      } catch (error) {
        this.#fail(error);
      }
      this.changes.notify();
    })();
  }

  #fail(error: unknown): void {
    if (!this.active) return;
    this.phase = 'failed';
    this.#settle();
    this.error = error instanceof Error ? error.message : String(error);
    this.close();
    this.changes.notify();
  }
}
