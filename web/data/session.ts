/** Who is signed in, in which workspace, and what they may do there. */
import { computed, signal } from '@preact/signals';
import { ProblemError, type SignIn, type User, type WorkspaceMembership } from '../../sdk/index.ts';
import { api, tokens, workIn } from './api.ts';
import { failureOf } from './failure.ts';

export type Session =
  /** Nothing is rendered yet. */
  | { readonly state: 'starting' }
  /** The service does not answer: nobody knows yet whether someone is signed in. */
  | { readonly state: 'unreachable'; readonly why: string }
  | { readonly state: 'signed-out'; readonly notice: string | null }
  | { readonly state: 'signed-in'; readonly user: User; readonly workspace: WorkspaceMembership };

export const session = signal<Session>({ state: 'starting' });

export const signedIn = computed(() => (session.value.state === 'signed-in' ? session.value : undefined));

const chosenKey = 'slipway.workspace';

/** With the cookie of an earlier sign-in, where there is one. */
export async function resumeSession(): Promise<void> {
  try {
    // Each value of the cookie works once: tabs take turns, under the name that the SDK uses too.
    const refresh = () => api.refresh({ body: {} });
    await begin(await (navigator.locks?.request('slipway-refresh', refresh) ?? refresh()));
  } catch (error) {
    if (error instanceof ProblemError && error.status === 401)
      session.value = { state: 'signed-out', notice: null };
    else session.value = { state: 'unreachable', why: failureOf(error).message };
  }
}

export async function begin(signIn: SignIn): Promise<void> {
  await tokens.accept(signIn);
  enter(signIn.user, localStorage.getItem(chosenKey));
}

export async function reloadUser(): Promise<void> {
  enter(await api.getMe(), signedIn.value?.workspace.id ?? null);
}

export function chooseWorkspace(id: string): void {
  const user = signedIn.value?.user;
  if (user) enter(user, id);
}

function enter(user: User, workspaceId: string | null): void {
  const workspace = user.workspaces.find(({ id }) => id === workspaceId) ?? user.workspaces[0];
  if (!workspace) {
    session.value = { state: 'signed-out', notice: 'This account is in no workspace any more.' };
    return;
  }
  localStorage.setItem(chosenKey, workspace.id);
  workIn(workspace.id);
  session.value = { state: 'signed-in', user, workspace };
}

export async function signOut(): Promise<void> {
  await api.logout();
  await end('You are signed out.');
}

/** Its password was set anew, and nobody is signed in with the old one. */
export function forgetSession(): Promise<void> {
  return end('Your password is set. Sign in with it.');
}

/** The session ended elsewhere: by its age, a new password, or another device. */
export function sessionEnded(): Promise<void> {
  return end('Your session has ended. Sign in to go on where you were.');
}

async function end(notice: string): Promise<void> {
  if (session.value.state === 'signed-out') return;
  await tokens.clear();
  workIn(undefined);
  session.value = { state: 'signed-out', notice };
}

export type Permission = 'deploy' | 'change' | 'manage' | 'read_secrets' | 'own';

const least: Readonly<Record<Permission, readonly WorkspaceMembership['role'][]>> = {
  deploy: ['owner', 'admin', 'member'],
  change: ['owner', 'admin', 'member'],
  manage: ['owner', 'admin'],
  read_secrets: ['owner', 'admin'],
  own: ['owner'],
};

/** Why a button may not be pressed, for those who may not; the service decides again by itself. */
export function whyNot(permission: Permission): string | undefined {
  const role = signedIn.value?.workspace.role;
  if (!role || least[permission].includes(role)) return undefined;
  return `Your role here is ${role}; this needs ${least[permission].at(-1)}.`;
}
