/** Accounts at Git hosts: a token each, checked when it is stored and never shown again. */
import { useState } from 'preact/hooks';
import type { GitProvider } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { failureOfFault } from '../data/failure.ts';
import { useGitProviders } from '../data/lists.ts';
import { whyNot } from '../data/session.ts';
import { useAsked } from '../parts/asked.ts';
import { ConnectGit } from '../parts/connect-git.tsx';
import { useTitle } from '../parts/title.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Await, Empty } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';

export function GitAccounts() {
  useTitle('Git accounts');
  const providers = useGitProviders();
  const [adding, add] = useAsked(['account']);
  const [leaving, leave] = useState<GitProvider>();
  return (
    <>
      <header class="page-head">
        <h1>Git accounts</h1>
        <Button kind="primary" why={whyNot('manage')} onPress={() => add('account')}>
          Connect an account
        </Button>
      </header>
      <Await of={providers}>
        {(list) =>
          list.length === 0 ? (
            <Empty title="No account connected">
              <p>
                With a token of GitHub, GitLab, Gitea or Bitbucket, private repositories can be chosen by name
                and each push can deploy. Public repositories need none.
              </p>
            </Empty>
          ) : (
            <div class="columns cards">
              {list.map((provider) => (
                <article class="card stack" key={provider.id} aria-label={provider.label}>
                  <div class="section-head">
                    <h2>
                      {provider.account.login} <span class="fine">{provider.provider}</span>
                    </h2>
                    <Status status={provider.status} />
                  </div>
                  <p class="fine clip">
                    {provider.baseUrl}, looked at <Time at={provider.checkedAt} />
                    {provider.tokenExpiresAt && (
                      <>
                        , its token ends <Time at={provider.tokenExpiresAt} />
                      </>
                    )}
                  </p>
                  {provider.problem && <FailureNotice failure={failureOfFault(provider.problem)} />}
                  <div class="row row-end">
                    <Button kind="quiet" why={whyNot('manage')} onPress={() => leave(provider)}>
                      Disconnect
                    </Button>
                  </div>
                </article>
              ))}
            </div>
          )
        }
      </Await>
      {adding && (
        <Dialog title="Connect a Git account" onClose={() => add(undefined)}>
          <ConnectGit
            onConnected={async () => {
              add(undefined);
              await providers.reload();
            }}
          />
        </Dialog>
      )}
      {leaving && (
        <Confirm
          title={`Disconnect ${leaving.account.login}?`}
          verb="Disconnect it"
          name={leaving.account.login}
          isDangerous
          onConfirm={async () => {
            await api.disconnectGitProvider({ id: leaving.id });
            await providers.reload();
          }}
          onClose={() => leave(undefined)}
        >
          <p>Its token is forgotten. Projects whose code comes from it keep this from happening.</p>
        </Confirm>
      )}
    </>
  );
}
