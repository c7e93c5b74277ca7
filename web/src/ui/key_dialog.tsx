import { useEffect, useRef, useState } from 'preact/hooks';
import { Field } from './field';

interface Props {
  wrong: boolean; // one was tried
  onKey(key: string): void;
  onDismiss(): void;
}

/** Asks for the API key. It stays in this tab. */
export function KeyDialog({ wrong, onKey, onDismiss }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [key, setKey] = useState('');
  useEffect(() => {
    const box = dialog.current!;
    if (!box.open) box.showModal();
    return () => box.close();
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    if (key.trim() !== '') onKey(key.trim());
  };
  return (
    <dialog ref={dialog} class="key-dialog" aria-labelledby="key-title" onCancel={onDismiss}>
      <form onSubmit={submit}>
        <h2 id="key-title">The server asks for an API key</h2>
        {wrong && (
          <p class="error" role="alert">
            The server did not accept that key.
          </p>
        )}
        <Field label="API key" hint="Kept in this tab until it is closed, and sent to this server only.">
          {(tie) => (
            <input
              {...tie}
              type="password"
              autocomplete="off"
              spellcheck={false}
              required
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          )}
        </Field>
        <div class="actions">
          <button type="submit" class="primary">
            Use this key
          </button>
          <button type="button" onClick={onDismiss}>
            Not now
          </button>
        </div>
      </form>
    </dialog>
  );
}
