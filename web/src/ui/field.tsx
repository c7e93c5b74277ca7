import { useId } from 'preact/hooks';

interface Props {
  label: string;
  hint?: string;
  /** The control, with the attributes that tie it to its label and its hint. */
  children(tie: { id: string; 'aria-describedby'?: string }): preact.ComponentChildren;
}

/** A control with its label above and a hint below. */
export function Field({ label, hint = '', children }: Props) {
  const id = useId();
  const tie = hint === '' ? { id } : { id, 'aria-describedby': `${id}-hint` };
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children(tie)}
      {hint !== '' && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
