/** What the analysis found, and for each value the file that told it, one click away. */
import type { AnalysedApp, AnalysisResult } from '../../sdk/index.ts';
import { DockerfileButton } from './dockerfile.tsx';

const shown: readonly (readonly [field: keyof AnalysedApp, label: string])[] = [
  ['framework', 'Framework'],
  ['language', 'Language'],
  ['installCommand', 'Install'],
  ['buildCommand', 'Build'],
  ['startCommand', 'Start'],
  ['releaseCommand', 'Release'],
  ['port', 'Port'],
  ['healthPath', 'Health check'],
];

interface ShownProps {
  readonly projectId: string;
  readonly result: AnalysisResult;
}

export function AnalysisShown({ projectId, result }: ShownProps) {
  return (
    <div class="columns">
      {result.apps.map((app) => (
        <article class="card stack" key={app.path} aria-label={app.name}>
          <div class="section-head">
            <h3>
              {app.name} {app.path !== '.' && <span class="fine">{app.path}</span>}
            </h3>
            <DockerfileButton projectId={projectId} app={app.path} />
          </div>
          <dl class="found">
            {shown.map(([field, label]) => {
              const value = app[field];
              return typeof value === 'string' || typeof value === 'number' ? (
                <div key={field}>
                  <dt>{label}</dt>
                  <dd>
                    <code>{value}</code>
                    <Evidence result={result} app={app.path} field={field} />
                  </dd>
                </div>
              ) : null;
            })}
          </dl>
        </article>
      ))}
      {(result.services.length > 0 || result.variables.length > 0) && (
        <article class="card stack" aria-label="Needs">
          <h3>What it needs</h3>
          <ul class="plain stack">
            {result.services.map(({ kind, reason, certainty }) => (
              <li key={kind}>
                <strong>{kind}</strong> <span class="fine">{certainty}</span>
                <div class="hint">{reason}</div>
              </li>
            ))}
            {result.variables.map(({ key, required, secret, reason }) => (
              <li key={key}>
                <code>{key}</code>{' '}
                <span class="fine">
                  {[required && 'required', secret && 'secret'].filter(Boolean).join(', ')}
                </span>
                <div class="hint">{reason}</div>
              </li>
            ))}
          </ul>
        </article>
      )}
      {result.warnings.length > 0 && (
        <div class="notice notice-warn">
          <strong>To look at</strong>
          <ul>
            {result.warnings.map(({ code, message, file }) => (
              <li key={`${code} ${message}`}>
                {message} {file && <code>{file}</code>}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Evidence({
  result,
  app,
  field,
}: {
  readonly result: AnalysisResult;
  readonly app: string;
  readonly field: string;
}) {
  const at = result.apps.findIndex(({ path }) => path === app);
  const found = result.evidence.filter((each) => each.field === `apps[${at}].${field}`);
  if (found.length === 0) return null;
  return (
    <details>
      <summary class="fine">why</summary>
      {found.map(({ file, line, note }) => (
        <p class="hint" key={`${file} ${note}`}>
          <code>
            {file}
            {line !== undefined && `:${line}`}
          </code>{' '}
          {note}
        </p>
      ))}
    </details>
  );
}
