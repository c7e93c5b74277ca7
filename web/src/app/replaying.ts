/** A run played again: what the views show while the time slider is in use. */
import { Replay } from '../model/replay';
import type { Tree } from '../model/tree';
import { Changes } from './frames';
import type { Phase, Shown } from './shown';

/** Steps a second. */
export const kSpeeds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000];

const kUsualSeconds = 10; // that a replay takes unless somebody asks for another speed

export class Replaying implements Shown {
  readonly changes = new Changes();
  readonly #replay: Replay;
  playing = false;
  speed: number;
  #frame = 0;
  #last = 0;
  #position = 0; // in steps; moves by fractions

  constructor(private readonly run: Shown) {
    this.#replay = new Replay(run.tree);
    const wanted = this.steps / kUsualSeconds;
    this.speed = kSpeeds.reduce((best, speed) => (Math.abs(speed - wanted) < Math.abs(best - wanted) ? speed : best));
  }

  get tree(): Tree {
    return this.#replay.tree;
  }
  get steps(): number {
    return this.#replay.steps;
  }
  get step(): number {
    return this.#replay.step;
  }
  /** Steps a second when it was decoded; NaN: not known. */
  get ownSpeed(): number {
    return this.steps / (this.run.tree.outcome?.seconds ?? NaN);
  }
  get id(): string | null {
    return this.run.id;
  }
  get question(): string {
    return this.run.question;
  }
  get atEnd(): boolean {
    return this.step >= this.steps;
  }
  get phase(): Phase {
    return this.atEnd ? 'done' : 'running';
  }
  get active(): boolean {
    return !this.atEnd;
  }
  readonly refused = false;
  get error(): string | null {
    return this.atEnd ? this.run.error : null;
  }
  get coloursFrom() {
    return this.run.coloursFrom;
  }
  get colours() {
    return this.run.colours;
  }
  get reference(): string | null {
    return this.run.reference;
  }

  seek(step: number): void {
    this.#position = Math.min(Math.max(step, 0), this.steps);
    this.#replay.seek(Math.floor(this.#position));
    this.changes.notify();
  }

  play(): void {
    if (this.playing) return;
    if (this.atEnd) this.seek(0);
    this.playing = true;
    this.#last = performance.now();
    this.#frame = requestAnimationFrame(this.#tick);
    this.changes.notify();
  }

  pause(): void {
    this.playing = false;
    cancelAnimationFrame(this.#frame);
    this.changes.notify();
  }

  readonly #tick = (now: number) => {
    if (!this.playing) return;
    const passed = Math.max(0, now - this.#last) / 1000;
    this.#last = now;
    this.seek(this.#position + passed * this.speed);
    if (this.atEnd) this.pause();
    else this.#frame = requestAnimationFrame(this.#tick);
  };
}
