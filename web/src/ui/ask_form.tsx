import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { commonOptions, methodOptions, requestFields, type ModelOffer, type OptionOffer } from '../app/capabilities';
import { asObject, type Json } from '../model/json';
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
  const valueOf = ({ name, default: usual }: OptionOffer) => values[name] ?? usual;
  const numbers = methodOptions(model, method?.name ?? '');
  const common = commonOptions(model);
  const field = (option: OptionOffer) => (
    <OptionField
      key={option.name}
      option={option}
      value={valueOf(option)}
      onInput={(value) => set(option.name, value)}
    />
  );

  const submit = (event: Event) => {
    event.preventDefault();
    if (running || full !== null || model === null || question.trim() === '') return;
    askedAt.current = event.timeStamp;
    const chosen = requestFields([...common, ...numbers], values);
    const body: Json = {
      ...chosen,
      model: model.id,
      messages: [{ role: 'user', content: question.trim() }],
      stream: true,
      stream_options: { include_usage: true },
      dts: { ...(method === undefined ? {} : { method: method.name }), ...asObject(chosen.dts) },
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

      {numbers.length > 0 && (
        <details class="more" open={wide}>
          <summary>Its numbers</summary>
          <div class="numbers">{numbers.map(field)}</div>
        </details>
      )}

      <details class="more">
        <summary>Sampling and seed</summary>
        <div class="numbers">{common.map(field)}</div>
      </details>
    </form>
  );
}

interface OptionProps {
  option: OptionOffer;
  value: string;
  onInput(value: string): void;
}

function OptionField({ option, value, onInput }: OptionProps) {
  const { label, help, type, words, least, most, automatic } = option;
  const placeholder = automatic === '' ? '' : 'automatic';
  return (
    <Field label={label} hint={value === '' && automatic !== '' ? `${help} (${automatic})` : help}>
      {(tie) => {
        if (type === 'word') {
          return (
            <select {...tie} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
              {words.map((word) => (
                <option key={word} value={word}>
                  {word}
                </option>
              ))}
            </select>
          );
        }
        if (type === 'seed') {
          return (
            <input
              {...tie}
              type="text"
              inputMode="numeric"
              pattern="[0-9]*"
              maxLength={15}
              value={value}
              placeholder={placeholder}
              title="A whole number"
              onInput={(event) => onInput(event.currentTarget.value)}
            />
          );
        }
        return (
          <input
            {...tie}
            type="number"
            inputMode="decimal"
            min={least ?? undefined}
            max={most ?? undefined}
            step={type === 'whole' ? 1 : 'any'}
            value={value}
            placeholder={placeholder}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        );
      }}
    </Field>
  );
}
