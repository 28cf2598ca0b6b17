import { useState } from 'preact/hooks';
import type { GitProvider, GitProviderKind } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { SelectField, TextField } from '../ui/field.tsx';

const kinds: readonly { readonly value: GitProviderKind; readonly text: string; readonly scopes: string }[] =
  [
    {
      value: 'github',
      text: 'GitHub',
      scopes: 'A token with repo and admin:repo_hook, or a fine-grained one for contents and webhooks.',
    },
    { value: 'gitlab', text: 'GitLab', scopes: 'A token with the scope api.' },
    { value: 'gitea', text: 'Gitea or Forgejo', scopes: 'A token that may read and write repositories.' },
    {
      value: 'bitbucket',
      text: 'Bitbucket',
      scopes: 'An app password for repositories and webhooks, with your user name.',
    },
  ];

/** A token, checked with its host before it is stored. */
export function ConnectGit({ onConnected }: { readonly onConnected: (provider: GitProvider) => unknown }) {
  const [kind, setKind] = useState<GitProviderKind>('github');
  const action = useAction(async (fields: Readonly<Record<string, string>>) => {
    const { token = '', baseUrl, username } = fields;
    const body = { provider: kind, token, ...(baseUrl && { baseUrl }), ...(username && { username }) };
    await onConnected(await api.saveGitToken({ body }));
  });
  const errors = action.failure?.fields ?? {};
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(fieldsOf(event.currentTarget));
      }}
    >
      <SelectField
        label="Host"
        name="provider"
        value={kind}
        options={kinds}
        onChoice={(value) => setKind(kinds.find((each) => each.value === value)?.value ?? 'github')}
      />
      <TextField
        label="Token"
        name="token"
        type="password"
        hint={kinds.find((each) => each.value === kind)?.scopes}
        error={errors.token}
        isRequired
      />
      <TextField
        label="Address"
        name="baseUrl"
        type="url"
        placeholder="https://git.example.com"
        hint="Only where the host is your own."
        error={errors.baseUrl}
      />
      {kind === 'bitbucket' && (
        <TextField label="User name" name="username" error={errors.username} isRequired />
      )}
      {action.failure && <FailureNotice failure={action.failure} />}
      <div class="row">
        <Button type="submit" kind="primary" isBusy={action.isBusy}>
          Check and connect
        </Button>
      </div>
    </form>
  );
}
