import type { Example } from '../app/examples';

interface Props {
  examples: Example[];
  both: boolean; // standard and another method are there
  disabled: boolean;
  onPick(example: Example): void;
}

/** What a first visitor can press. */
export function Cards({ examples, both, disabled, onPick }: Props) {
  return (
    <ul class="cards" aria-label="Examples">
      {examples.map((example) => (
        <li key={example.question}>
          <button type="button" class="card" disabled={disabled} onClick={() => onPick(example)}>
            <span class="card-title">{example.title}</span>
            <span class="card-question">{example.question}</span>
            <span class="hint">
              {example.trap ? (both ? 'A trap: see one answer beside many' : 'A trap') : 'Easy: one answer is enough'}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
