import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { defaultText, kOptions, type ModelOffer } from '../app/capabilities';
import type { Json } from '../model/json';

interface Props {
  models: ModelOffer[];
  running: boolean;
  cancelling: boolean;
  serverGone: boolean;
  /** A question to put into the box, when it changes. */
  suggested: string;
  onAsk(question: string, body: Json): void;
  onCancel(): void;
}

type Values = Record<string, string>;

const kSampling: Record<string, { label: string; help: string; min: number; max?: number; step: number | 'any' }> = {
  temperature: { label: 'Temperature', help: 'Of sampling, between decisions', min: 0, max: 2, step: 0.1 },
  top_p: { label: 'Top-p', help: 'Share of probability kept', min: 0.01, max: 1, step: 0.01 },
  max_tokens: { label: 'Tokens', help: 'Most that one branch may have', min: 1, step: 1 },
};

/** A typed value as the request has it. */
function typed(text: string): string | number {
  const number = Number(text);
  return text.trim() !== '' && Number.isFinite(number) ? number : text;
}

export function AskForm({ models, running, cancelling, serverGone, suggested, onAsk, onCancel }: Props) {
  const id = useId();
  const [question, setQuestion] = useState('');
  const [modelId, setModelId] = useState('');
  const [methodName, setMethodName] = useState('');
  const [values, setValues] = useState<Values>({});
  const box = useRef<HTMLTextAreaElement>(null);
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
        .filter((name) => values[name] !== undefined && values[name] !== '' && values[name] !== defaultText(model, name))
        .map((name) => [name, typed(values[name]!)]),
    );

  const submit = (event: Event) => {
    event.preventDefault();
    if (running || model === null || question.trim() === '') return;
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
  const pick = (example: string) => {
    setQuestion(example);
    box.current?.focus();
  };

  return (
    <form class="ask" onSubmit={submit} aria-label="Ask a question">
      <label class="field">
        <span class="label">Question</span>
        <textarea
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
      </label>
      <div class="actions">
        {running ? (
          <button type="button" class="primary cancel" onClick={onCancel} disabled={cancelling}>
            {cancelling ? 'Cancelling…' : 'Cancel'}
          </button>
        ) : (
          <button type="submit" class="primary" disabled={model === null || serverGone}>
            Ask
          </button>
        )}
        <span class="hint">or Ctrl+Enter</span>
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
        <label class="field">
          <span class="label">Model</span>
          <select value={model?.id ?? ''} onChange={(event) => setModelId(event.currentTarget.value)}>
            {models.map(({ id: name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label class="field">
        <span class="label">Method</span>
        <select
          value={method?.name ?? ''}
          aria-describedby={`${id}-method`}
          disabled={model === null}
          onChange={(event) => setMethodName(event.currentTarget.value)}
        >
          {(model?.methods ?? []).map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <span class="hint" id={`${id}-method`}>
          {method?.summary ?? ''}
        </span>
      </label>

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
            <label class="field" key={name} title={help}>
              <span class="label">{label}</span>
              <input
                type="number"
                inputMode="decimal"
                {...range}
                step={name === 'max_tokens' ? 1 : 'any'}
                value={valueOf(name)}
                placeholder="automatic"
                onInput={(event) => set(name, event.currentTarget.value)}
              />
              <span class="hint">{help}</span>
            </label>
          ))}
          <label class="field">
            <span class="label">Seed</span>
            <input
              type="text"
              inputMode="numeric"
              pattern="[0-9]*"
              maxLength={15}
              value={values.seed ?? ''}
              placeholder={defaultText(model, 'seed') || 'chosen by the server'}
              title="A whole number"
              onInput={(event) => set('seed', event.currentTarget.value)}
            />
            <span class="hint">The same seed gives the same tree</span>
          </label>
        </div>
      </details>
    </form>
  );
}

function OptionField({ name, value, onInput }: { name: string; value: string; onInput(value: string): void }) {
  const { label, help, kind, choices, min } = kOptions[name]!;
  return (
    <label class="field">
      <span class="label">{label}</span>
      {kind === 'choice' ? (
        <select value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          {choices!.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          type="number"
          inputMode="decimal"
          min={min}
          step={kind === 'whole' ? 1 : 'any'}
          value={value}
          placeholder="automatic"
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
      <span class="hint">{help}</span>
    </label>
  );
}
