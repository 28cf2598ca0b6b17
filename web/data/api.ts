/** The one way to the service: the SDK, as the person who is signed in, in the workspace that they chose. */
import { ClientSession, createClient, type Operations } from '../../sdk/index.ts';

/** The access token lives here, in memory; what renews it is a cookie that no script can read. */
export const tokens = new ClientSession();

export let api: Operations = createClient({ auth: tokens });

export function workIn(workspaceId: string | undefined): void {
  api = createClient({ auth: tokens, workspace: workspaceId });
}
