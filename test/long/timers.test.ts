import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calendarOf } from '../../src/adapters/timers/calendar.ts';
import { removeTimers, setTimers, type Timer } from '../../src/adapters/timers/timers.ts';
import { type EnvironmentId, newId } from '../../src/ids.ts';
import { openLab } from '../support/lab.ts';
import { Random } from '../support/random.ts';
import { connect, failsWith } from '../support/remote.ts';
import { until } from '../support/until.ts';

const lab = await openLab();

interface Range {
  readonly least: number;
  readonly most: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const ranges: readonly Range[] = [
  { least: 0, most: 59 },
  { least: 0, most: 23 },
  { least: 1, most: 31 },
  { least: 1, most: 12, names: months },
  { least: 0, most: 7, names: days },
];

/** Cron as its manual tells it, asked value by value: shares nothing with what is tested. */
function matches(field: string, value: number, { least, names = [] }: Range): boolean {
  const number = (word: string) => (names.includes(word) ? names.indexOf(word) + least : Number(word));
  return field.split(',').some((item) => {
    const [span = '', step = '1'] = item.split('/');
    if (span === '*') return (value - least) % Number(step) === 0;
    const [from = '', to = from] = span.split('-');
    return value >= number(from) && value <= number(to) && (value - number(from)) % Number(step) === 0;
  });
}

function nextRuns(cron: string, after: Date, count: number): string[] {
  const fields = cron.split(' ');
  const is = (index: number, value: number) =>
    matches(fields[index] ?? '', value, ranges[index] ?? { least: 0, most: 0 });
  const runs: string[] = [];
  const dayMs = 86_400_000;
  for (let at = after.getTime(); runs.length < count && at < after.getTime() + 60_000 * dayMs; at += dayMs) {
    const date = new Date(at);
    const onDate = is(2, date.getUTCDate());
    const onDay = is(4, date.getUTCDay()) || (date.getUTCDay() === 0 && is(4, 7));
    const isStar = (fields[2] ?? '').startsWith('*') || (fields[4] ?? '').startsWith('*');
    if (!is(3, date.getUTCMonth() + 1) || !(isStar ? onDate && onDay : onDate || onDay)) continue;
    for (let minute = 0; minute < 1440 && runs.length < count; minute += 1) {
      const run = new Date(at + minute * 60_000);
      if (run > after && is(1, run.getUTCHours()) && is(0, run.getUTCMinutes()))
        runs.push(`${run.toISOString().slice(0, 19).replace('T', ' ')}`);
    }
  }
  return runs;
}

function randomField(random: Random, { least, most, names }: Range): string {
  const word = (value: number) =>
    names?.[value - least] && random.chance(0.3) ? names[value - least] : value;
  const item = () => {
    const from = random.between(least, most);
    const to = random.between(from, most);
    const kind = random.pick('one', 'range', 'stepped', 'every');
    if (kind === 'one') return `${word(from)}`;
    if (kind === 'range') return `${word(from)}-${to}`;
    return kind === 'stepped' ? `${from}-${to}/${random.between(1, 9)}` : `*/${random.between(1, 6)}`;
  };
  if (random.chance(0.35)) return '*';
  return Array.from({ length: random.pick(1, 1, 2, 3) }, item).join(',');
}

const seed = 20_261_115;
const base = '2027-01-01 00:00:00';

test(`systemd runs 100 schedules at the same times as cron (seed ${seed})`, async (t) => {
  const remote = connect(t, await lab.fresh(t, 'bare'));
  const random = new Random(seed);
  const schedules: string[] = [];
  while (schedules.length < 100) {
    const cron = ranges.map((range) => randomField(random, range)).join(' ');
    if (nextRuns(cron, new Date(`${base}Z`), 20).length === 20) schedules.push(cron);
  }
  const expressions = schedules.flatMap((cron) => calendarOf(cron));
  const script = `for each in "$@"; do
    echo "== $each"
    TZ=UTC systemd-analyze calendar --iterations=20 --base-time="${base} UTC" "$each"
  done`;
  const said = (await remote.script(script, expressions, { timeoutMs: 120_000 })).toString();
  const timesOf = new Map(
    said
      .split(/^== /m)
      .slice(1)
      .map((part) => {
        const times = part.matchAll(/(?:Next elapse|Iteration #\d+): \w+ (\S+ \S+) UTC/g);
        return [part.split('\n', 1)[0] ?? '', Array.from(times, ([, time = '']) => time)] as const;
      }),
  );
  let either = 0;
  for (const cron of schedules) {
    const calendar = calendarOf(cron);
    either += calendar.length - 1;
    const all = new Set(calendar.flatMap((each) => timesOf.get(each) ?? []));
    const found = [...all].sort().slice(0, 20);
    assert.deepEqual(found, nextRuns(cron, new Date(`${base}Z`), 20), `${cron} as ${calendar.join(' and ')}`);
  }
  assert.ok(either > 10, 'enough of them are for either day');
});

const everyFive = ['*:*:0/5'];

for (const variant of ['docker', 'bookworm'] as const) {
  test(`on ${variant}, a timer starts its container by itself, and its removal leaves nothing`, async (t) => {
    const server = await lab.fresh(t, variant);
    const remote = connect(t, server);
    const owner = newId<EnvironmentId>();
    const other = newId<EnvironmentId>();
    const sh = async (script: string, ...args: string[]) =>
      (await remote.script(script, args)).toString().trim();
    const files = () => sh('find /etc/systemd/system -name "*slipway-cron*" | sort');
    const container = 'slipway-test-tick-0';
    await remote.output(
      ['docker', 'create', '--name', container, 'debian:bookworm-slim', 'sh', '-c', 'echo tick-$((2*21))'],
      { timeoutMs: 120_000 },
    );
    const timer = (changes: Partial<Timer> = {}): Timer => ({
      name: 'tick',
      calendar: everyFive,
      starts: { container },
      ...changes,
    });
    const fence = { scope: `test-${owner}`, epoch: 3 };
    const yearly = calendarOf('@yearly');

    await setTimers(remote, owner, [timer(), timer({ calendar: yearly })], { fence });
    await setTimers(remote, other, [timer({ calendar: yearly })]);
    const ticks = async () => Number(await sh('docker logs "$1" | grep -c tick-42 || :', container));
    await until(async () => (await ticks()) >= 2, 'two runs');
    assert.doesNotMatch(await sh('journalctl --no-pager -o cat'), /tick-42/);

    // The same once more changes nothing: neither the files nor the timers' own clocks.
    const started = () =>
      sh(
        'systemctl show -p ActiveEnterTimestampMonotonic "slipway-cron-$1-0.timer"; stat -c %y%i /etc/systemd/system/slipway-cron-*',
        owner,
      );
    const before = await started();
    await setTimers(remote, owner, [timer(), timer({ calendar: yearly })], { fence });
    assert.equal(await started(), before);
    assert.equal((await files()).split('\n').length, 9);

    // As a crash leaves it between the files and their start.
    await sh('systemctl disable --now "slipway-cron-$1-1.timer" 2>&1', owner);
    await setTimers(remote, owner, [timer(), timer({ calendar: yearly })], { fence });
    const enabled = () =>
      sh(
        'systemctl is-enabled "slipway-cron-$1-1.timer"; systemctl is-active "slipway-cron-$1-1.timer"',
        owner,
      );
    assert.equal(await enabled(), 'enabled\nactive');

    // One who was replaced can change nothing.
    const old = { fence: { ...fence, epoch: 2 } };
    await assert.rejects(setTimers(remote, owner, [], old), failsWith('remote_fenced', /epoch 3/));
    assert.equal((await files()).split('\n').length, 9);

    // Another schedule takes the place of the first, and one timer less is one less.
    await setTimers(remote, owner, [timer({ calendar: calendarOf('30 4 * * *') })], { fence });
    assert.match(
      await sh('systemctl list-timers --all "slipway-cron-$1-*"', owner),
      /04:30:0.*\n\n?1 timers/,
    );
    const list = await files();
    assert.equal(list.split('\n').length, 6, list);
    assert.ok(!list.includes(`${owner}-1`));

    await removeTimers(remote, owner, { fence });
    await removeTimers(remote, owner, { fence });
    assert.doesNotMatch(await files(), new RegExp(owner));
    assert.match(await sh('systemctl list-timers --all "slipway-cron-$1-*"', owner), /^0 timers/m);
    const units = 'systemctl list-units --all --no-legend "slipway-cron-$1-*"';
    assert.equal(await sh(units, owner), '');
    assert.notEqual(await sh(units, other), '');
    await removeTimers(remote, other);
    assert.equal(await files(), '');
  });
}

test('removal ends what runs at that moment', async (t) => {
  const remote = connect(t, await lab.fresh(t, 'provisioned'));
  const owner = newId<EnvironmentId>();
  const container = 'slipway-test-long-0';
  const argv = ['docker', 'create', '--init', '--name', container, 'debian:bookworm-slim', 'sleep', '1007'];
  await remote.output(argv, { timeoutMs: 120_000 });
  await setTimers(remote, owner, [{ name: 'long', calendar: everyFive, starts: { container } }]);
  const isRunning = async () =>
    (await remote.output(['docker', 'inspect', '-f', '{{.State.Running}}', container])).toString().trim() ===
    'true';
  await until(isRunning, 'its start');
  await removeTimers(remote, owner);
  await until(async () => !(await isRunning()), 'its end');
  const left = await remote.output(['systemctl', 'list-units', '--all', '--no-legend', 'slipway-cron-*']);
  assert.equal(left.toString(), '');
});
