/** The accounts, tokens and repositories the host knows, and the rules by which new ones are let in. */
import { randomInt } from 'node:crypto';
import { zone } from '../../places.ts';
import type { Caller } from './access.ts';
import type { Account, Repository, Store, Token } from './state.ts';
import { timestamp } from './state.ts';

/** A wrong request to the lab; `statusCode` is what the control service answers with. */
export class Refusal extends Error {
  readonly statusCode: number;
  constructor(message: string, statusCode = 422) {
    super(message);
    this.name = 'Refusal';
    this.statusCode = statusCode;
  }
}

export interface NewRepository {
  readonly owner: string;
  readonly name: string;
  readonly private?: boolean;
  readonly defaultBranch?: string;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export class Registry {
  readonly store: Store;
  constructor(store: Store) {
    this.store = store;
  }

  account(login: string): Account | undefined {
    return this.store.state.accounts.find((account) => same(account.login, login));
  }

  accountByEmail(email: string): Account | undefined {
    return this.store.state.accounts.find((account) => same(account.email, email));
  }

  knownAccount(login: string): Account {
    const account = this.account(login);
    if (!account) throw new Refusal(`There is no account ${login}.`, 404);
    return account;
  }

  repository(owner: string, name: string): Repository | undefined {
    return this.store.state.repositories.find((each) => same(each.owner, owner) && same(each.name, name));
  }

  knownRepository(owner: string, name: string): Repository {
    const repository = this.repository(owner, name);
    if (!repository) throw new Refusal(`There is no repository ${owner}/${name}.`, 404);
    return repository;
  }

  caller(token: string): Caller | undefined {
    const found = this.store.state.tokens.find((each) => each.token === token);
    const account = found && this.account(found.login);
    return account && { token, account, scopes: found.scopes };
  }

  isMember(org: string, login: string): boolean {
    return this.store.state.members.some((member) => same(member.org, org) && same(member.login, login));
  }

  organisationsOf(login: string): Account[] {
    return this.store.state.accounts.filter(
      ({ kind, login: org }) => kind === 'org' && this.isMember(org, login),
    );
  }

  addAccount(login: string, name: string | null, kind: 'user' | 'org'): Account {
    if (!/^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){0,38}$/i.test(login))
      throw new Refusal(`"${login}" is not a login: letters, digits and single hyphens inside, at most 39.`);
    if (this.account(login)) throw new Refusal(`The account ${login} exists already.`, 409);
    const id = this.store.nextId();
    const account: Account = {
      id,
      login,
      name,
      kind,
      email: `${login.toLowerCase()}@${zone}`,
      createdAt: timestamp(),
    };
    this.store.state.accounts.push(account);
    this.store.save();
    return account;
  }

  addToken(login: string, scopes: readonly string[], wanted?: string): Token {
    const account = this.knownAccount(login);
    if (account.kind === 'org') throw new Refusal('An organisation has no tokens; its members have.');
    const token = wanted ?? `ghp_${Array.from({ length: 36 }, () => letters[randomInt(62)]).join('')}`;
    if (!/^[A-Za-z0-9_]{8,255}$/.test(token))
      throw new Refusal('A token is made of letters, digits and _, at least 8.');
    if (this.caller(token)) throw new Refusal('This token exists already.', 409);
    const added = { token, login: account.login, scopes: [...scopes] };
    this.store.state.tokens.push(added);
    this.store.save();
    return added;
  }

  revokeToken(token: string): void {
    const tokens = this.store.state.tokens;
    const index = tokens.findIndex((each) => each.token === token);
    if (index < 0) throw new Refusal('There is no such token.', 404);
    tokens.splice(index, 1);
    this.store.save();
  }

  addMember(org: string, login: string): void {
    const organisation = this.knownAccount(org);
    const member = this.knownAccount(login);
    if (organisation.kind !== 'org') throw new Refusal(`${org} is not an organisation.`);
    if (member.kind !== 'user') throw new Refusal(`${login} is not a user.`);
    if (this.isMember(org, login)) return;
    this.store.state.members.push({ org: organisation.login, login: member.login });
    this.store.save();
  }

  /** Checks only: the repository is added once it is on the disk, so that no answer ever names half a one. */
  draftRepository(input: NewRepository): Repository {
    const owner = this.knownAccount(input.owner).login;
    if (!/^[\w.-]{1,100}$/.test(input.name) || /^\.{1,2}$|\.git$/i.test(input.name))
      throw new Refusal(`"${input.name}" is not a name for a repository.`);
    if (this.repository(owner, input.name))
      throw new Refusal(`The repository ${owner}/${input.name} exists already.`, 409);
    const now = timestamp();
    return {
      id: this.store.nextId(),
      owner,
      name: input.name,
      private: input.private ?? false,
      defaultBranch: input.defaultBranch ?? 'main',
      protectedBranches: [],
      createdAt: now,
      updatedAt: now,
      pushedAt: now,
      language: null,
      sizeKb: 0,
    };
  }

  addRepository(repository: Repository): void {
    this.store.state.repositories.push(repository);
    this.store.save();
  }
}

export function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
