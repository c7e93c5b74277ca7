import { useLayoutEffect, useRef } from 'preact/hooks';

export interface TipPlace {
  x: number; // in its parent, pixels
  y: number;
}

/** Beside the pointer, within its parent. For the eye only: what it says can be had by keyboard elsewhere. */
export function Tooltip({ place, children }: { place: TipPlace; children: preact.ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const tip = box.current!;
    const { clientWidth, clientHeight } = tip.parentElement!;
    const right = place.x + 16 + tip.offsetWidth <= clientWidth;
    const left = right ? place.x + 16 : Math.max(4, place.x - 16 - tip.offsetWidth);
    const top = Math.max(4, Math.min(place.y + 14, clientHeight - tip.offsetHeight - 4));
    tip.style.transform = `translate(${left}px, ${top}px)`;
  });
  return (
    <div class="tooltip" ref={box} aria-hidden="true">
      {children}
    </div>
  );
}
