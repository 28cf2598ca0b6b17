/** What a hardening would change, file by file, before anything is changed. */
import { useState } from 'preact/hooks';
import type { HardeningPlan } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Diff } from '../ui/diff.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';

interface PlanProps {
  readonly id: string;
  readonly plan: HardeningPlan;
  readonly onClose: () => void;
}

export function HardeningPlanDialog({ id, plan: first, onClose }: PlanProps) {
  const [plan, setPlan] = useState(first);
  const [ports, setPorts] = useState<readonly number[]>([]);
  const [left, leave] = useState<ReadonlySet<string>>(new Set());
  const allowPorts = ports.length > 0 ? { allowPorts: ports } : {};
  const again = useAction(async (text: string) => {
    const wanted = text
      .split(/[\s,]+/)
      .filter(Boolean)
      .map(Number);
    const answer = await api.hardenServer({ id, body: { dryRun: true, allowPorts: wanted } });
    if (!('fingerprint' in answer)) return;
    setPlan(answer);
    setPorts(wanted);
  });
  const chosen = plan.steps.map((step) => step.id).filter((step) => !left.has(step));
  const harden = useAction(() =>
    api.hardenServer({ id, body: { steps: chosen, planFingerprint: plan.fingerprint, ...allowPorts } }),
  );
  const failure = harden.failure ?? again.failure;
  return (
    <Dialog title="What hardening would change" onClose={onClose} isWide>
      <div class="stack">
        <p class="hint">
          {plan.system}. A new sign-in is proven before the old one is let go. Where that fails, the step is
          undone by a timer on the server itself.
        </p>
        {plan.steps.length === 0 && <p>There is nothing to change.</p>}
        <ul class="plain stack">
          {plan.steps.map((step) => (
            <li key={step.id} class="plan-step">
              <label class="check">
                <input
                  type="checkbox"
                  checked={!left.has(step.id)}
                  onChange={(event) => {
                    const next = new Set(left);
                    if (event.currentTarget.checked) next.delete(step.id);
                    else next.add(step.id);
                    leave(next);
                  }}
                />
                <strong>{step.title}</strong>
                {step.lockoutRisk && <span class="tag">guarded by a timer</span>}
              </label>
              <p class="hint">{step.why}</p>
              {plan.notes
                .filter((note) => note.step === step.id)
                .map(({ text }) => (
                  <p class="hint" key={text}>
                    {text}
                  </p>
                ))}
              <details>
                <summary class="fine">
                  {changesOf(step.files.length, step.packages.length, step.commands.length)}
                </summary>
                {step.packages.length > 0 && <p class="fine">Packages: {step.packages.join(', ')}</p>}
                {step.files.map((file) => (
                  <Diff key={file.path} path={`${file.path} (${file.mode})`} diff={file.diff} />
                ))}
                {step.commands.length > 0 && (
                  <pre class="evidence">{step.commands.map((argv) => argv.join(' ')).join('\n')}</pre>
                )}
              </details>
            </li>
          ))}
        </ul>
        <form
          class="row row-bottom"
          onSubmit={(event) => {
            event.preventDefault();
            void again.run(fieldsOf(event.currentTarget).ports ?? '');
          }}
        >
          <div class="grow">
            <TextField
              label="Ports that stay open"
              name="ports"
              placeholder="8443, 9000"
              hint="Beside SSH, 80, 443 and the addresses of environments."
              error={again.failure?.fields.allowPorts}
            />
          </div>
          <Button type="submit" isBusy={again.isBusy}>
            Plan again
          </Button>
        </form>
        {failure && <FailureNotice failure={failure} />}
        <div class="row row-end">
          <Button onPress={onClose}>Keep as it is</Button>
          <Button
            kind="primary"
            isBusy={harden.isBusy}
            why={chosen.length === 0 ? 'Choose a step first.' : undefined}
            onPress={async () => {
              if (await harden.run()) onClose();
            }}
          >
            Do {chosen.length} steps
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function changesOf(files: number, packages: number, commands: number): string {
  const parts = [
    files > 0 && `${files} ${files === 1 ? 'file' : 'files'}`,
    packages > 0 && `${packages} ${packages === 1 ? 'package' : 'packages'}`,
    commands > 0 && `${commands} ${commands === 1 ? 'command' : 'commands'}`,
  ].filter(Boolean);
  return parts.length > 0 ? `What changes: ${parts.join(', ')}` : 'Nothing is written';
}
