/** The frame around every page: where one can go, who one is, and whether what is shown is live. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import lazy from 'preact-iso/lazy';
import { useLocation } from 'preact-iso/router';
import { type Connection, connection } from '../data/live.ts';
import { chooseWorkspace, signedIn, signOut } from '../data/session.ts';
import { useAction } from '../ui/action.ts';
import { Icon, type IconName } from '../ui/icon.tsx';

const Palette = lazy(() => import('./palette.tsx').then((part) => part.Palette));

const places: readonly (readonly [path: string, text: string, icon: IconName])[] = [
  ['/', 'Overview', 'overview'],
  ['/servers', 'Servers', 'server'],
  ['/clusters', 'Clusters', 'cluster'],
  ['/domains', 'Domains', 'domain'],
  ['/backups', 'Backups', 'backup'],
  ['/connectors', 'Notifications', 'connector'],
  ['/git', 'Git accounts', 'git'],
  ['/workspace', 'Workspace', 'workspace'],
];

export function Shell({ children }: { readonly children: ComponentChildren }) {
  const [isFinding, setFinding] = useState(false);
  const { path } = useLocation();
  const menu = useRef<HTMLElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setFinding((is) => !is);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  // Another page closes the menu of a small screen.
  useEffect(() => menu.current?.removeAttribute('data-open'), [path]);
  return (
    <div class="shell">
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <header class="bar">
        <button
          type="button"
          class="button button-quiet button-icon bar-menu"
          aria-label="Menu"
          onClick={() => menu.current?.toggleAttribute('data-open')}
        >
          <Icon name="menu" />
        </button>
        <a class="brand" href="/">
          Slipway
        </a>
        <LiveMark state={connection.value} />
      </header>
      <nav class="side" ref={menu} aria-label="Pages">
        <a class="brand" href="/">
          <img src="/favicon.svg" alt="" width="22" height="22" />
          Slipway
        </a>
        <WorkspaceChoice />
        <button type="button" class="find" onClick={() => setFinding(true)}>
          <Icon name="search" />
          <span>Go to …</span>
          <kbd>Ctrl K</kbd>
        </button>
        <ul>
          {places.map(([to, text, icon]) => (
            <li key={to}>
              <a href={to} aria-current={isAt(path, to) ? 'page' : undefined}>
                <Icon name={icon} />
                {text}
              </a>
            </li>
          ))}
        </ul>
        <div class="side-end">
          <LiveMark state={connection.value} />
          <a class="side-docs" href="/api/docs" target="_blank" rel="noreferrer">
            <Icon name="link" />
            API reference
          </a>
          <Person path={path} />
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {isFinding && <Palette onClose={() => setFinding(false)} />}
    </div>
  );
}

function isAt(path: string, to: string): boolean {
  if (to === '/') return path === '/' || /^\/(projects|environments|start)\b/.test(path);
  return path === to || path.startsWith(`${to}/`);
}

const marks: Readonly<Record<Connection, readonly [status: string, text: string]>> = {
  connecting: ['busy', 'Connecting'],
  live: ['good', 'Live'],
  lost: ['warn', 'Reconnecting'],
};

function LiveMark({ state }: { readonly state: Connection }) {
  const [tone, text] = marks[state];
  return (
    <span class={`status status-${tone} live-mark`} role="status">
      <span class="dot" aria-hidden="true" />
      {text}
    </span>
  );
}

function WorkspaceChoice() {
  const now = signedIn.value;
  if (!now || now.user.workspaces.length < 2) return <p class="side-workspace">{now?.workspace.name}</p>;
  return (
    <select
      class="input side-choice"
      aria-label="Workspace"
      value={now.workspace.id}
      onChange={(event) => chooseWorkspace(event.currentTarget.value)}
    >
      {now.user.workspaces.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function Person({ path }: { readonly path: string }) {
  const leaving = useAction(signOut);
  const { user } = signedIn.value ?? {};
  return (
    <div class="person">
      <a href="/profile" aria-current={path === '/profile' ? 'page' : undefined} title={user?.email}>
        <Icon name="profile" />
        <span class="clip">{user?.name ?? user?.email}</span>
      </a>
      <button
        type="button"
        class="button button-quiet button-icon"
        aria-label="Sign out"
        title="Sign out"
        onClick={() => leaving.run()}
      >
        <Icon name="out" />
      </button>
    </div>
  );
}
