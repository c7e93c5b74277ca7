/** What was asked from this browser. The runs themselves are the server's: a lost tab loses nothing but its scroll. */
import { asArray, asObject, asString, parseJson } from '../model/json';

export interface Turn {
  role: 'user' | 'assistant';
  content: string;
}

/** What a question was asked after: a conversation. */
export interface Context {
  system: string; // '': none
  turns: Turn[];
}

export interface LaneEntry {
  id: string;
  question: string;
  method: string;
  state: string; // running, or why it ended
  answer: string | null;
}

/** What was asked together. */
export interface HistoryEntry extends Context {
  created: number; // seconds since 1970
  lanes: LaneEntry[];
  reference: string | null; // the right answer, where it is known
  colours: Record<string, (string | null)[]>; // by question: which answers have which
}

const kName = 'dts-runs';
const kMostEntries = 50;

export function readHistory(storage: Pick<Storage, 'getItem'>): HistoryEntry[] {
  let text: string | null = null;
  try {
    text = storage.getItem(kName);
  } catch {
    // Forbidden: as if there were nothing.
  }
  return asArray(parseJson(text ?? '')).flatMap((value) => {
    const entry = asObject(value);
    const lanes = asArray(entry.lanes).map((item) => {
      const lane = asObject(item);
      return {
        id: asString(lane.id),
        question: asString(lane.question),
        method: asString(lane.method),
        state: asString(lane.state),
        answer: typeof lane.answer === 'string' ? lane.answer : null,
      };
    });
    if (lanes.length === 0 || lanes.some(({ id }) => id === '')) return [];
    return [
      {
        created: typeof entry.created === 'number' ? entry.created : NaN,
        lanes,
        system: asString(entry.system),
        turns: asArray(entry.turns).map((item) => {
          const turn = asObject(item);
          return { role: turn.role === 'assistant' ? 'assistant' : 'user', content: asString(turn.content) } as Turn;
        }),
        reference: typeof entry.reference === 'string' ? entry.reference : null,
        colours: Object.fromEntries(
          Object.entries(asObject(entry.colours)).map(([question, slots]) => [
            question,
            asArray(slots).map((slot) => (typeof slot === 'string' ? slot : null)),
          ]),
        ),
      },
    ];
  });
}

/** Keeps the newest; fewer, where all of them do not fit. */
export function writeHistory(storage: Pick<Storage, 'setItem'>, entries: HistoryEntry[]): void {
  for (let kept = entries.slice(0, kMostEntries); ; kept = kept.slice(0, Math.floor(kept.length / 2))) {
    try {
      storage.setItem(kName, JSON.stringify(kept));
      return;
    } catch {
      if (kept.length === 0) return; // full or forbidden: the history then ends with the page
    }
  }
}
