/** Fly's file: the port inside, groups of processes, a release command, mounts. */
import { asEntries, asMany, asObject, asObjects, asText, valueAt } from '../../readers/shape.ts';
import type { Parsed } from '../../repository.ts';
import { type PlatformReader, workerProcess } from '../declaration-file.ts';
import { versionsIn } from '../platform-variables.ts';

export const fly: PlatformReader = {
  names: ['fly.toml', 'fly.production.toml', 'fly.prod.toml'],
  read(file) {
    const { config } = file;
    const build = asObject(config.build);
    const groups = asEntries(config.processes).flatMap(([name, value]) => workerProcess(name, value) ?? []);
    const web = groups.find(({ name }) => name === 'web' || name === 'app') ?? groups[0];
    const sections = [...asMany(config.http_service).map(asObject), ...asObjects(config.services)];
    file.declare({
      start: web?.command ?? valueAt(config, 'experimental', 'cmd'),
      release: valueAt(config, 'deploy', 'release_command'),
      port: sections.find(({ internal_port }) => internal_port !== undefined)?.internal_port,
      health: healthOf(config, sections),
      dockerfile: file.file(build.dockerfile),
      volumes: asMany(config.mounts).map((mount) => asText(valueAt(mount, 'destination'))),
      processes: groups.filter((group) => group !== web),
      versions: versionsIn(build.args),
    });
    file.variables(config.env);
    file.variables(build.args, { build: true });
  },
};

function healthOf(config: Parsed, sections: readonly Parsed[]): unknown {
  const checks = sections.flatMap((section) => [
    ...asObjects(section.checks),
    ...asObjects(section.http_checks),
  ]);
  const named = asEntries(config.checks).map(([, check]) => asObject(check));
  return [...checks, ...named].find(({ path }) => asText(path) !== undefined)?.path;
}
