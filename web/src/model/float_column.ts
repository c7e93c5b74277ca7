/** A list of numbers that only grows: four bytes each, since a tree has a few for every token. */
export class FloatColumn {
  #values = new Float32Array(16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Float32Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length++] = value;
  }

  /** NaN where there is none. */
  at(index: number): number {
    return index < this.#length ? this.#values[index]! : Number.NaN;
  }

  /** The largest of [from, to), 0 when there is none. */
  max(from: number, to: number): number {
    let largest = 0;
    for (let i = Math.max(0, from), end = Math.min(to, this.#length); i < end; ++i) {
      if (this.#values[i]! > largest) largest = this.#values[i]!;
    }
    return largest;
  }
}
