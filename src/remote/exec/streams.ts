/**
 * A running command as streams, with back-pressure both ways. They differ from the channel's own in one thing that
 * matters: when the connection breaks they fail, where the channel would just end, as if everything had arrived.
 */
import { PassThrough, type Readable, Writable } from 'node:stream';
import { Fault } from '../../fault.ts';
import type { RemoteStream } from '../remote.ts';
import type { RemoteProcess } from './remote-process.ts';

export function openStreams(process: RemoteProcess): RemoteStream {
  const { channel, ended } = process;
  const stdout = passThrough(channel, process);
  const stderr = passThrough(channel.stderr, process);
  const stdin = new Writable({
    highWaterMark: 256 * 1024,
    // Not one chunk after the other: what the channel still takes is encrypted and sent together. Where it takes no
    // more, it says when it does; where it never does again, the end of the process ends this stream.
    write: (chunk, _encoding, done) => {
      if (channel.write(chunk)) done();
      else channel.once('drain', done);
    },
    // Finished is what was sent, not what the channel still holds.
    final: (done) => void channel.end(() => done()),
  });
  for (const stream of [stdin, stdout, stderr]) {
    // Readers and writers get an error as usual; without a listener it must not end the whole service.
    stream.on('error', () => undefined);
  }
  ended.then(
    () => {
      stdout.end();
      stderr.end();
      if (!stdin.writableFinished) stdin.destroy(inputLeft());
    },
    (error) => {
      for (const stream of [stdin, stdout, stderr]) stream.destroy(error);
    },
  );
  return { stdin, stdout, stderr, ended };
}

function passThrough(from: Readable, process: RemoteProcess): PassThrough {
  const to = new PassThrough({ highWaterMark: 256 * 1024 });
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  process.ended.then(over, over);
  to.once('close', () => {
    if (!isOver)
      void process.kill(new Fault('remote_failed', 'The output of the command was not read to its end.'));
  });
  from.pipe(to, { end: false });
  return to;
}

function inputLeft(): Fault {
  return new Fault('remote_failed', 'The command ended before it had read all of its input.');
}
