import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDeployScene } from '../support/deployments.ts';
import { openLab } from '../support/lab.ts';
import { plainApp, plainSettings } from '../support/plain-app.ts';

const lab = await openLab();

test('whoever has a build or a release command print without end fills neither the server nor our database, and the last words are told', async (t) => {
  const scene = await startDeployScene(t, lab);
  const flood = 'yes 0123456789 | head -c 60000000; echo the last words; exit 3';
  const logOf = async (environmentId: string, id: unknown) => {
    const lines: string[] = [];
    for (let cursor = '0'; ; ) {
      const path = `/environments/${environmentId}/deployments/${id}/logs?limit=1000&cursor=${cursor}`;
      const { items, nextCursor } = await scene.call('GET', path);
      lines.push(...Object(items).map(({ line }: { line: string }) => line));
      if (typeof nextCursor !== 'string') return lines;
      cursor = nextCursor;
    }
  };
  for (const [code, files, settings] of [
    ['release_command_failed', plainApp(), { ...plainSettings, releaseCommand: flood }],
    ['build_failed', plainApp(`RUN ${flood}`), plainSettings],
  ] as const) {
    const { environmentId, deployment } = await scene.deployed({ files, settings });
    const { fault, id } = deployment;
    assert.equal(Object(fault).code, code, JSON.stringify(fault));
    assert.match(Object(fault).evidence, /the last words/);
    const lines = await logOf(environmentId, id);
    assert.ok(lines.length < 11_500, `${lines.length} lines`);
    assert.ok(lines.join('\n').length < 1.5 * 1024 * 1024);
    const kept = Number(await scene.server.ssh('du -sB1 /var/lib/slipway/units | cut -f 1'));
    assert.ok(kept < 10_000_000, `${kept} bytes on the server`);
    if (code === 'release_command_failed')
      assert.ok(
        lines.some((line) => /^\[Slipway: \d+ lines, \d+ characters were left out here\]$/.test(line)),
      );
  }
});
