/** Changes of refs, one at a time in each repository, so that every one of them is announced exactly once. */
import type { Registry } from '../registry.ts';
import type { BareRepository } from '../repository/git.ts';
import { languagesOf } from '../repository/languages.ts';
import { noCommit, readRefs } from '../repository/refs.ts';
import type { Repositories } from '../repository/repositories.ts';
import { listTree } from '../repository/trees.ts';
import { type Account, type Repository, timestamp } from '../state.ts';
import type { Urls } from '../views/urls.ts';
import { type PushContext, pushPayload, type RefUpdate, refPayload } from './push-events.ts';
import type { Webhooks } from './webhooks.ts';

/** GitHub is silent about more of them in one push. */
const mostTags = 3;
const mostBranches = 5_000;

export class Pushes {
  readonly #registry: Registry;
  readonly #repositories: Repositories;
  readonly #webhooks: Webhooks;
  readonly #urls: Urls;
  readonly #last = new Map<number, Promise<unknown>>();

  constructor(registry: Registry, repositories: Repositories, webhooks: Webhooks, urls: Urls) {
    this.#registry = registry;
    this.#repositories = repositories;
    this.#webhooks = webhooks;
    this.#urls = urls;
  }

  /** Runs what may change refs, then announces what it changed, even if it failed half way. */
  during<T>(repository: Repository, pusher: Account, work: () => Promise<T>): Promise<T> {
    return this.#alone(repository.id, async () => {
      const bare = this.#repositories.of(repository);
      const before = await readRefs(bare);
      try {
        return await work();
      } finally {
        await this.#announce(
          { repository, bare, pusher, registry: this.#registry, urls: this.#urls },
          before,
        );
      }
    });
  }

  /** Resolves when no push is under way. */
  async idle(): Promise<void> {
    while (this.#last.size > 0) await Promise.allSettled(this.#last.values());
  }

  #alone<T>(id: number, work: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(id) ?? Promise.resolve()).then(work, work);
    this.#last.set(id, mine);
    const done = () => {
      if (this.#last.get(id) === mine) this.#last.delete(id);
    };
    mine.then(done, done);
    return mine;
  }

  async #announce(context: PushContext, before: ReadonlyMap<string, string>): Promise<void> {
    const after = await readRefs(context.bare);
    const updates = updatesBetween(before, after);
    if (updates.length === 0) return;
    await adoptFirstBranch(context, before, after);
    const { repository, bare } = context;
    await this.recount(repository, bare, after.get(`refs/heads/${repository.defaultBranch}`));
    const known = new Map(before);
    for (const update of loudOnes(updates)) {
      await this.#tell(context, update, known);
      if (update.after === noCommit) known.delete(update.ref);
      else known.set(update.ref, update.after);
    }
  }

  /** What lists say of the repository, counted once per push instead of once per list. */
  async recount(repository: Repository, bare: BareRepository, tip: string | undefined): Promise<void> {
    const entries = tip ? await listTree(bare, tip, true) : [];
    repository.language = Object.keys(languagesOf(entries))[0] ?? null;
    repository.sizeKb = Math.ceil(bare.bytes() / 1024);
    repository.pushedAt = timestamp();
    repository.updatedAt = repository.pushedAt;
    this.#registry.store.save();
  }

  async #tell(context: PushContext, update: RefUpdate, known: ReadonlyMap<string, string>): Promise<void> {
    const { id } = context.repository;
    const event = update.before === noCommit ? 'create' : update.after === noCommit ? 'delete' : undefined;
    if (event && this.#webhooks.listeners(id, event).length > 0)
      this.#webhooks.publish(id, event, refPayload(context, update));
    if (this.#webhooks.listeners(id, 'push').length > 0)
      this.#webhooks.publish(id, 'push', await pushPayload(context, update, known));
  }
}

/** The first branch of an empty repository becomes its default, whatever it is called. */
async function adoptFirstBranch(
  { repository, bare }: PushContext,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Promise<void> {
  const isBranch = (ref: string) => ref.startsWith('refs/heads/');
  const [first] = [...after.keys()].filter(isBranch);
  if (!first || [...before.keys()].some(isBranch) || after.has(`refs/heads/${repository.defaultBranch}`))
    return;
  await bare.run(['symbolic-ref', 'HEAD', first]);
  repository.defaultBranch = first.replace(/^refs\/heads\//, '');
}

function updatesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): RefUpdate[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .map((ref) => ({ ref, before: before.get(ref) ?? noCommit, after: after.get(ref) ?? noCommit }))
    .filter((update) => update.before !== update.after);
}

/** Other refs, as those of notes, have no events. */
function loudOnes(updates: readonly RefUpdate[]): RefUpdate[] {
  const branches = updates.filter(({ ref }) => ref.startsWith('refs/heads/'));
  const tags = updates.filter(({ ref }) => ref.startsWith('refs/tags/'));
  return [...(branches.length > mostBranches ? [] : branches), ...(tags.length > mostTags ? [] : tags)];
}
