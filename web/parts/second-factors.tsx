/** The second factors of an account: an authenticator app, passkeys, and the recovery codes for when both are lost. */
import { useState } from 'preact/hooks';
import type { Passkey, TotpSecret } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { whyNoPasskeys } from '../data/passkeys.ts';
import { useResource } from '../data/resource.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { AddPasskey, RecoveryCodesShown, RenamePasskey, SetUpApp } from './set-up-factor.tsx';

type Asked =
  | { readonly what: 'app'; readonly secret: TotpSecret }
  | { readonly what: 'passkey' }
  | { readonly what: 'codes'; readonly codes: readonly string[] }
  | { readonly what: 'rename' | 'remove'; readonly passkey: Passkey }
  | { readonly what: 'app off' };

/** `onChanged`: with the first factor all other sessions end. */
export function SecondFactors({ onChanged }: { readonly onChanged: () => Promise<void> }) {
  const [asked, ask] = useState<Asked>();
  const factors = useResource('second factors', (options) => api.getSecondFactors({}, options));
  const close = () => ask(undefined);
  const changed = async (codes?: readonly string[]) => {
    ask(codes && { what: 'codes', codes });
    await Promise.all([factors.reload(), onChanged()]);
  };
  const begin = useAction(async () => ask({ what: 'app', secret: await api.startTotp() }));
  const renew = useAction(async () => changed((await api.createRecoveryCodes()).recoveryCodes));
  const failure = begin.failure ?? renew.failure;
  const { totp, passkeys = [], recoveryCodes } = factors.value ?? {};
  const count = passkeys.length + (totp ? 1 : 0);
  const isLast = count === 1;
  return (
    <section class="stack" aria-label="Second factors">
      <div class="section-head">
        <h2>
          Second factors{' '}
          {factors.value && <Status status={count > 0 ? 'active' : 'idle'} text={count > 0 ? 'on' : 'off'} />}
        </h2>
        <div class="row">
          <Button isBusy={begin.isBusy} onPress={begin.run}>
            {totp ? 'Replace the app' : 'Set up an app'}
          </Button>
          <Button kind="primary" why={whyNoPasskeys()} onPress={() => ask({ what: 'passkey' })}>
            Add a passkey
          </Button>
        </div>
      </div>
      {failure && <FailureNotice failure={failure} />}
      <Await of={factors} lines={2}>
        {() =>
          count === 0 ? (
            <p class="hint">
              None yet: whoever knows your password is you. With an authenticator app or a passkey a sign-in
              also takes something that you have.
            </p>
          ) : (
            <Table label="Your second factors" heads={['Factor', 'Since', 'Last used', '']}>
              {totp && (
                <tr>
                  <td>Authenticator app</td>
                  <td class="fine">
                    <Time at={totp.since} />
                  </td>
                  <td class="fine" />
                  <td class="end">
                    <Button kind="quiet" onPress={() => ask({ what: 'app off' })}>
                      Turn off
                    </Button>
                  </td>
                </tr>
              )}
              {passkeys.map((passkey) => (
                <tr key={passkey.id}>
                  <td>
                    {passkey.name} <span class="tag">passkey</span>
                  </td>
                  <td class="fine">
                    <Time at={passkey.createdAt} />
                  </td>
                  <td class="fine">{passkey.lastUsedAt ? <Time at={passkey.lastUsedAt} /> : 'never'}</td>
                  <td class="end">
                    <Button
                      kind="quiet"
                      label={`Rename ${passkey.name}`}
                      onPress={() => ask({ what: 'rename', passkey })}
                    >
                      Rename
                    </Button>
                    <Button
                      kind="quiet"
                      label={`Remove ${passkey.name}`}
                      onPress={() => ask({ what: 'remove', passkey })}
                    >
                      Remove
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Await>
      {recoveryCodes && (
        <div class="section-head">
          <p class="hint">
            {recoveryCodes.left} of 10 recovery codes left, made <Time at={recoveryCodes.madeAt} />.
            {recoveryCodes.left < 3 && ' Get new ones before they run out.'}
          </p>
          <Button isBusy={renew.isBusy} onPress={renew.run}>
            New recovery codes
          </Button>
        </div>
      )}
      {asked?.what === 'app' && <SetUpApp secret={asked.secret} onDone={changed} onClose={close} />}
      {asked?.what === 'passkey' && <AddPasskey onDone={changed} onClose={close} />}
      {asked?.what === 'codes' && <RecoveryCodesShown codes={asked.codes} onClose={close} />}
      {asked?.what === 'rename' && (
        <RenamePasskey passkey={asked.passkey} onDone={factors.reload} onClose={close} />
      )}
      {asked?.what === 'remove' && (
        <Confirm
          title={`Remove ${asked.passkey.name}?`}
          verb="Remove it"
          name={asked.passkey.name}
          isDangerous
          onConfirm={async () => {
            await api.deletePasskey({ id: asked.passkey.id });
            await factors.reload();
          }}
          onClose={close}
        >
          <p>It signs nobody in any more. What the device keeps of it can be deleted there.</p>
          <LastOne isLast={isLast} />
        </Confirm>
      )}
      {asked?.what === 'app off' && (
        <Confirm
          title="Turn the authenticator app off?"
          verb="Turn it off"
          isDangerous
          onConfirm={async () => {
            await api.deleteTotp();
            await factors.reload();
          }}
          onClose={close}
        >
          <p>Its codes are not taken any more.</p>
          <LastOne isLast={isLast} />
        </Confirm>
      )}
    </section>
  );
}

function LastOne({ isLast }: { readonly isLast: boolean }) {
  if (!isLast) return null;
  return (
    <p>
      It is your last second factor: the password alone opens your account then, the recovery codes go with
      it, and workspaces that require one are closed to you.
    </p>
  );
}
