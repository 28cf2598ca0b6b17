/**
 * A socket that sends what is written to it in one turn of the event loop together. The SSH library writes every packet
 * in three pieces; sent one by one they cost three calls to the kernel and, without Nagle's algorithm, three segments.
 */
import { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

export class GatheringSocket extends Socket {
  #isGathering = false;

  override write(data: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean {
    if (!this.#isGathering) {
      this.#isGathering = true;
      this.cork();
      process.nextTick(() => {
        this.#isGathering = false;
        this.uncork();
      });
    }
    return typeof encoding === 'string'
      ? super.write(data, encoding, done)
      : super.write(data, encoding ?? done);
  }
}
