/** Reading what came over the wire: what is not as it should be turns into the fallback, never into an exception. */
import { printable } from './printable';

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asString(value: unknown, fallback = ''): string {
  return typeof value === 'string' ? value : fallback;
}

/** Text to be shown. */
export function asText(value: unknown): string {
  return printable(asString(value));
}

export function asTextOrNull(value: unknown): string | null {
  return typeof value === 'string' ? printable(value) : null;
}

/** JSON has no word for infinity: it is written as a string. */
export function asNumber(value: unknown, fallback = Number.NaN): number {
  if (typeof value === 'number') return value;
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  return fallback;
}

/** Non-negative whole numbers: identifiers, counts and positions. */
export function asIndex(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** `text` as JSON, undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
