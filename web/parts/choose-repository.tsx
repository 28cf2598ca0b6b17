/** Where the code is: a repository of a connected account by name, or any by its address. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NewProject, Repository } from '../../sdk/index.ts';
import { api } from '../data/api.ts';
import { useGitProviders } from '../data/lists.ts';
import { useResource } from '../data/resource.ts';
import { whyNot } from '../data/session.ts';
import { fieldsOf, useAction } from '../ui/action.ts';
import { Button } from '../ui/button.tsx';
import { Await } from '../ui/empty.tsx';
import { FailureNotice } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { ConnectGit } from './connect-git.tsx';

export function ChooseRepository({ onProject }: { readonly onProject: (id: string) => void }) {
  const providers = useGitProviders();
  const create = useAction(async (body: NewProject) => onProject((await api.createProject({ body })).id));
  const take = ({ name, providerId, fullName }: Repository) =>
    create.run({ name, repository: { providerId, fullName } });
  return (
    <div class="stack">
      {create.failure && <FailureNotice failure={create.failure} />}
      <div class="columns">
        <section class="card stack" aria-label="By its address">
          <h2>By its address</h2>
          <form
            class="form"
            onSubmit={(event) => {
              event.preventDefault();
              const { url = '', name = '' } = fieldsOf(event.currentTarget);
              void create.run({ name: name || nameOf(url), repository: { url } });
            }}
          >
            <TextField
              label="Address"
              name="url"
              placeholder="https://github.com/you/app"
              hint="Public over https; any over ssh, with a deploy key that you are shown."
              error={create.failure?.fields['repository.url']}
              isRequired
            />
            <TextField
              label="Name of the project"
              name="name"
              hint="Empty: that of the repository."
              error={create.failure?.fields.name}
            />
            <div class="row">
              <Button type="submit" kind="primary" isBusy={create.isBusy} why={whyNot('change')}>
                Look at it
              </Button>
            </div>
          </form>
        </section>
        <section class="card stack" aria-label="From an account">
          <h2>From an account</h2>
          <Await of={providers}>
            {(list) =>
              list.length === 0 ? (
                <>
                  <p class="hint">Connect one to choose from your repositories, and to deploy each push.</p>
                  {whyNot('manage') === undefined ? (
                    <ConnectGit onConnected={providers.reload} />
                  ) : (
                    <p class="hint">{whyNot('manage')}</p>
                  )}
                </>
              ) : (
                <Repositories onChosen={take} />
              )
            }
          </Await>
        </section>
      </div>
    </div>
  );
}

function nameOf(url: string): string {
  return (
    url
      .replace(/\/+$|\.git$/g, '')
      .split(/[/:]/)
      .at(-1) ?? url
  );
}

/** The hosts are asked once for what was typed in one go. */
const typingMs = 300;

function Repositories({ onChosen }: { readonly onChosen: (repository: Repository) => unknown }) {
  const [text, setText] = useState('');
  const [q, setQ] = useState('');
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(typing.current), []);
  const found = useResource(`repositories ${q}`, (options) =>
    api.searchRepositories({ limit: 30, ...(q && { q }) }, options),
  );
  return (
    <>
      <form
        class="row row-bottom"
        onSubmit={(event) => {
          event.preventDefault();
          clearTimeout(typing.current);
          setQ(fieldsOf(event.currentTarget).q ?? '');
        }}
      >
        <div class="grow">
          <TextField
            label="Search"
            name="q"
            type="search"
            value={text}
            onText={(typed) => {
              setText(typed);
              clearTimeout(typing.current);
              typing.current = setTimeout(() => setQ(typed), typingMs);
            }}
          />
        </div>
        <Button type="submit">Search</Button>
      </form>
      <Await of={found} lines={5}>
        {({ items, warnings }) => (
          <>
            {warnings.map(({ providerId, message }) => (
              <p class="notice notice-warn" key={providerId}>
                {message}
              </p>
            ))}
            <div class="choices">
              {items.map((repository) => (
                <button type="button" class="choice" key={repository.id} onClick={() => onChosen(repository)}>
                  <span class="clip">{repository.fullName}</span>
                  <span class="fine">{repository.isPrivate ? 'private' : 'public'}</span>
                </button>
              ))}
            </div>
            {items.length === 0 && <p class="hint">Nothing is called that.</p>}
          </>
        )}
      </Await>
    </>
  );
}
