/** A value with a button that copies it. */
import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    // Browsers offer it over https and on this machine only.
    const isDone = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setSaid(isDone ? 'Copied' : 'Copy it by hand: this browser does not allow it here');
    setTimeout(() => setSaid(''), 2_000);
  };
  return (
    <button
      type="button"
      class="button button-quiet button-icon"
      aria-label={label}
      title={label}
      onClick={copy}
    >
      <Icon name={said === 'Copied' ? 'check' : 'copy'} />
      <span class="sr-only" role="status">
        {said}
      </span>
    </button>
  );
}

export function CopyRow({ label, value }: { readonly label: string; readonly value: string }) {
  return (
    <div class="copy-row">
      <span class="copy-label">{label}</span>
      <code>{value}</code>
      <Copy text={value} label={`Copy ${label}`} />
    </div>
  );
}
