/** A canvas that fills its element, sharp on every screen, painted at most once a frame. */
import { readTheme, type Theme } from './theme';

export class Surface {
  readonly context: CanvasRenderingContext2D;
  size = { width: 0, height: 0 };
  theme: Theme = readTheme();
  #frame = 0;
  readonly #observer: ResizeObserver;
  readonly #scheme = matchMedia('(prefers-color-scheme: dark)');
  readonly #still = matchMedia('(prefers-reduced-motion: reduce)');

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly paint: (now: number) => void,
    private readonly resized: () => void,
  ) {
    this.context = canvas.getContext('2d')!;
    this.#observer = new ResizeObserver(() => this.#measure());
    this.#observer.observe(canvas);
    this.#scheme.addEventListener('change', this.#recolour);
    this.#measure();
  }

  get reducedMotion(): boolean {
    return this.#still.matches;
  }

  invalidate(): void {
    if (this.#frame !== 0) return;
    this.#frame = requestAnimationFrame((now) => {
      this.#frame = 0;
      if (this.size.width > 0 && this.size.height > 0) this.paint(now);
    });
  }

  /** Empty, in CSS pixels. */
  clear(): void {
    const ratio = devicePixelRatio;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, this.size.width, this.size.height);
  }

  destroy(): void {
    cancelAnimationFrame(this.#frame);
    this.#observer.disconnect();
    this.#scheme.removeEventListener('change', this.#recolour);
  }

  readonly #recolour = () => {
    this.theme = readTheme();
    this.resized();
    this.invalidate();
  };

  #measure(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.size = { width, height };
    const [w, h] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    this.resized();
    this.invalidate();
  }
}
