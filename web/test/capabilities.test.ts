/** The form's fields, made of what the server declares. */
import { describe, expect, it } from 'vitest';
import said from '../dev/methods.json';
import { commonOptions, methodOptions, readModels, requestFields } from '../src/app/capabilities';

const offer = readModels([
  { id: 'm', ...said },
  { id: 'm:standard', dts: { model: 'm', method: 'standard' } },
])[0]!;
const names = (options: { name: string }[]) => options.map(({ name }) => name);

describe('what the server offers', () => {
  it('is all of it: no option is left out for all methods', () => {
    const shown = new Set(names(commonOptions(offer)));
    for (const { name } of offer.methods) for (const option of names(methodOptions(offer, name))) shown.add(option);
    expect([...shown, 'method'].sort()).toEqual(names(said.dts.options).sort());
  });

  it('has the options that concern a method, and no others', () => {
    expect(offer.defaultMethod).toBe('dts-stable');
    expect(methodOptions(offer, 'standard')).toEqual([]);
    expect(names(methodOptions(offer, 'max-logit'))).not.toContain('votes');
    expect(names(methodOptions(offer, 'deepconf-low'))).toContain('warmup');
    const warmup = offer.options.find(({ name }) => name === 'warmup')!;
    expect(warmup.least).toBe(1);
    expect(warmup.default).toBe('');
  });

  it('is asked for by its fields, where it differs', () => {
    const values = { temperature: '0.25', votes: '8', tau_h: '1.5', window: '', seed: '7', max_seconds: '3' };
    expect(requestFields(offer.options, values)).toEqual({
      temperature: 0.25,
      seed: 7,
      dts: { tau_h: 1.5, max_seconds: 3 },
    });
  });

  it('may be more, or less, than this page knows', () => {
    expect(
      readModels([{ id: 'm', dts: { methods: [{ name: 'x' }], options: [{ type: 'colour' }, 7, null] } }]),
    ).toEqual([expect.objectContaining({ defaultMethod: 'x', options: [] })]);
    expect(readModels([{ id: 'm' }])[0]!.methods).toEqual([]);
  });
});
