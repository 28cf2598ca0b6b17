/** A unified diff: what is added and what is taken away is told by its sign, and shown by its colour. */

export function Diff({ path, diff }: { readonly path: string; readonly diff: string }) {
  return (
    <figure class="diff">
      <figcaption>
        <code>{path}</code>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <pre tabIndex={0}>
        {diff.split('\n').map((line, at) => (
          <span key={String(at)} class={classOf(line)}>
            {`${line}\n`}
          </span>
        ))}
      </pre>
    </figure>
  );
}

function classOf(line: string): string {
  if (line.startsWith('+++') || line.startsWith('---') || line.startsWith('@@')) return 'ansi-dim';
  if (line.startsWith('+')) return 'diff-added';
  return line.startsWith('-') ? 'diff-removed' : '';
}
