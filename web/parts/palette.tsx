/** Any thing and any page by a few letters, with the keyboard alone. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useDomains, useProjects, useServers } from '../data/lists.ts';
import { Dialog } from '../ui/dialog.tsx';

interface Place {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
}

const pages: readonly Place[] = [
  { name: 'Overview', kind: 'page', path: '/' },
  { name: 'New project', kind: 'action', path: '/start' },
  { name: 'Servers', kind: 'page', path: '/servers' },
  { name: 'Add a server', kind: 'action', path: '/servers?add=1' },
  { name: 'Domains', kind: 'page', path: '/domains' },
  { name: 'Backups', kind: 'page', path: '/backups' },
  { name: 'Notifications', kind: 'page', path: '/connectors' },
  { name: 'Git accounts', kind: 'page', path: '/git' },
  { name: 'Workspace', kind: 'page', path: '/workspace' },
  { name: 'Members', kind: 'page', path: '/workspace/members' },
  { name: 'API tokens', kind: 'page', path: '/workspace/tokens' },
  { name: 'Audit log', kind: 'page', path: '/workspace/audit' },
  { name: 'Profile and sessions', kind: 'page', path: '/profile' },
  { name: 'Installation', kind: 'page', path: '/installation' },
];
const mostShown = 12;

/** In order, anywhere: `shpr` finds `shop / production`. */
function fits(name: string, wanted: string): boolean {
  let at = 0;
  const text = name.toLowerCase();
  for (const letter of wanted.toLowerCase()) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { route } = useLocation();
  const [wanted, setWanted] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const [projects, servers, domains] = [useProjects(), useServers(), useDomains()];
  const places = useMemo(
    (): readonly Place[] => [
      ...(projects.value ?? []).flatMap((project) => [
        { name: project.name, kind: 'project', path: `/projects/${project.id}` },
        ...project.environments.flatMap(({ id, name }) => [
          { name: `${project.name} / ${name}`, kind: 'environment', path: `/environments/${id}` },
          { name: `${project.name} / ${name} / logs`, kind: 'page', path: `/environments/${id}/logs` },
          {
            name: `${project.name} / ${name} / variables`,
            kind: 'page',
            path: `/environments/${id}/variables`,
          },
        ]),
      ]),
      ...(servers.value ?? []).map(({ id, name }) => ({ name, kind: 'server', path: `/servers/${id}` })),
      ...(domains.value ?? []).map(({ hostname }) => ({ name: hostname, kind: 'domain', path: '/domains' })),
      ...pages,
    ],
    [projects.value, servers.value, domains.value],
  );
  const found = places.filter(({ name }) => fits(name, wanted)).slice(0, mostShown);
  const go = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    route(place.path);
  };
  const move = (by: number) =>
    setChosen((at) => (found.length === 0 ? 0 : (at + by + found.length) % found.length));
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="input"
        role="combobox"
        aria-label="Go to"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={found[chosen] ? `palette-${chosen}` : undefined}
        placeholder="A project, an environment, a server, a page …"
        // Whoever opened it wants to type.
        autofocus
        value={wanted}
        onInput={(event) => {
          setWanted(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') move(1);
          else if (event.key === 'ArrowUp') move(-1);
          else if (event.key === 'Enter') go(found[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <div class="palette" id="palette" ref={list} role="listbox" aria-label="Places">
        {found.map((place, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keyboard
          // biome-ignore lint/a11y/useFocusableInteractive: the field above has the focus
          <div
            key={`${place.kind} ${place.path} ${place.name}`}
            id={`palette-${at}`}
            role="option"
            aria-selected={at === chosen}
            onClick={() => go(place)}
          >
            <span class="clip">{place.name}</span>
            <span class="fine">{place.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="hint">Nothing here is called that.</p>}
    </Dialog>
  );
}
