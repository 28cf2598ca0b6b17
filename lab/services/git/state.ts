/** What the host remembers besides the repositories themselves: one JSON file, always written whole. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

const Account = Type.Object({
  id: Type.Integer(),
  login: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  kind: Type.Enum(['user', 'org']),
  email: Type.String(),
  createdAt: Type.String(),
});

const Token = Type.Object({ token: Type.String(), login: Type.String(), scopes: Type.Array(Type.String()) });
const Member = Type.Object({ org: Type.String(), login: Type.String() });

const Repository = Type.Object({
  id: Type.Integer(),
  owner: Type.String(),
  name: Type.String(),
  private: Type.Boolean(),
  defaultBranch: Type.String(),
  protectedBranches: Type.Array(Type.String()),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  pushedAt: Type.String(),
  /** Counted after each push, so that a list of repositories starts no process per repository. */
  language: Type.Union([Type.String(), Type.Null()]),
  sizeKb: Type.Integer(),
});

const Hook = Type.Object({
  id: Type.Integer(),
  repositoryId: Type.Integer(),
  active: Type.Boolean(),
  events: Type.Array(Type.String()),
  url: Type.String(),
  contentType: Type.Enum(['json', 'form']),
  secret: Type.Union([Type.String(), Type.Null()]),
  insecureSsl: Type.Boolean(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  lastResponse: Type.Object({
    code: Type.Union([Type.Integer(), Type.Null()]),
    status: Type.String(),
    message: Type.Union([Type.String(), Type.Null()]),
  }),
});

const DeployKey = Type.Object({
  id: Type.Integer(),
  repositoryId: Type.Integer(),
  title: Type.String(),
  key: Type.String(),
  readOnly: Type.Boolean(),
  addedBy: Type.String(),
  createdAt: Type.String(),
});

const Status = Type.Object({
  id: Type.Integer(),
  repositoryId: Type.Integer(),
  sha: Type.String(),
  state: Type.Enum(['error', 'failure', 'pending', 'success']),
  targetUrl: Type.Union([Type.String(), Type.Null()]),
  description: Type.Union([Type.String(), Type.Null()]),
  context: Type.String(),
  creator: Type.String(),
  createdAt: Type.String(),
});

const State = Type.Object({
  lastId: Type.Integer(),
  accounts: Type.Array(Account),
  tokens: Type.Array(Token),
  members: Type.Array(Member),
  repositories: Type.Array(Repository),
  hooks: Type.Array(Hook),
  deployKeys: Type.Array(DeployKey),
  statuses: Type.Array(Status),
});

export type Account = Static<typeof Account>;
export type Token = Static<typeof Token>;
export type Repository = Static<typeof Repository>;
export type Hook = Static<typeof Hook>;
export type DeployKey = Static<typeof DeployKey>;
export type Status = Static<typeof Status>;
type State = Static<typeof State>;

const nothing: State = {
  lastId: 0,
  accounts: [],
  tokens: [],
  members: [],
  repositories: [],
  hooks: [],
  deployKeys: [],
  statuses: [],
};

export interface Store {
  readonly dir: string;
  readonly state: State;
  nextId(): number;
  /** On the disk when it returns: what a request changed must not be forgotten after it was answered. */
  save(): void;
}

export function openStore(dir: string): Store {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // No login contains a dot, so that the file can never be in the way of an owner's folder.
  const path = join(dir, 'git-host.json');
  const state = readState(path);
  return {
    dir,
    state,
    nextId: () => ++state.lastId,
    save: () => writeJsonWhole(path, state),
  };
}

function readState(path: string): State {
  const text = readIfThere(path);
  if (text === undefined) return structuredClone(nothing);
  const value: unknown = JSON.parse(text);
  if (Value.Check(State, value)) return value;
  const [error] = Value.Errors(State, value);
  throw new Error(`${path} is not the state of a Git host: ${error?.instancePath} ${error?.message}`);
}

export function writeJsonWhole(path: string, value: unknown): void {
  const draft = `${path}.new`;
  // Tokens and secrets are in it.
  writeFileSync(draft, `${JSON.stringify(value, null, 1)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** As GitHub writes it: whole seconds. */
export function timestamp(date = new Date()): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
