/** What went wrong: the sentence, what would help, and what shows it. Never a code alone. */
import type { ComponentChildren } from 'preact';
import { type Failure, ways } from '../data/failure.ts';

interface NoticeProps {
  readonly failure: Failure;
  readonly title?: string;
  /** What can be done about it at once. */
  readonly children?: ComponentChildren;
}

export function FailureNotice({ failure, title, children }: NoticeProps) {
  const { message, hint, evidence, requestId, fields, code } = failure;
  const way = code ? ways[code] : undefined;
  return (
    <div class="notice notice-bad" role="alert">
      {title && <strong>{title}</strong>}
      <p>{message}</p>
      {Object.keys(fields).length > 0 && (
        <ul>
          {Object.entries(fields).map(([path, text]) => (
            <li key={path}>
              <code>{path}</code> {text}
            </li>
          ))}
        </ul>
      )}
      {hint && <p class="hint">{hint}</p>}
      {way && (
        <p>
          <a href={way.path}>{way.text}</a>
        </p>
      )}
      {evidence && (
        <details>
          <summary>What shows it</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
          <pre class="evidence" tabIndex={0}>
            {evidence}
          </pre>
        </details>
      )}
      {children}
      {requestId && <p class="fine">Request {requestId}</p>}
    </div>
  );
}
