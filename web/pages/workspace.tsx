/** The workspace: who is in it, which programs may work in it, what was done, and what it asks of its members. */
import type { ComponentType } from 'preact';
import { useRoute } from 'preact-iso/router';
import { signedIn } from '../data/session.ts';
import { Audit } from '../parts/audit.tsx';
import { Members } from '../parts/members.tsx';
import { useTitle } from '../parts/title.ts';
import { Tokens } from '../parts/tokens.tsx';
import { WorkspaceSettings } from '../parts/workspace-settings.tsx';
import { Tabs } from '../ui/tabs.tsx';

const tabs: Readonly<Record<string, readonly [text: string, component: ComponentType]>> = {
  members: ['Members', Members],
  tokens: ['API tokens', Tokens],
  audit: ['Audit', Audit],
  settings: ['Settings', WorkspaceSettings],
};

export function WorkspacePage() {
  const { params } = useRoute();
  const name = signedIn.value?.workspace.name;
  const tab = params.tab && params.tab in tabs ? params.tab : 'members';
  const [, Tab] = tabs[tab] ?? ['', Members];
  useTitle(name);
  return (
    <>
      <header class="page-head">
        <div>
          <p class="crumbs">Workspace</p>
          <h1>{name}</h1>
        </div>
      </header>
      <Tabs
        label="Workspace"
        of={Object.entries(tabs).map(([key, [text]]) => [key, text])}
        path="/workspace"
        current={tab}
      />
      <Tab />
    </>
  );
}
