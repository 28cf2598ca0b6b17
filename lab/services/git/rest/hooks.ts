/** Hooks of a repository: made, changed and tried. */
import { readRefs } from '../repository/refs.ts';
import type { Hook } from '../state.ts';
import { timestamp } from '../state.ts';
import { simpleUser } from '../views/accounts.ts';
import { hookView } from '../views/hooks.ts';
import { organisationPart, repositoryView } from '../views/repositories.ts';
import { pushPayload } from '../webhooks/push-events.ts';
import { newHook } from '../webhooks/webhooks.ts';
import { created, noContent, notFound, ok } from './answers.ts';
import { checkHook, hookSettings } from './hook-settings.ts';
import { forWriters, param, type RepositoryCall, type SignedInCall } from './operation.ts';
import { pageAnswer } from './paging.ts';

type HookCall = RepositoryCall & SignedInCall;

const path = '/repos/{owner}/{repo}/hooks';
const one = `${path}/{hook_id}`;
const toRead = ['read:repo_hook', 'public_repo', 'repo'];
const toWrite = ['write:repo_hook', 'public_repo', 'repo'];
const toDelete = ['admin:repo_hook', 'public_repo', 'repo'];

export const hookOperations = [
  forWriters({ id: 'repos/list-webhooks', method: 'GET', path, scopes: toRead }, (call) =>
    pageAnswer(call, hooksOf(call), (hook) => hookView(hook, call.repository, call.urls)),
  ),

  forWriters({ id: 'repos/create-webhook', method: 'POST', path, scopes: toWrite }, (call) => {
    const { repository, registry, urls, webhooks } = call;
    const settings = hookSettings(call.body, undefined);
    checkHook(settings, hooksOf(call));
    const hook = newHook({ ...settings, id: registry.store.nextId(), repositoryId: repository.id });
    registry.store.state.hooks.push(hook);
    registry.store.save();
    if (hook.active) webhooks.deliver(hook, 'ping', pingPayload(call, hook));
    const view = hookView(hook, repository, urls);
    return created(view, view.url);
  }),

  forWriters({ id: 'repos/get-webhook', method: 'GET', path: one, scopes: toRead }, (call) =>
    ok(hookView(hookAt(call), call.repository, call.urls)),
  ),

  forWriters({ id: 'repos/update-webhook', method: 'PATCH', path: one, scopes: toWrite }, (call) => {
    const hook = hookAt(call);
    const settings = hookSettings(call.body, hook);
    const others = hooksOf(call).filter((other) => other !== hook);
    checkHook(settings, others);
    Object.assign(hook, settings, { updatedAt: timestamp() });
    call.registry.store.save();
    return ok(hookView(hook, call.repository, call.urls));
  }),

  forWriters({ id: 'repos/delete-webhook', method: 'DELETE', path: one, scopes: toDelete }, (call) => {
    const { state, save } = call.registry.store;
    const hook = hookAt(call);
    state.hooks.splice(state.hooks.indexOf(hook), 1);
    save();
    call.webhooks.deliveries.forget(hook.id);
    return noContent;
  }),

  forWriters({ id: 'repos/ping-webhook', method: 'POST', path: `${one}/pings`, scopes: toRead }, (call) => {
    const hook = hookAt(call);
    call.webhooks.deliver(hook, 'ping', pingPayload(call, hook));
    return noContent;
  }),

  forWriters(
    { id: 'repos/test-push-webhook', method: 'POST', path: `${one}/tests`, scopes: toRead },
    async (call) => {
      const hook = hookAt(call);
      if (hook.events.includes('push') || hook.events.includes('*')) await repeatLastPush(call, hook);
      return noContent;
    },
  ),
];

export function hooksOf({ registry, repository }: RepositoryCall): Hook[] {
  return registry.store.state.hooks.filter((hook) => hook.repositoryId === repository.id);
}

export function hookAt(call: RepositoryCall): Hook {
  const hook = hooksOf(call).find(({ id }) => String(id) === param(call, 'hook_id'));
  if (!hook) throw notFound();
  return hook;
}

function pingPayload({ repository, registry, urls, caller }: HookCall, hook: Hook) {
  return {
    zen: 'Keep it logically awesome.',
    hook_id: hook.id,
    hook: hookView(hook, repository, urls),
    repository: repositoryView(repository, registry, urls),
    ...organisationPart(repository, registry, urls),
    sender: simpleUser(caller.account, urls),
  };
}

/** As if the last commit of the default branch had just been pushed. */
async function repeatLastPush(call: HookCall, hook: Hook): Promise<void> {
  const { repository, bare, registry, urls, webhooks, caller } = call;
  const ref = `refs/heads/${repository.defaultBranch}`;
  const refs = await readRefs(bare);
  const tip = refs.get(ref);
  if (!tip) return;
  const context = { repository, bare, registry, urls, pusher: caller.account };
  webhooks.deliver(hook, 'push', await pushPayload(context, { ref, before: tip, after: tip }, refs));
}
