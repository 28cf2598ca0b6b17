/** Tools about what is deployed: start it, watch it, read what it printed, say why it failed, go back. */
import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { Fault } from '../../fault.ts';
import type { Caller } from './caller.ts';
import { type Tool, tool } from './tool.ts';

type Item = Readonly<Record<string, unknown>>;

export const environmentField = Type.String({
  minLength: 1,
  maxLength: 300,
  description: 'Of the environment: its id, or `project/environment` by their names.',
});
const deploymentField = Type.String({
  format: 'uuid',
  maxLength: 36,
  description: 'Of the deployment; the newest if not said.',
});
const closed = { additionalProperties: false } as const;

/** Clients give up after a minute or less. */
const longestWaitSeconds = 40;

export const deploymentTools: readonly Tool[] = [
  tool({
    name: 'deploy',
    title: 'Deploy',
    description:
      'Deploy an environment: the newest commit of its branch, another branch, or a commit. Answers at once; watch it with `follow`.',
    isRead: false,
    input: Type.Object(
      {
        environment: environmentField,
        branch: Type.Optional(Type.String({ maxLength: 255 })),
        commit: Type.Optional(Type.String({ maxLength: 40, description: 'A whole commit id.' })),
      },
      closed,
    ),
    run: async (caller, { environment, ...body }) => {
      const { id } = await caller.environment(environment);
      return brief(await caller.call('deploy', { path: { id: String(id) }, body }));
    },
  }),
  tool({
    name: 'follow',
    title: 'Follow a deployment',
    description:
      'Wait for the end of a deployment, and tell how far it is. Where it goes on after the wait, call it again.',
    isRead: true,
    input: Type.Object(
      {
        environment: environmentField,
        deployment: Type.Optional(deploymentField),
        seconds: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: longestWaitSeconds,
            description: 'How long to wait; 20 if not said.',
          }),
        ),
      },
      closed,
    ),
    run: async (caller, { environment, deployment, seconds = 20 }) => {
      const { id, url } = await caller.environment(environment);
      const until = performance.now() + seconds * 1000;
      for (;;) {
        const is = await deploymentOf(caller, String(id), deployment);
        const isOver = is.finishedAt !== null;
        if (isOver || performance.now() >= until || caller.signal.aborted) {
          const next = isOver ? nextOf(is) : 'It goes on. Call `follow` again.';
          return { ...brief(is), steps: is.steps, environmentUrl: url, next };
        }
        await sleep(1_500, undefined, { signal: caller.signal }).catch(() => undefined);
      }
    },
  }),
  tool({
    name: 'logs',
    title: 'Logs of a deployment',
    description:
      'What a deployment printed: its build, its release command, its checks. The last lines if no cursor is given.',
    isRead: true,
    rest: 'Ask for fewer `lines`, or go on with `cursor`.',
    input: Type.Object(
      {
        environment: environmentField,
        deployment: Type.Optional(deploymentField),
        lines: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: '40 if not said.' })),
        cursor: Type.Optional(
          Type.String({
            maxLength: 15,
            description: 'Lines after this one: `nextCursor` of the answer before, or `0`.',
          }),
        ),
      },
      closed,
    ),
    run: async (caller, { environment, deployment, lines = 40, cursor }) => {
      const { id } = await caller.environment(environment);
      const is = await deploymentOf(caller, String(id), deployment);
      const path = { id: String(id), did: String(is.id) };
      if (cursor !== undefined) {
        const query = { limit: String(lines), cursor };
        const { items, nextCursor } = await caller.call('getDeploymentLogs', { path, query });
        return { deployment: is.id, lines: linesOf(items), nextCursor };
      }
      return { deployment: is.id, status: is.status, lines: (await allLines(caller, path)).slice(-lines) };
    },
  }),
  tool({
    name: 'explain_failure',
    title: 'Why a deployment failed',
    description:
      'Why the newest failed deployment of an environment, or the one that is named, did not succeed: the step, the reason, a hint, the last lines.',
    isRead: true,
    input: Type.Object({ environment: environmentField, deployment: Type.Optional(deploymentField) }, closed),
    run: async (caller, { environment, deployment }) => {
      const found = await caller.environment(environment);
      const id = String(found.id);
      const recent = await recentOf(caller, id);
      const is = deployment === undefined ? recent.find(({ status }) => status === 'failed') : undefined;
      if (deployment === undefined && !is)
        return {
          failed: null,
          environmentProblem: found.problem ?? null,
          note: 'None of the newest deployments failed.',
        };
      const failed = await deploymentOf(caller, id, deployment ?? String(is?.id));
      const { fault } = failed;
      const lines = await allLines(caller, { id, did: String(failed.id) });
      const step = Object(fault).step;
      const ofStep = lines.filter((line) => line.startsWith(`[${String(step)}]`));
      return {
        ...brief(failed),
        fault,
        lastProbes: Array.from(Object(failed.probes ?? [])).slice(-3),
        lastLines: (ofStep.length > 0 ? ofStep : lines).slice(-25),
        stillLive: found.currentDeploymentId ?? null,
      };
    },
  }),
  tool({
    name: 'rollback',
    title: 'Roll back',
    description:
      'Put an earlier release back: of the deployment that is named, or of the last one that succeeded before the live one. `variables: now` runs it with the variables of today.',
    isRead: false,
    input: Type.Object(
      {
        environment: environmentField,
        deployment: Type.Optional({ ...deploymentField, description: 'Whose release is put back.' }),
        variables: Type.Optional(Type.Enum(['then', 'now'])),
      },
      closed,
    ),
    run: async (caller, { environment, deployment, variables = 'then' }) => {
      const { id, currentDeploymentId } = await caller.environment(environment);
      const recent = await recentOf(caller, String(id));
      const live = recent.find((each) => each.id === currentDeploymentId);
      const earlier = recent.find(
        (each) =>
          each.status === 'succeeded' &&
          Number(each.number) < Number(live?.number) &&
          each.id !== live?.rollbackOf,
      );
      const did = deployment ?? earlier?.id;
      if (did === undefined)
        throw new Fault(
          'nothing_to_roll_back',
          'There is no release before the live one among the newest deployments.',
          {
            hint: 'Name a `deployment` that has succeeded.',
          },
        );
      const path = { id: String(id), did: String(did) };
      return brief(await caller.call('rollBackDeployment', { path, body: { variables } }));
    },
  }),
];

/** Newest first. */
async function recentOf(caller: Caller, id: string): Promise<Item[]> {
  const { items } = await caller.call('listDeployments', { path: { id }, query: { limit: '50' } });
  return Array.from(Object(items), (each) => Object(each));
}

async function deploymentOf(caller: Caller, id: string, did: string | undefined): Promise<Item> {
  const wanted = did ?? (await recentOf(caller, id))[0]?.id;
  if (wanted === undefined)
    throw new Fault('not_found', 'Nothing was deployed there yet.', { hint: 'Start with `deploy`.' });
  return caller.call('getDeployment', { path: { id, did: String(wanted) } });
}

async function allLines(
  caller: Caller,
  path: { readonly id: string; readonly did: string },
): Promise<string[]> {
  const lines: string[] = [];
  let cursor: string | undefined = '0';
  for (let page = 0; cursor !== undefined && page < 20; page += 1) {
    const query: Record<string, string> = { limit: '1000', cursor };
    const { items, nextCursor } = await caller.call('getDeploymentLogs', { path, query });
    lines.push(...linesOf(items));
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
  }
  return lines;
}

const longestLine = 400;

function linesOf(items: unknown): string[] {
  return Array.from(Object(items ?? []), (each) => {
    const { step, line } = Object(each);
    return `[${String(step)}] ${String(line).slice(0, longestLine)}`;
  });
}

function brief(is: Item): Item {
  const { id, environmentId, number, status, step, trigger, source, commit, durationMs, rollbackOf } = is;
  const code = Object(is.fault).code ?? null;
  return {
    deployment: id,
    environmentId,
    number,
    status,
    step,
    trigger,
    source,
    commit,
    durationMs,
    rollbackOf,
    faultCode: code,
  };
}

function nextOf({ status }: Item): string {
  if (status === 'succeeded') return 'It is live.';
  return status === 'failed' ? 'Call `explain_failure`.' : 'It ended without being live.';
}
