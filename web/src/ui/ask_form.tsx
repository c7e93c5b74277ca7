import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { kMostQuestions, lanesOf } from '../app/asking';
import { commonOptions, methodOptions, type ModelOffer, type OptionOffer } from '../app/capabilities';
import type { Context } from '../app/history';
import type { Lane } from '../app/session';
import { Field } from './field';

interface Props {
  models: ModelOffer[];
  running: boolean;
  cancelling: boolean;
  serverGone: boolean;
  /** A question to put into the box, when it changes. */
  suggested: string;
  /** What was said so far, where the run that is shown has an answer. */
  conversation: Context | null;
  onAsk(lanes: Lane[], context: Context): void;
  onCancel(): void;
}

/** The second click of a double click on Ask is none on the button that took its place. */
const kDoubleClickMs = 400;

type Values = Record<string, string>;

export function AskForm({ models, running, cancelling, serverGone, suggested, conversation, onAsk, onCancel }: Props) {
  const [questions, setQuestions] = useState(['']);
  const [modelId, setModelId] = useState('');
  const [methodName, setMethodName] = useState('');
  const [beside, setBeside] = useState('');
  const [values, setValues] = useState<Values>({});
  const [system, setSystem] = useState('');
  const [goesOn, setGoesOn] = useState(false);
  const askedAt = useRef(-Infinity);
  const keyboard = useMemo(() => matchMedia('(hover: hover)').matches, []);
  useEffect(() => {
    if (suggested !== '') setQuestions([suggested]);
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
  const follows = goesOn && conversation !== null;

  const submit = (event: Event) => {
    event.preventDefault();
    if (running || model === null || questions.every((question) => question.trim() === '')) return;
    askedAt.current = event.timeStamp;
    const context = follows ? conversation : { system: system.trim(), turns: [] };
    const methods = [method?.name ?? '', ...(beside === '' ? [] : [beside])];
    const seed = Math.floor(Math.random() * 2 ** 31);
    onAsk(lanesOf({ model, questions, methods, values, context }, seed), context);
  };
  const cancel = (event: MouseEvent) => {
    if (event.detail < 2 && event.timeStamp - askedAt.current >= kDoubleClickMs) onCancel();
  };

  return (
    <form class="ask" onSubmit={submit} aria-label="Ask a question">
      {questions.map((question, i) => (
        <div class="question-field" key={i}>
          <Field label={questions.length === 1 ? 'Question' : `Question ${i + 1}`}>
            {(tie) => (
              <textarea
                {...tie}
                rows={questions.length === 1 ? 4 : 2}
                required={i === 0}
                value={question}
                placeholder={follows ? 'Ask on' : 'Ask something that takes some thought'}
                onInput={(event) =>
                  setQuestions(questions.map((old, j) => (j === i ? event.currentTarget.value : old)))
                }
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
                    event.currentTarget.form?.requestSubmit();
                  }
                }}
              />
            )}
          </Field>
          {i > 0 && (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove question ${i + 1}`}
              onClick={() => setQuestions(questions.filter((_, j) => j !== i))}
            >
              ✕
            </button>
          )}
        </div>
      ))}
      {conversation !== null && (
        <label class="check">
          <input type="checkbox" checked={goesOn} onChange={(event) => setGoesOn(event.currentTarget.checked)} /> Go on
          with this conversation
        </label>
      )}
      <div class="actions">
        {running ? (
          <button key="cancel" type="button" class="primary cancel" onClick={cancel} disabled={cancelling}>
            {cancelling ? 'Cancelling…' : 'Cancel'}
          </button>
        ) : (
          <button key="ask" type="submit" class="primary" disabled={model === null || serverGone}>
            Ask
          </button>
        )}
        {!running && keyboard && <span class="hint">or Ctrl+Enter</span>}
        {questions.length < kMostQuestions && (
          <button type="button" class="quiet another" onClick={() => setQuestions([...questions, ''])}>
            + another question
          </button>
        )}
      </div>

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
      <Field label="Beside it" hint="Another method, asked the same with the same seed">
        {(tie) => (
          <select {...tie} value={beside} onChange={(event) => setBeside(event.currentTarget.value)}>
            <option value="">nothing</option>
            {(model?.methods ?? [])
              .filter(({ name }) => name !== method?.name)
              .map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
          </select>
        )}
      </Field>

      <details class="more">
        <summary>Instructions for the model</summary>
        <Field
          label="System prompt"
          hint={
            follows
              ? 'The conversation keeps the instructions it began with'
              : 'How it should answer, whatever is asked'
          }
        >
          {(tie) => (
            <textarea
              {...tie}
              rows={3}
              disabled={follows}
              value={follows ? conversation.system : system}
              onInput={(event) => setSystem(event.currentTarget.value)}
            />
          )}
        </Field>
      </details>
      {numbers.length > 0 && (
        <details class="more">
          <summary>How widely it searches</summary>
          <div class="numbers">{numbers.map(field)}</div>
        </details>
      )}
      <details class="more">
        <summary>Chance, length and seed</summary>
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
