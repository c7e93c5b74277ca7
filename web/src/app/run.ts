/**
 * One question: asked, followed to its end, cancelled. A browser has six connections to a server: a run that is not
 * shown does not follow its tree, and one of this page keeps only the connection that it is computed for.
 */
import { Tree } from '../model/tree';
import { treeFromFile } from '../model/tree_file';
import type { TreeEvent } from '../model/events';
import type { Json } from '../model/json';
import { ApiError, type Api } from '../net/api';
import { followTree, readCompletion } from '../net/follow';
import { Changes } from './frames';
import { failureOf, type Phase, type Shown } from './shown';

let serial = 0;

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
    readonly asked: string, // the question, until the server repeats it
    readonly own: boolean, // computed for this page
  ) {}

  /** Asks. Never throws: what goes wrong is in `error`. */
  static start(api: Api, question: string, body: Json, onId: (id: string) => void): Run {
    const run = new Run(api, question, true);
    void run.#ask(body, onId);
    return run;
  }

  /** A run that the server knows already. */
  static open(api: Api, id: string, question: string): Run {
    const run = new Run(api, question, false);
    run.id = id;
    void run.#follow();
    return run;
  }

  get question(): string {
    return this.tree.opening?.question || this.asked;
  }

  get refused(): boolean {
    return this.phase === 'failed' && this.tree.segments.size === 0;
  }

  get active(): boolean {
    return this.phase === 'starting' || this.phase === 'running';
  }

  async cancel(): Promise<void> {
    if (!this.active || this.cancelling) return;
    this.cancelling = true;
    this.changes.notify();
    if (this.id === null) return this.#fail(new ApiError('Cancelled.', 0));
    try {
      await this.api.cancel(this.id);
    } catch (error) {
      // Whoever goes away cancels too.
      if (this.active) this.#fail(error);
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

  /** Stops listening, and with it the run if it is being computed for this page. */
  close(): void {
    this.#stop.abort();
    this.#following?.abort();
  }

  async #ask(body: Json, onId: (id: string) => void): Promise<void> {
    try {
      const response = await this.api.chat(body, this.#stop.signal);
      await readCompletion(response, (id) => {
        if (!this.active) return;
        this.id = id;
        onId(id);
        if (this.#shown) void this.#follow();
      });
    } catch (error) {
      if (this.id === null) return this.#fail(error);
    }
    // Following the tree tells how it ended, or goes on. It is over: that takes no time.
    void this.#follow();
  }

  async #follow(): Promise<void> {
    if (!this.active || this.#following !== null) return;
    const following = new AbortController();
    this.#following = following;
    try {
      await followTree(this.api, this.id!, this, following.signal);
    } catch (error) {
      if (!this.active) return;
      if (error instanceof ApiError && error.status === 404) {
        this.phase = 'lost';
        this.error = 'The server no longer has this run. What had arrived is below.';
        this.changes.notify();
      } else {
        this.#fail(error);
      }
    } finally {
      if (this.#following === following) this.#following = null;
    }
  }

  lastEventId(): number {
    return this.tree.lastEventId;
  }

  onEvents(events: { id: number; event: TreeEvent }[]): void {
    for (const { id, event } of events) this.tree.apply(id, event);
    if (this.phase === 'starting') this.phase = 'running';
    if (this.tree.damaged) this.#repair();
    else if (this.tree.outcome !== null) this.#done();
    this.changes.notify();
  }

  onConnection(state: 'lost' | 'back'): void {
    this.connected = state === 'back';
    this.changes.notify();
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
    this.error = error instanceof Error ? error.message : String(error);
    this.close();
    this.changes.notify();
  }
}
