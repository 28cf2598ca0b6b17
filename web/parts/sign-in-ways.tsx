/** The password, and the provider of single sign-on where the installation has one. */
import { useState } from 'preact/hooks';
import type { OidcLink } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { type Used, useResource } from '../data/resource.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Time } from '../ui/time.tsx';

export function SignInWays({ email }: { readonly email: string }) {
  const provider = useResource('oidc', (options) => api.getOidc({}, options)).value;
  return (
    <div class="columns">
      <Password email={email} />
      {provider?.enabled && <Provider name={provider.name ?? 'single sign-on'} />}
    </div>
  );
}

function Password({ email }: { readonly email: string }) {
  const [isSent, setSent] = useState(false);
  const send = useAction(() => api.forgotPassword({ body: { email } }));
  return (
    <section class="card stack" aria-label="Password">
      <h2>Password</h2>
      <p class="hint">A link to set a new one is sent to {email}. With it all sessions end, this one too.</p>
      {send.failure && <FailureNotice failure={send.failure} />}
      <div class="row">
        <Button isBusy={send.isBusy} onPress={async () => setSent(await send.run())}>
          Send the link
        </Button>
        <span role="status">{isSent && 'It is on its way, and works once, for 30 minutes.'}</span>
      </div>
    </section>
  );
}

function Provider({ name }: { readonly name: string }) {
  const link = useResource('oidc link', (options) => api.getOidcLink({}, options));
  const begin = useAction(async () =>
    location.assign((await api.startOidcLink({ body: { returnTo: '/profile' } })).url),
  );
  return (
    <section class="card stack" aria-label={name}>
      <h2>{name}</h2>
      {begin.failure && <FailureNotice failure={begin.failure} />}
      <Await of={link} lines={2}>
        {({ linked }) =>
          linked ? (
            <Linked name={name} linked={linked} link={link} />
          ) : (
            <>
              <p class="hint">Link your account, and you can sign in there as well.</p>
              <div class="row">
                <Button isBusy={begin.isBusy} onPress={begin.run}>
                  Link with {name}
                </Button>
              </div>
            </>
          )
        }
      </Await>
    </section>
  );
}

interface LinkedProps {
  readonly name: string;
  readonly linked: NonNullable<OidcLink['linked']>;
  readonly link: Used<OidcLink>;
}

function Linked({ name, linked, link }: LinkedProps) {
  const [isAsked, ask] = useState(false);
  return (
    <>
      <p class="hint">
        Linked with {linked.email ?? 'an account'} at {linked.issuer}, last used{' '}
        <Time at={linked.lastUsedAt} />.
      </p>
      <div class="row">
        <Button
          why={
            linked.isOnlyWayIn
              ? 'It is the only way into your account: set a password first, by the link on the left.'
              : undefined
          }
          onPress={() => ask(true)}
        >
          Unlink
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title={`Unlink ${name}?`}
          verb="Unlink it"
          isDangerous
          onConfirm={async () => {
            await api.deleteOidcLink();
            await link.reload();
          }}
          onClose={() => ask(false)}
        >
          <p>You sign in with your password then. Roles that groups there gave you go with it.</p>
        </Confirm>
      )}
    </>
  );
}
