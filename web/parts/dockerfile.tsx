/** The Dockerfile that an app is built with, why each part of it is as it is, and to take it over. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { Button } from '../ui/button.tsx';
import { Copy } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await } from '../ui/empty.tsx';

export function DockerfileButton({ projectId, app }: { readonly projectId: string; readonly app: string }) {
  const [isShown, show] = useState(false);
  return (
    <>
      <Button kind="quiet" onPress={() => show(true)}>
        Its Dockerfile
      </Button>
      {isShown && <DockerfileDialog projectId={projectId} app={app} onClose={() => show(false)} />}
    </>
  );
}

interface DialogProps {
  readonly projectId: string;
  readonly app: string;
  readonly onClose: () => void;
}

function DockerfileDialog({ projectId: id, app, onClose }: DialogProps) {
  const found = useResource(
    `dockerfile ${id} ${app}`,
    (options) => api.getDockerfile({ id, app }, options),
    (event) => event.kind === 'project_updated' && event.projectId === id,
  );
  return (
    <Dialog title="Dockerfile" onClose={onClose} isWide>
      <div class="stack">
        <Await of={found} lines={10}>
          {({ isGenerated, dockerfile, explanation }) => (
            <>
              <div class="section-head">
                <p class="hint">
                  {isGenerated
                    ? 'Written for this app. Put it into the repository to change it: then that one is used.'
                    : 'That of the repository.'}
                </p>
                <Copy text={dockerfile} label="Copy the Dockerfile" />
              </div>
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
              <pre class="evidence" tabIndex={0}>
                {dockerfile}
              </pre>
              {explanation.length > 0 && (
                <details>
                  <summary>Why it is so</summary>
                  <ul class="plain stack">
                    {explanation.map(({ stage, line, why }) => (
                      <li key={`${line} ${why}`} class="fine">
                        <code>
                          {stage}, line {line}
                        </code>{' '}
                        {why}
                      </li>
                    ))}
                  </ul>
                </details>
              )}
            </>
          )}
        </Await>
        <div class="row row-end">
          <Button onPress={onClose}>Close</Button>
        </div>
      </div>
    </Dialog>
  );
}
