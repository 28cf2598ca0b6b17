/** Which address shows which page. What a first view needs is loaded with it, all else when it is asked for. */
import lazy, { ErrorBoundary } from 'preact-iso/lazy';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router';
import { session } from './data/session.ts';
import { Overview } from './pages/overview.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Unreachable } from './pages/unreachable.tsx';
import { Shell } from './parts/shell.tsx';
import { ProofDialog } from './ui/proof.tsx';

const rest = () => import('./pages/rest.ts');

const later = {
  environment: lazy(() => import('./pages/environment.tsx').then((page) => page.EnvironmentPage)),
  project: lazy(() => rest().then((pages) => pages.ProjectPage)),
  firstRun: lazy(() => rest().then((pages) => pages.FirstRun)),
  servers: lazy(() => rest().then((pages) => pages.Servers)),
  server: lazy(() => rest().then((pages) => pages.ServerPage)),
  clusters: lazy(() => rest().then((pages) => pages.Clusters)),
  cluster: lazy(() => rest().then((pages) => pages.ClusterPage)),
  domains: lazy(() => rest().then((pages) => pages.Domains)),
  backups: lazy(() => rest().then((pages) => pages.Backups)),
  connectors: lazy(() => rest().then((pages) => pages.Connectors)),
  gitAccounts: lazy(() => rest().then((pages) => pages.GitAccounts)),
  workspace: lazy(() => rest().then((pages) => pages.WorkspacePage)),
  profile: lazy(() => rest().then((pages) => pages.Profile)),
  device: lazy(() => rest().then((pages) => pages.DevicePage)),
  installation: lazy(() => rest().then((pages) => pages.InstallationPage)),
  join: lazy(() => rest().then((pages) => pages.Join)),
  resetPassword: lazy(() => rest().then((pages) => pages.ResetPassword)),
  notFound: lazy(() => rest().then((pages) => pages.NotFound)),
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
  const { path } = useLocation();
  if (now.state === 'unreachable') return <Unreachable />;
  if (path === '/reset-password') return <later.resetPassword />;
  if (now.state !== 'signed-in') return <SignIn />;
  if (path === '/invitation') return <later.join />;
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
        <Route path="/clusters" component={later.clusters} />
        <Route path="/clusters/:id" component={later.cluster} />
        <Route path="/domains" component={later.domains} />
        <Route path="/backups" component={later.backups} />
        <Route path="/connectors" component={later.connectors} />
        <Route path="/git" component={later.gitAccounts} />
        <Route path="/workspace/:tab?" component={later.workspace} />
        <Route path="/profile" component={later.profile} />
        <Route path="/device" component={later.device} />
        <Route path="/installation" component={later.installation} />
        <Route default component={later.notFound} />
      </Router>
    </Shell>
  );
}
