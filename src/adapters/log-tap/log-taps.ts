/** One tap for each server that is watched; opened when it is first needed, and again when it broke. */
import type { ServerId } from '../../ids.ts';
import type { Remote } from '../../remote/remote.ts';
import { LogTap } from './log-tap.ts';

export class LogTaps {
  readonly #taps = new Map<ServerId, Promise<LogTap>>();

  async of(serverId: ServerId, remote: Remote): Promise<LogTap> {
    const known = this.#taps.get(serverId);
    if (known) {
      const tap = await known;
      return tap.isOver ? this.of(serverId, remote) : tap;
    }
    const forget = () => {
      if (this.#taps.get(serverId) === opening) this.#taps.delete(serverId);
    };
    const opening = LogTap.open(remote, forget);
    this.#taps.set(serverId, opening);
    opening.catch(forget);
    return opening;
  }
}
