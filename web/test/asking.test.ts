import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { namedRuns, nameRuns } from '../src/app/address';
import { exampleLanes, lanesOf } from '../src/app/asking';
import { readModels } from '../src/app/capabilities';
import { kExamples, kNanoExamples } from '../src/app/examples';
import { readHistory, writeHistory, type HistoryEntry } from '../src/app/history';
import methods from '../dev/methods.json';

const model = readModels([{ id: 'm', ...methods }])[0]!;
const nothing = { system: '', turns: [] };

describe('lanes', () => {
  it('are every question to every method, with one seed', () => {
    const asking = { model, questions: [' a ', 'b', 'a', ''], methods: ['dts-stable', 'standard'], values: {} };
    const lanes = lanesOf({ ...asking, context: nothing }, 7);
    expect(lanes.map(({ question, method }) => [question, method])).toEqual([
      ['a', 'dts-stable'],
      ['a', 'standard'],
      ['b', 'dts-stable'],
      ['b', 'standard'],
    ]);
    expect(lanes.map(({ body }) => body.seed)).toEqual([7, 7, 7, 7]);
  });

  it('send the numbers of a method to that method alone', () => {
    const values = { branch_k: '4', temperature: '0.5', seed: '3' };
    const asking = { model, questions: ['a'], methods: ['dts-stable', 'standard'], values, context: nothing };
    const [tree, plain] = lanesOf(asking, 7).map(({ body }) => body);
    expect(tree).toMatchObject({ temperature: 0.5, seed: 3, dts: { method: 'dts-stable', branch_k: 4 } });
    expect(plain).toMatchObject({ temperature: 0.5, seed: 3, dts: { method: 'standard' } });
    expect(plain!.dts).not.toHaveProperty('branch_k');
  });

  it('alone leave the seed to the server', () => {
    const asking = { model, questions: ['a'], methods: ['dts-stable'], values: {}, context: nothing };
    expect(lanesOf(asking, 7)[0]!.body).not.toHaveProperty('seed');
  });

  it('carry the conversation', () => {
    const context = {
      system: ' Be brief. ',
      turns: [
        { role: 'user' as const, content: 'one' },
        { role: 'assistant' as const, content: 'two' },
      ],
    };
    const [lane] = lanesOf({ model, questions: ['three'], methods: ['standard'], values: {}, context }, 7);
    expect(lane!.body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'user', content: 'three' },
    ]);
  });
});

describe('examples', () => {
  it('of the built-in model are its own problems, with their answers', () => {
    const lines = readFileSync(new URL('../../models/nano/nano-bench-mini.jsonl', import.meta.url), 'utf8').trim();
    const problems = lines.split('\n').map((line) => JSON.parse(line) as { question: string; answer: string });
    for (const { question, answer, trap } of kNanoExamples) {
      const at = problems.findIndex((problem) => problem.question === question);
      expect(problems[at]?.answer).toBe(answer);
      expect(at >= 12).toBe(trap); // problems 13 to 30 are those that plain decoding gets wrong
    }
  });

  it('begin with traps', () => {
    for (const list of [kNanoExamples, kExamples]) expect(list.slice(0, 3).every(({ trap }) => trap)).toBe(true);
  });

  it('stand beside plain decoding, the same for everybody', () => {
    const lanes = exampleLanes(model, 'dts-stable', kNanoExamples[0]!);
    expect(lanes.map(({ method, body }) => [method, body.seed])).toEqual([
      ['standard', 0],
      ['dts-stable', 0],
    ]);
    expect(exampleLanes(model, 'standard', kNanoExamples[0]!)).toHaveLength(1);
  });
});

describe('the address', () => {
  it('names what is shown', () => {
    const ids = fc.uniqueArray(fc.stringMatching(/^[a-zA-Z0-9-]{1,12}$/), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(ids, fc.nat(), (list, at) => {
        const focus = list.length > 1 ? list[at % list.length]! : null;
        expect(namedRuns(nameRuns(list, focus))).toEqual({ ids: list, focus });
        expect(namedRuns(nameRuns(list, null))).toEqual({ ids: list, focus: null });
      }),
    );
    expect(namedRuns('')).toEqual({ ids: [], focus: null });
    expect(namedRuns('#run=a&x=1')).toEqual({ ids: ['a'], focus: null });
    expect(namedRuns(`#runs=${Array.from({ length: 1000 }, (_, i) => i).join(',')}`).ids).toHaveLength(24);
  });
});

describe('the history', () => {
  const entry = (id: string): HistoryEntry => ({
    created: 1,
    lanes: [{ id, question: 'q', method: 'm', state: 'running', answer: null }],
    system: '',
    turns: [{ role: 'assistant', content: 'x'.repeat(100) }],
    reference: '7',
    colours: { q: ['7', null, '9'] },
  });

  it('is read as it was written', () => {
    const stored = new Map<string, string>();
    writeHistory({ setItem: (name, value) => void stored.set(name, value) }, [entry('a'), entry('b')]);
    expect(readHistory({ getItem: (name) => stored.get(name) ?? null })).toEqual([entry('a'), entry('b')]);
  });

  it('keeps what fits', () => {
    let text = '';
    const small = {
      setItem: (_: string, value: string) => {
        if (value.length > 1500) throw new Error('full');
        text = value;
      },
    };
    writeHistory(
      small,
      Array.from({ length: 40 }, (_, i) => entry(String(i))),
    );
    const kept = readHistory({ getItem: () => text });
    expect(kept.length).toBeGreaterThan(0);
    expect(kept[0]!.lanes[0]!.id).toBe('0');
  });

  it('is empty where nobody may store anything, or something else is stored', () => {
    for (const text of ['', 'null', '{}', '[1, {"lanes": []}, {"lanes": [{}]}]', '[{"lanes": 7}]']) {
      expect(readHistory({ getItem: () => text })).toEqual([]);
    }
    const forbidden = {
      getItem: () => {
        throw new Error('forbidden');
      },
    };
    expect(readHistory(forbidden)).toEqual([]);
  });
});
