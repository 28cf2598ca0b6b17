/** Builds an image as work that outlives us, within what a build may take of the server. */
import { Fault } from '../../fault.ts';
import type { Fence, Remote } from '../../remote/remote.ts';
import { type FollowUnitOptions, followUnit } from '../../remote/units/follow-unit.ts';
import { buildFault, buildRefused } from './build-faults.ts';
import { BuildOutput, type BuiltImage } from './build-output.ts';
import { buildScript, orphansScript } from './build-script.ts';

export { removeContext, sendContext } from './send-context.ts';

export interface ImageBuildSpec {
  /** The name of the unit; who comes back with the same joins it. */
  readonly unit: string;
  /** On the server, as `sendContext` made it: the context, `Dockerfile`, `Dockerfile.dockerignore`, `secrets/<KEY>`. */
  readonly folder: string;
  /** One of the labels: whose image it is. Together with the tag it finds the image; its repository is random. */
  readonly owner: string;
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Nobody else can guess it. What builds leave for later ones, they leave for those with the same word. */
  readonly cacheScope: string;
  /** Nothing secret: they stand in the list of processes, and in the image. */
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly secretKeys: readonly string[];
  /** One of the repository, by its path in the context, instead of `Dockerfile` in the folder. */
  readonly dockerfilePath?: string;
  readonly target?: string;
  readonly cpus: number;
  readonly memoryMb: number;
  readonly fence: Fence;
}

/** BuildKit, of the daemon itself, whatever was chosen on the server by hand; and an image that is nothing but an image. */
const environment = ['DOCKER_BUILDKIT=1', 'BUILDX_BUILDER=default', 'BUILDX_NO_DEFAULT_ATTESTATIONS=1'];

/**
 * The image. Its folder is gone then; its unit is left to be stopped. Joined where it runs already. Fails with `build_out_of_memory`, `disk_full`, `build_failed`; with
 * `remote_failed` where Docker ended under it, with `work_lost` where it was cut off: both may be tried again.
 */
export async function buildImage(
  remote: Remote,
  spec: ImageBuildSpec,
  following: FollowUnitOptions,
): Promise<BuiltImage> {
  const output = new BuildOutput();
  const line = (text: string) => {
    if (output.push(text)) following.line(text);
  };
  const own = (text: string) => output.readOwn(text);
  const unit = { name: spec.unit, argv: argvOf(spec), fence: spec.fence, what: 'The build' };
  try {
    await followUnit(remote, unit, { ...following, line, own, isKept: true });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'remote_failed') throw error;
    if (output.refusal !== undefined) throw buildRefused(output.refusal, output.failure, spec.dockerfilePath);
    // Without its last word it did not end by itself: how it would have ended nobody knows.
    if (!output.end || output.end.code === 0) throw error;
    const fault = buildFault(output.end, output.failure);
    if (fault.code === 'remote_failed') await endOrphanedSteps(remote);
    throw fault;
  }
  const built = output.end?.image;
  if (!built) throw new Fault('remote_failed', 'The build ended without telling its image.');
  return built;
}

/** Ends what the steps of builds left behind when the daemon ended under them. Builds that run are not touched. */
async function endOrphanedSteps(remote: Remote): Promise<void> {
  await remote.script(orphansScript, [], { timeoutMs: 240_000 });
}

function argvOf(spec: ImageBuildSpec): string[] {
  const { folder, owner, tag, labels, buildArgs, secretKeys, dockerfilePath = '', target } = spec;
  const limits = [String(Math.round(spec.cpus * 100)), String(Math.round(spec.memoryMb) * 1024 * 1024)];
  const pairs = (option: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).flatMap(([key, value]) => [option, `${key}=${value}`]);
  const options = [
    '--progress=plain',
    ...pairs('--label', labels),
    ...pairs('--build-arg', { ...asArguments(buildArgs), BUILDKIT_CACHE_MOUNT_NS: spec.cacheScope }),
    // Counts to what each step is made of. Without it a step is taken over from whoever ran the same one before, also
    // where it was done with their secret, or through their proxy: BuildKit looks at neither.
    ...['--add-host', `${spec.cacheScope}.slipway.invalid:127.0.0.1`],
    ...secretKeys.flatMap((key) => ['--secret', `id=${asKey(key)},src=${folder}/secrets/${key}`]),
    ...(target === undefined ? [] : ['--target', target]),
  ];
  const program = ['sh', '-eu', '-c', buildScript, 'slipway-build'];
  const image = [`${owner}=${labels[owner] ?? ''}`, tag];
  return ['env', ...environment, ...program, ...limits, folder, dockerfilePath, ...image, ...options];
}

/** To BuildKit these are orders: which frontend reads the Dockerfile, and whose caches it mounts. */
const orders = new Set(['BUILDKIT_SYNTAX', 'BUILDKIT_CACHE_MOUNT_NS']);

function asArguments(buildArgs: ImageBuildSpec['buildArgs']): ImageBuildSpec['buildArgs'] {
  const order = Object.keys(buildArgs).find((key) => orders.has(key));
  if (order === undefined) return buildArgs;
  throw new Fault('invalid_input', `The variable «${order}» cannot be given to a build.`, {
    hint: 'Remove it, or give it to the running app only (`target` «runtime»).',
  });
}

/** The option is a list with commas in it, and the key a file's name. */
function asKey(key: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(key)) return key;
  throw new Fault('invalid_input', 'A build secret has a name that cannot be one.', { evidence: key });
}
