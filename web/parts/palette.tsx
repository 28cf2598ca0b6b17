/** Any thing, any page and any action by a few letters, with the keyboard alone. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useClusters, useDomains, useProjects, useServers } from '../data/lists.ts';
import { Dialog } from '../ui/dialog.tsx';

interface Place {
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  /** Not of the dashboard: it opens beside it. */
  readonly isElsewhere?: boolean;
}

const pages: readonly Place[] = [
  { name: 'Overview', kind: 'page', path: '/' },
  { name: 'Servers', kind: 'page', path: '/servers' },
  { name: 'Clusters', kind: 'page', path: '/clusters' },
  { name: 'Domains', kind: 'page', path: '/domains' },
  { name: 'Backups', kind: 'page', path: '/backups' },
  { name: 'Notifications', kind: 'page', path: '/connectors' },
  { name: 'Git accounts', kind: 'page', path: '/git' },
  { name: 'Members', kind: 'page', path: '/workspace/members' },
  { name: 'API tokens', kind: 'page', path: '/workspace/tokens' },
  { name: 'Audit log', kind: 'page', path: '/workspace/audit' },
  { name: 'Workspace settings', kind: 'page', path: '/workspace/settings' },
  { name: 'Profile, second factors and sessions', kind: 'page', path: '/profile' },
  { name: 'Installation', kind: 'page', path: '/installation' },
  { name: 'API reference', kind: 'page', path: '/api/docs', isElsewhere: true },
  { name: 'New project', kind: 'action', path: '/start' },
  { name: 'Add a server', kind: 'action', path: '/servers?ask=server' },
  { name: 'Make a cluster', kind: 'action', path: '/clusters?ask=cluster' },
  { name: 'Add a connector', kind: 'action', path: '/connectors?ask=connector' },
  { name: 'Connect a Git account', kind: 'action', path: '/git?ask=account' },
  { name: 'Invite someone', kind: 'action', path: '/workspace/members?ask=invite' },
  { name: 'New API token', kind: 'action', path: '/workspace/tokens?ask=token' },
];

/** Of every environment: what it shows, and what can be done with it. An action only opens the dialog that asks. */
const ofEnvironment: readonly (readonly [name: string, kind: string, path: string])[] = [
  ['', 'environment', ''],
  ['logs', 'page', '/logs'],
  ['variables', 'page', '/variables'],
  ['services', 'page', '/services'],
  ['domains', 'page', '/domains'],
  ['backups', 'page', '/backups'],
  ['settings', 'page', '/settings'],
  ['deploy', 'action', '/deployments?ask=deploy'],
  ['deploy a folder', 'action', '/deployments?ask=upload'],
  ['stop', 'action', '/deployments?ask=stop'],
  ['add a service', 'action', '/services?ask=service'],
  ['add a variable', 'action', '/variables?ask=variable'],
  ['edit as .env', 'action', '/variables?ask=env'],
  ['back up now', 'action', '/backups?ask=backup'],
  ['import a dump', 'action', '/backups?ask=import'],
  ['schedule backups', 'action', '/backups?ask=schedule'],
];
const ofProject: readonly (readonly [name: string, ask: string])[] = [
  ['new environment', 'environment'],
  ['change', 'change'],
  ['remove', 'remove'],
];
const ofServer: readonly (readonly [name: string, ask: string])[] = [
  ['change', 'change'],
  ['remove', 'remove'],
];
const ofCluster: readonly (readonly [name: string, kind: string, path: string])[] = [
  ['', 'cluster', ''],
  ['add servers', 'action', '?ask=servers'],
  ['reboot all', 'action', '?ask=reboot'],
  ['delete', 'action', '?ask=delete'],
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
  const clusters = useClusters();
  const places = useMemo(
    (): readonly Place[] => [
      ...(projects.value ?? []).flatMap((project) => [
        { name: project.name, kind: 'project', path: `/projects/${project.id}` },
        ...ofProject.map(([name, ask]) => ({
          name: `${project.name} / ${name}`,
          kind: 'action',
          path: `/projects/${project.id}?ask=${ask}`,
        })),
        ...project.environments.flatMap((environment) =>
          ofEnvironment.map(([name, kind, path]) => ({
            name: [project.name, environment.name, name].filter(Boolean).join(' / '),
            kind,
            path: `/environments/${environment.id}${path}`,
          })),
        ),
      ]),
      ...(servers.value ?? []).flatMap(({ id, name }) => [
        { name, kind: 'server', path: `/servers/${id}` },
        ...ofServer.map(([action, ask]) => ({
          name: `${name} / ${action}`,
          kind: 'action',
          path: `/servers/${id}?ask=${ask}`,
        })),
      ]),
      ...(clusters.value ?? []).flatMap(({ id, name }) =>
        ofCluster.map(([what, kind, path]) => ({
          name: [name, what].filter(Boolean).join(' / '),
          kind,
          path: `/clusters/${id}${path}`,
        })),
      ),
      ...(domains.value ?? []).map(({ hostname }) => ({ name: hostname, kind: 'domain', path: '/domains' })),
      ...pages,
    ],
    [projects.value, servers.value, clusters.value, domains.value],
  );
  // What is written so comes before what only has the letters.
  const isNear = ({ name }: Place) => name.toLowerCase().includes(wanted.toLowerCase());
  const found = places
    .filter(({ name }) => fits(name, wanted))
    .sort((one, other) => Number(isNear(other)) - Number(isNear(one)))
    .slice(0, mostShown);
  const go = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    if (place.isElsewhere) open(place.path, '_blank', 'noreferrer');
    else route(place.path);
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
        placeholder="A project, a server, a page, or what to do …"
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
