/** From what a form holds to the requests it means: every question to every method, as lanes. */
import { asObject, type Json } from '../model/json';
import { commonOptions, methodOptions, requestFields, type ModelOffer } from './capabilities';
import type { Example } from './examples';
import type { Context } from './history';
import type { Lane } from './session';

export const kMostQuestions = 4;

/** One answer and no more: what everything else is compared with. */
export const kPlainMethod = 'standard';

export interface Asking {
  model: ModelOffer;
  questions: string[];
  methods: string[]; // the first is the one whose numbers were chosen
  values: Record<string, string>; // of options, by their names
  context: Context;
}

function messagesOf({ system, turns }: Context, question: string): Json[] {
  const messages: Json[] = system.trim() === '' ? [] : [{ role: 'system', content: system.trim() }];
  return [...messages, ...turns.map((turn) => ({ ...turn })), { role: 'user', content: question }];
}

/** `seed` for those that stand side by side, where none was chosen: they should differ by their methods alone. */
export function lanesOf({ model, questions, methods, values, context }: Asking, seed: number): Lane[] {
  const asked = [...new Set(questions.map((question) => question.trim()))].filter((question) => question !== '');
  const kinds = [...new Set(methods)];
  const together = asked.length * kinds.length > 1;
  return asked.flatMap((question) =>
    kinds.map((method) => {
      const own = method === kinds[0] ? methodOptions(model, method) : [];
      const chosen = requestFields([...commonOptions(model), ...own], values);
      const body: Json = {
        ...(together ? { seed } : {}),
        ...chosen,
        model: model.id,
        messages: messagesOf(context, question),
        dts: { ...(method === '' ? {} : { method }), ...asObject(chosen.dts) },
      };
      return { question, method, body };
    }),
  );
}

/** An example shows what a method gains: plain decoding stands beside it. */
export function exampleMethods(model: ModelOffer, method: string): string[] {
  const known = model.methods.some(({ name }) => name === kPlainMethod);
  return known && method !== kPlainMethod ? [kPlainMethod, method] : [method];
}

/** With a seed of its own, so that everybody sees the same. */
export function exampleLanes(model: ModelOffer, method: string, { question }: Example): Lane[] {
  const methods = exampleMethods(model, method);
  const context = { system: '', turns: [] };
  return lanesOf({ model, questions: [question], methods, values: { seed: '0' }, context }, 0);
}
