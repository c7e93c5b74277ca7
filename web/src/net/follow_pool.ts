/** A browser has six connections to a server: so many trees are followed at once, and others wait for their turn. */
export class FollowPool {
  #free: number;
  readonly #waiting: ((has: boolean) => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  /** Waits for a place, or until `signal` aborts. The function it gives returns the place, if there was one. */
  async enter(signal: AbortSignal): Promise<() => void> {
    const has = this.#free > 0 ? this.#free-- > 0 : await this.#wait(signal);
    let left = !has;
    return () => {
      if (left) return;
      left = true;
      const next = this.#waiting.shift();
      if (next === undefined) ++this.#free;
      else next(true);
    };
  }

  #wait(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const turn = (has: boolean) => {
        signal.removeEventListener('abort', abort);
        resolve(has);
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        turn(false);
      };
      if (signal.aborted) return resolve(false);
      this.#waiting.push(turn);
      signal.addEventListener('abort', abort);
    });
  }
}
