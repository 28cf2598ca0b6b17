/** Which programs a Cargo package builds. */
import { isParsed, join, type Parsed, type Repository } from '../../repository.ts';

export function binariesOf(
  repository: Repository,
  directory: string,
  manifest: Parsed,
  packageName: string,
): readonly string[] {
  const found = new Set<string>();
  const declared = Array.isArray(manifest.bin) ? manifest.bin.filter(isParsed) : [];
  const paths = new Set(declared.map(({ path }) => path));
  if (repository.has(join(directory, 'src/main.rs')) && !paths.has('src/main.rs')) found.add(packageName);
  for (const { name } of declared) if (typeof name === 'string') found.add(name);
  const folder = repository.directory(join(directory, 'src/bin'));
  for (const file of [...(folder?.files ?? [])].sort()) {
    if (file.endsWith('.rs') && !paths.has(`src/bin/${file}`)) found.add(file.slice(0, -3));
  }
  for (const name of [...(folder?.folders ?? [])].sort()) {
    if (repository.has(join(directory, `src/bin/${name}/main.rs`)) && !paths.has(`src/bin/${name}/main.rs`))
      found.add(name);
  }
  return [...found].filter((name) => /^[\w.-]+$/.test(name));
}

export function chooseBinary(
  all: readonly string[],
  wanted: unknown,
  packageName: string,
): string | undefined {
  return (
    all.find((name) => name === wanted) ??
    all.find((name) => name === packageName) ??
    all.find((name) => /^(?:.*[-_])?(?:server|api|web|http|app|service|main)$/.test(name)) ??
    all.find((name) => !isBackground(name)) ??
    all[0]
  );
}

export function isBackground(name: string): boolean {
  return /^(?:.*[-_])?(?:workers?|consumer|scheduler|jobs?|queue|cron)$/.test(name);
}
