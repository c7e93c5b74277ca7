import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { defaultText, kOptions, type ModelOffer } from '../app/capabilities';
import type { Json } from '../model/json';
import { Field } from './field';

interface Props {
  models: ModelOffer[];
  running: boolean;
  cancelling: boolean;
  serverGone: boolean;
  /** Why nothing can be asked now, if so. */
  full: string | null;
  /** A question to put into the box, when it changes. */
  suggested: string;
  onAsk(question: string, body: Json): void;
  onCancel(): void;
}

/** The second click of a double click on Ask is none on the button that took its place. */
const kDoubleClickMs = 400;

type Values = Record<string, string>;

const kSampling: Record<string, { label: string; help: string; min: number; max?: number; step: number | 'any' }> = {
  temperature: { label: 'Temperature', help: 'Of sampling, between decisions', min: 0, step: 'any' },
  top_p: { label: 'Top-p', help: 'Share of probability kept', min: 0, max: 1, step: 'any' },
  max_tokens: { label: 'Tokens', help: 'Most that one branch may have', min: 1, step: 1 },
};

/** A typed value as the request has it. */
function typed(text: string): string | number {
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) ? number : text;
}

export function AskForm({ models, running, cancelling, serverGone, full, suggested, onAsk, onCancel }: Props) {
  const [question, setQuestion] = useState('');
  const [modelId, setModelId] = useState('');
  const [methodName, setMethodName] = useState('');
  const [values, setValues] = useState<Values>({});
  const box = useRef<HTMLTextAreaElement>(null);
  const askedAt = useRef(-Infinity);
  const wide = useMemo(() => matchMedia('(min-width: 760px)').matches, []);
  useEffect(() => {
    if (suggested !== '') setQuestion(suggested);
  }, [suggested]);

  const model = models.find((candidate) => candidate.id === modelId) ?? models[0] ?? null;
  const method =
    model?.methods.find(({ name }) => name === methodName) ??
    model?.methods.find(({ name }) => name === model.defaultMethod);
  const set = (name: string, value: string) => setValues({ ...values, [name]: value });
  const valueOf = (name: string) => values[name] ?? defaultText(model, name);
  const changed = (names: string[]) =>
    Object.fromEntries(
      names
        .filter(
          (name) => values[name] !== undefined && values[name] !== '' && values[name] !== defaultText(model, name),
        )
        .map((name) => [name, typed(values[name]!)]),
    );

  const submit = (event: Event) => {
    event.preventDefault();
    if (running || full !== null || model === null || question.trim() === '') return;
    askedAt.current = event.timeStamp;
    const body: Json = {
      model: model.id,
      messages: [{ role: 'user', content: question.trim() }],
      stream: true,
      stream_options: { include_usage: true },
      ...changed([...Object.keys(kSampling), 'seed']),
      dts: { ...(method === undefined ? {} : { method: method.name }), ...changed(method?.options ?? []) },
    };
    onAsk(question.trim(), body);
  };
  const cancel = (event: MouseEvent) => {
    if (event.detail < 2 && event.timeStamp - askedAt.current >= kDoubleClickMs) onCancel();
  };
  const pick = (example: string) => {
    setQuestion(example);
    box.current?.focus();
  };

  return (
    <form class="ask" onSubmit={submit} aria-label="Ask a question">
      <Field label="Question">
        {(tie) => (
          <textarea
            {...tie}
            ref={box}
            rows={4}
            required
            value={question}
            placeholder="Ask something that takes some thought"
            onInput={(event) => setQuestion(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
        )}
      </Field>
      <div class="actions">
        {running ? (
          <button key="cancel" type="button" class="primary cancel" onClick={cancel} disabled={cancelling}>
            {cancelling ? 'Cancelling…' : 'Cancel'}
          </button>
        ) : (
          <button key="ask" type="submit" class="primary" disabled={model === null || serverGone || full !== null}>
            Ask
          </button>
        )}
        {!running && <span class="hint">{full ?? 'or Ctrl+Enter'}</span>}
      </div>
      <details class="examples">
        <summary>Examples</summary>
        <ul>
          {(model?.examples ?? []).map((example) => (
            <li key={example}>
              <button type="button" class="quiet" onClick={() => pick(example)}>
                {example}
              </button>
            </li>
          ))}
        </ul>
      </details>

      {models.length > 1 && (
        <Field label="Model">
          {(tie) => (
            <select {...tie} value={model?.id ?? ''} onChange={(event) => setModelId(event.currentTarget.value)}>
              {models.map(({ id }) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      <Field label="Method" hint={method?.summary ?? ''}>
        {(tie) => (
          <select
            {...tie}
            value={method?.name ?? ''}
            disabled={model === null}
            onChange={(event) => setMethodName(event.currentTarget.value)}
          >
            {(model?.methods ?? []).map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>

      {method !== undefined && method.options.length > 0 && (
        <details class="more" open={wide}>
          <summary>Its numbers</summary>
          <div class="numbers">
            {method.options.map((name) => (
              <OptionField key={name} name={name} value={valueOf(name)} onInput={(value) => set(name, value)} />
            ))}
          </div>
        </details>
      )}

      <details class="more">
        <summary>Sampling and seed</summary>
        <div class="numbers">
          {Object.entries(kSampling).map(([name, { label, help, ...range }]) => (
            <Field key={name} label={label} hint={help}>
              {(tie) => (
                <input
                  {...tie}
                  {...range}
                  type="number"
                  inputMode="decimal"
                  value={valueOf(name)}
                  placeholder="automatic"
                  onInput={(event) => set(name, event.currentTarget.value)}
                />
              )}
            </Field>
          ))}
          <Field label="Seed" hint="The same seed gives the same tree">
            {(tie) => (
              <input
                {...tie}
                type="text"
                inputMode="numeric"
                pattern="[0-9]*"
                maxLength={15}
                value={values.seed ?? ''}
                placeholder="a new one"
                title="A whole number"
                onInput={(event) => set('seed', event.currentTarget.value)}
              />
            )}
          </Field>
        </div>
      </details>
    </form>
  );
}

function OptionField({ name, value, onInput }: { name: string; value: string; onInput(value: string): void }) {
  const { label, help, kind, choices, min } = kOptions[name]!;
  return (
    <Field label={label} hint={help}>
      {(tie) =>
        kind === 'choice' ? (
          <select {...tie} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
            {choices!.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        ) : (
          <input
            {...tie}
            type="number"
            inputMode="decimal"
            min={min}
            step={kind === 'whole' ? 1 : 'any'}
            value={value}
            placeholder="automatic"
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}
