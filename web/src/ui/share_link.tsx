import { useEffect, useState } from 'preact/hooks';

/** The address of what is shown: for whoever may read it, with a key of their own where the server asks for one. */
export function ShareLink() {
  const [done, setDone] = useState('');
  useEffect(() => {
    if (done === '') return undefined;
    const timer = setTimeout(() => setDone(''), 4000);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setDone('Copied');
    } catch {
      setDone('Copy the address of this page');
    }
  };
  return (
    <button type="button" class="share" onClick={() => void copy()} aria-live="polite">
      {done === '' ? 'Copy link' : done}
    </button>
  );
}
