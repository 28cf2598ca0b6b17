/**
 * A deployment through Slipway beside a script that does the same docker commands over one warm `ssh`: cold, with a warm
 * build cache, the same commit again, a rollback. Then many in a row under load.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../lab/command.ts';
import { whyNot } from '../lab/needs.ts';
import { inBurst } from './deploy-burst.ts';
import { type ByHand, byHand } from './deploy-by-hand.ts';
import { underLoad } from './deploy-load.ts';
import { DeployBench } from './deploy-scene.ts';
import { count, type Figure, LeftOut, median, secondsOf } from './figure.ts';
import { openMaster } from './remote.ts';

const warmRounds = 7;

/** With a Dockerfile of its own, so that both build exactly the same. */
export const benchApp = {
  Dockerfile: [
    'FROM node:24-slim',
    'WORKDIR /app',
    'COPY package.json ./',
    'RUN node -e "let s=0; for (let i=0;i<3e8;i++) s+=i; console.log(s)"',
    'COPY . .',
    'USER 1000',
    'EXPOSE 3000',
    'CMD ["node", "server.js"]',
    '',
  ].join('\n'),
  'package.json': '{"name":"bench","private":true,"scripts":{"start":"node server.js"}}\n',
  'server.js': `const http = require('node:http');
const { createHash } = require('node:crypto');
const version = require('./version.js');
const server = http.createServer((req, res) => {
  let size = 0;
  req.on('data', (part) => { size += part.length; });
  req.on('end', () => res.end(JSON.stringify({ name: version, size })));
});
server.on('upgrade', (req, socket) => {
  const key = createHash('sha1').update(req.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + key + '\\r\\n\\r\\n');
  socket.on('data', (part) => socket.write(part));
  socket.on('error', () => socket.destroy());
});
server.listen(process.env.PORT || 3000, '0.0.0.0');
process.on('SIGTERM', () => { server.close(() => process.exit(0)); setInterval(() => server.closeIdleConnections(), 50); });
`,
  'version.js': "module.exports = 'v0';\n",
};

export async function benchDeploy(): Promise<Figure[]> {
  const reason = whyNot();
  if (reason) throw new LeftOut(reason);
  const folder = mkdtempSync(join(tmpdir(), 'slipway-bench-deploy-'));
  const bench = await DeployBench.start();
  const master = await openMaster(bench.lab, bench.server, join(folder, 'control'));
  try {
    const app = join(folder, 'app');
    await run('mkdir', ['-p', app]);
    for (const [name, content] of Object.entries(benchApp)) writeFileSync(join(app, name), content);
    const settings = { healthPath: '/', drainSeconds: 2, stopSeconds: 5 };
    const ours = await bench.environment('first', app, settings);
    const hand = await byHand(master.ssh, app, bench.server.address);
    return [
      ...(await besides(bench, ours, hand)),
      ...(await underLoad(bench, ours, hand, app, settings)),
      ...(await inBurst(bench, hand, app, settings)),
    ];
  } finally {
    await master.end();
    await bench.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function besides(bench: DeployBench, environmentId: string, hand: ByHand): Promise<Figure[]> {
  let version = 0;
  const change = async () => {
    version += 1;
    const files = { 'version.js': `module.exports = 'v${version}';\n` };
    await bench.commit('first', files);
    hand.change(files);
  };
  const cold = { ours: 0, hand: 0 };
  await change();
  await hand.forgetBuilds();
  cold.ours = (await bench.deploy(environmentId)).ms;
  await hand.forgetBuilds();
  cold.hand = await hand.deploy();
  const warm: { ours: number[]; hand: number[]; trips: number[] } = { ours: [], hand: [], trips: [] };
  let last = '';
  for (let round = -1; round < warmRounds; round += 1) {
    await change();
    const done = await bench.deploy(environmentId);
    const took = await hand.deploy();
    if (round < 0) continue;
    last = done.id;
    warm.ours.push(done.ms);
    warm.trips.push(done.trips);
    warm.hand.push(took);
  }
  const again: number[] = [];
  const back: number[] = [];
  const trips: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    again.push((await bench.deploy(environmentId)).ms);
    const done = await bench.rollback(environmentId, last);
    back.push(done.ms);
    trips.push(done.trips);
  }
  const beside = (ms: number) => ({ name: 'by hand over warm ssh', amount: secondsOf(ms) });
  return [
    { what: 'deployment, no build cache', slipway: secondsOf(cold.ours), beside: beside(cold.hand) },
    {
      what: 'deployment, warm build cache',
      slipway: secondsOf(median(warm.ours)),
      beside: beside(median(warm.hand)),
      aim: { ratioAtMost: 1.25 },
    },
    { what: 'round trips of a warm deployment', slipway: count(median(warm.trips)), aim: { atMost: 9 } },
    { what: 'the same commit again', slipway: secondsOf(median(again)), aim: { atMost: 0.6 } },
    { what: 'rollback', slipway: secondsOf(median(back)), aim: { atMost: 0.6 } },
    { what: 'round trips of a rollback', slipway: count(median(trips)) },
  ];
}
