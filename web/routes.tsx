/** Which address shows which page. What a first view needs is loaded with it, all else when it is asked for. */
import { ErrorBoundary, LocationProvider, lazy, Route, Router } from 'preact-iso';
import { session } from './data/session.ts';
import { Overview } from './pages/overview.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Unreachable } from './pages/unreachable.tsx';
import { Shell } from './parts/shell.tsx';
import { ProofDialog } from './ui/proof.tsx';

const later = {
  environment: lazy(() => import('./pages/environment.tsx').then((page) => page.EnvironmentPage)),
  project: lazy(() => import('./pages/project.tsx').then((page) => page.ProjectPage)),
  firstRun: lazy(() => import('./pages/first-run.tsx').then((page) => page.FirstRun)),
  servers: lazy(() => import('./pages/servers.tsx').then((page) => page.Servers)),
  server: lazy(() => import('./pages/server.tsx').then((page) => page.ServerPage)),
  domains: lazy(() => import('./pages/domains.tsx').then((page) => page.Domains)),
  backups: lazy(() => import('./pages/backups.tsx').then((page) => page.Backups)),
  connectors: lazy(() => import('./pages/connectors.tsx').then((page) => page.Connectors)),
  gitAccounts: lazy(() => import('./pages/git-accounts.tsx').then((page) => page.GitAccounts)),
  workspace: lazy(() => import('./pages/workspace.tsx').then((page) => page.WorkspacePage)),
  profile: lazy(() => import('./pages/profile.tsx').then((page) => page.Profile)),
  installation: lazy(() => import('./pages/installation.tsx').then((page) => page.InstallationPage)),
  notFound: lazy(() => import('./pages/not-found.tsx').then((page) => page.NotFound)),
};

export function App() {
  return (
    <LocationProvider>
      <ErrorBoundary>
        <Pages />
        <ProofDialog />
      </ErrorBoundary>
    </LocationProvider>
  );
}

function Pages() {
  const now = session.value;
  const { state } = now;
  if (state === 'starting') return <div class="starting" role="status" aria-label="Loading" />;
  if (state === 'unreachable') return <Unreachable />;
  if (now.state !== 'signed-in') return <SignIn />;
  return (
    // Another workspace is another page throughout: nothing of the one before stays.
    <Shell key={now.workspace.id}>
      <Router>
        <Route path="/" component={Overview} />
        <Route path="/start/:step?" component={later.firstRun} />
        <Route path="/projects/:id" component={later.project} />
        <Route path="/environments/:id/:tab?/:item?" component={later.environment} />
        <Route path="/servers" component={later.servers} />
        <Route path="/servers/:id" component={later.server} />
        <Route path="/domains" component={later.domains} />
        <Route path="/backups" component={later.backups} />
        <Route path="/connectors" component={later.connectors} />
        <Route path="/git" component={later.gitAccounts} />
        <Route path="/workspace/:tab?" component={later.workspace} />
        <Route path="/profile" component={later.profile} />
        <Route path="/installation" component={later.installation} />
        <Route default component={later.notFound} />
      </Router>
    </Shell>
  );
}
