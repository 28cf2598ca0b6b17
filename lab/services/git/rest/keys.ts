/** Deploy keys. They are kept and shown; no SSH is served here. */
import type { DeployKey } from '../state.ts';
import { timestamp } from '../state.ts';
import { created, noContent, notFound, ok, validationFailed } from './answers.ts';
import { forWriters, param, type RepositoryCall } from './operation.ts';
import { pageAnswer } from './paging.ts';

const path = '/repos/{owner}/{repo}/keys';
const one = `${path}/{key_id}`;
const scopes = ['public_repo', 'repo'];

export const keyOperations = [
  forWriters({ id: 'repos/list-deploy-keys', method: 'GET', path, scopes }, (call) =>
    pageAnswer(call, keysOf(call), (key) => keyView(call, key)),
  ),

  forWriters({ id: 'repos/create-deploy-key', method: 'POST', path, scopes }, (call) => {
    const { repository, registry, caller, body } = call;
    const { store } = registry;
    const { title = '', read_only: readOnly = false } = body;
    const key = typeof body.key === 'string' ? keyOf(body.key) : undefined;
    if (key === undefined)
      throw problem('key', 'key is invalid. You must supply a key in OpenSSH public key format');
    if (typeof title !== 'string') throw problem('title', 'title must be a string');
    if (typeof readOnly !== 'boolean') throw problem('read_only', 'read_only must be true or false');
    // A key opens one repository only, on the whole of GitHub.
    if (store.state.deployKeys.some((other) => other.key === key))
      throw problem('key', 'key is already in use');
    const added: DeployKey = {
      id: store.nextId(),
      repositoryId: repository.id,
      title,
      key,
      readOnly,
      addedBy: caller.account.login,
      createdAt: timestamp(),
    };
    store.state.deployKeys.push(added);
    store.save();
    const view = keyView(call, added);
    return created(view, view.url);
  }),

  forWriters({ id: 'repos/get-deploy-key', method: 'GET', path: one, scopes }, (call) =>
    ok(keyView(call, keyAt(call))),
  ),

  forWriters({ id: 'repos/delete-deploy-key', method: 'DELETE', path: one, scopes }, (call) => {
    const { state, save } = call.registry.store;
    state.deployKeys.splice(state.deployKeys.indexOf(keyAt(call)), 1);
    save();
    return noContent;
  }),
];

function problem(field: string, message: string) {
  return validationFailed({ resource: 'PublicKey', field, code: 'custom', message });
}

/** Kind and key without the comment; the key must say its own kind at its beginning. */
function keyOf(text: string): string | undefined {
  const [kind = '', encoded = ''] = text.trim().split(/\s+/);
  if (!/^(ssh-(rsa|ed25519)|ecdsa-sha2-nistp(256|384|521)|sk-[\w@.-]+)$/.test(kind)) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const named = bytes.length > 4 ? bytes.toString('latin1', 4, 4 + bytes.readUInt32BE(0)) : '';
  return named === kind ? `${kind} ${encoded}` : undefined;
}

function keysOf({ registry, repository }: RepositoryCall): DeployKey[] {
  return registry.store.state.deployKeys.filter((key) => key.repositoryId === repository.id);
}

function keyAt(call: RepositoryCall): DeployKey {
  const key = keysOf(call).find(({ id }) => String(id) === param(call, 'key_id'));
  if (!key) throw notFound();
  return key;
}

function keyView({ urls, repository }: RepositoryCall, key: DeployKey) {
  return {
    id: key.id,
    key: key.key,
    url: `${urls.apiOf(repository)}/keys/${key.id}`,
    title: key.title,
    verified: true,
    created_at: key.createdAt,
    read_only: key.readOnly,
    added_by: key.addedBy,
    last_used: null,
    enabled: true,
  };
}
