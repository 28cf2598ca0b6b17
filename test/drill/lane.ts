/** What every lane of a wave has at hand, and what it says of the operations that it asked for. */
import type { Body, Ground } from '../faults/ground.ts';
import type { Scene } from './scene.ts';

/** How an operation ends where no fault explains anything else. */
export interface Expected {
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  /** Of its fault, where it is to fail. */
  readonly code?: RegExp;
  /** It may have been over before it could be cancelled. */
  readonly orSucceeded?: boolean;
}

export const well: Expected = { state: 'succeeded' };

export class Lane {
  readonly scene: Scene;
  /** Unique within the run: for versions, values and names. */
  readonly name: string;
  readonly #expected: Map<string, Expected>;
  #count = 0;

  constructor(scene: Scene, name: string, expected: Map<string, Expected>) {
    this.scene = scene;
    this.name = name;
    this.#expected = expected;
  }

  get ground(): Ground {
    return this.scene.ground;
  }

  fresh(): string {
    this.#count += 1;
    return `${this.name}-${this.#count}`;
  }

  expect(operationId: unknown, expected: Expected): void {
    if (typeof operationId !== 'string') throw new Error('an operation that was asked for has no id');
    this.#expected.set(operationId, expected);
  }

  /** Waits for its end; which ends are good is judged with all others, when the wave is over. */
  async ended(operationId: unknown, expected: Expected = well): Promise<Body> {
    this.expect(operationId, expected);
    return this.scene.operation(operationId);
  }

  /** The same of a deployment. */
  async deployed(environmentId: string, id: string, expected: Expected = well): Promise<Body> {
    const { operationId } = await this.ground.deployment(id, environmentId);
    this.expect(operationId, expected);
    return this.ground.ended(id, environmentId, 400_000);
  }
}
