/** Changes are many, frames are few: listeners hear once a frame that something has changed. */
export class Changes {
  readonly #listeners = new Set<() => void>();
  #waiting = false;

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    const tell = () => {
      this.#waiting = false;
      for (const listener of [...this.#listeners]) listener();
    };
    // No frames come while the page is hidden; its title and its announcements go on.
    if (document.visibilityState === 'hidden') setTimeout(tell, 250);
    else requestAnimationFrame(tell);
  }
}
