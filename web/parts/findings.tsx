/** What a look at the DNS showed, in words, each with what would help and what was seen. */
import type { DomainFinding } from '../../sdk/index.ts';
import { Status } from '../ui/status.tsx';

const status = { ok: 'pass', info: 'idle', warning: 'warn', error: 'fail' } as const;

export function Findings({ findings }: { readonly findings: readonly DomainFinding[] }) {
  return (
    <ul class="plain stack">
      {findings.map(({ code, severity, message, hint, evidence }) => (
        <li key={`${code} ${message}`}>
          <Status status={status[severity]} text={message} />
          {hint && <p class="hint">{hint}</p>}
          {evidence && (
            <details>
              <summary class="fine">What was seen</summary>
              <pre class="evidence">{evidence}</pre>
            </details>
          )}
        </li>
      ))}
    </ul>
  );
}
