/** Who one is here, what a sign-in takes, and where one is signed in. */
import { api } from '../data/api.ts';
import { useResource } from '../data/resource.ts';
import { signedIn } from '../data/session.ts';
import { SecondFactors } from '../parts/second-factors.tsx';
import { SignInWays } from '../parts/sign-in-ways.tsx';
import { useTitle } from '../parts/title.ts';
import { useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';

export function Profile() {
  useTitle('Profile');
  const { user } = signedIn.value ?? {};
  const sessions = useResource('sessions', (options) => api.listSessions({ limit: 100 }, options));
  const end = useAction(async (id: string) => {
    await api.endSession({ id });
    await sessions.reload();
  });
  const endOthers = useAction(async () => {
    await api.endOtherSessions();
    await sessions.reload();
  });
  const failure = end.failure ?? endOthers.failure;
  const others = (sessions.value?.items.length ?? 0) - 1;
  return (
    <>
      <header class="page-head">
        <h1>Profile</h1>
        <a href="/installation">About this installation</a>
      </header>
      <dl class="facts">
        <div>
          <dt>Name</dt>
          <dd class="clip">{user?.name ?? 'none'}</dd>
        </div>
        <div>
          <dt>E-mail</dt>
          <dd class="clip">{user?.email}</dd>
        </div>
        <div>
          <dt>Workspaces</dt>
          <dd class="clip">{user?.workspaces.map(({ name, role }) => `${name} (${role})`).join(', ')}</dd>
        </div>
      </dl>
      <SecondFactors onChanged={sessions.reload} />
      <section class="stack" aria-label="Sessions">
        <div class="section-head">
          <h2>Where you are signed in</h2>
          <Button
            isBusy={endOthers.isBusy}
            why={others < 1 ? 'This is the only session.' : undefined}
            onPress={endOthers.run}
          >
            End all others
          </Button>
        </div>
        {failure && <FailureNotice failure={failure} />}
        <Await of={sessions}>
          {({ items }) => (
            <Table label="Your sessions" heads={['Device', 'Address', 'Last used', '']}>
              {items.map(({ id, device, ip, lastUsedAt, current }) => (
                <tr key={id}>
                  <td>
                    {device} {current && <span class="tag">this one</span>}
                  </td>
                  <td class="fine">{ip}</td>
                  <td class="fine">
                    <Time at={lastUsedAt} />
                  </td>
                  <td class="end">
                    <Button
                      kind="quiet"
                      why={current ? 'Sign out instead.' : undefined}
                      isBusy={end.isBusy}
                      onPress={() => end.run(id)}
                    >
                      End
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </Await>
      </section>
      <SignInWays email={user?.email ?? ''} />
    </>
  );
}
