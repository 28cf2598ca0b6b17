/** Texts that have run elsewhere when they were put into a field, in every field of every operation. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { sql } from '../../src/store/sql.ts';
import { type EnvironmentScene, startEnvironmentScene } from '../support/environments.ts';
import { until } from '../support/until.ts';
import { api, belongings, env, none, ownIds } from './belongings.ts';
import { send, whole } from './send.ts';
import { type Json, leavesOf, type Operation, surfaceOf, valueAt, withValue } from './surface.ts';

/** What has run elsewhere when it was put into a field. `MARK` is a file that only a shell would make. */
function canaries(mark: string): string[] {
  return [
    `;touch ${mark};`,
    `$(touch ${mark})`,
    `\`touch ${mark}\``,
    `' ; touch ${mark} #`,
    `" && touch ${mark} && "`,
    `x\ntouch ${mark}\n`,
    `x | touch ${mark} &`,
    `--upload-pack=touch ${mark}`,
    `-oProxyCommand=touch ${mark}`,
    `ext::sh -c touch% ${mark}`,
    `file:///etc/passwd`,
    `../../../../etc/passwd`,
    `' or '1'='1`,
    `\u0000`,
    `\u202e\u2066`,
    `\ud800`,
    `{{7*7}}$\{7*7}<script>alert(1)</script>`,
    'x'.repeat(100_000),
  ];
}

/** Of all texts in all fields, those that `isChosen`. How many there were. */
export async function sendTexts(
  t: TestContext,
  isChosen: (text: number, field: number) => boolean,
): Promise<number> {
  const scene = await startEnvironmentScene(t, { env });
  const own = await belongings(scene);
  const folder = mkdtempSync(join(tmpdir(), 'slipway-test-canary-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const mark = join(folder, 'ran');
  let count = 0;
  for (const operation of api(surfaceOf())) {
    if (operation.name === 'logout') continue;
    for (const [body, query, ids] of attempts(operation, own, canaries(mark), isChosen)) {
      const answer = await send(scene.service.url, operation, ids, {
        token: scene.person.token,
        body,
        query,
      });
      whole(operation, answer);
      count += 1;
    }
    assert.ok(!existsSync(mark), `${operation.name} has run a canary`);
  }
  await settled(scene);
  assert.ok(!existsSync(mark), 'work that was started has run a canary');
  return count;
}

function* attempts(
  operation: Operation,
  own: Readonly<Record<string, string>>,
  texts: readonly string[],
  isChosen: (text: number, field: number) => boolean,
): Iterable<[Json | undefined, string, Record<string, string>]> {
  const ids = ownIds(operation, own);
  // Ending the attacker's own session, or what is attacked, would end the attack.
  if (operation.method === 'DELETE') ids.id = none;
  const { example } = operation;
  const leaves = example === undefined ? [] : leavesOf(example);
  const texted = leaves.filter((at) => typeof valueAt(example ?? null, at) === 'string');
  for (const [number, text] of texts.entries()) {
    let field = 0;
    const isNext = () => isChosen(number, field++);
    for (const name of operation.inPath)
      if (isNext()) yield [example, '', { ...ids, [name]: text.slice(0, 2_000) }];
    for (const name of operation.inQuery)
      if (isNext())
        yield [example, `?${name}=${encodeURIComponent(text.slice(0, 2_000).toWellFormed())}`, ids];
    for (const at of texted) if (isNext()) yield [withValue(example ?? null, at, text), '', ids];
  }
}

/** Until what the attempts have started has ended, one way or another. */
async function settled({ service, workspaceId }: EnvironmentScene): Promise<void> {
  const { db } = service.app.store;
  await until(async () => {
    const open = await db.one(
      sql`select 1 from operations where workspace_id = ${workspaceId} and finished_at is null`,
    );
    return open === undefined;
  }, 'the operations to end');
}
