import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readListening } from './sockets.ts';

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 0303000A:1F40 0100000A:C001 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000
   1: 00000000000000000000000001000000:0051 00000000000000000000000000000000:0000 0A 00000000:00000000
   2: 0000000000000000FFFF00000100007F:0052 00000000000000000000000000000000:0000 0A 00000000:00000000
   3: B80D0120000000000000000001000000:0053 00000000000000000000000000000000:0000 0A 00000000:00000000
`;

test('what listens is told by address and port, and what only the container itself reaches is known', () => {
  assert.deepEqual(
    readListening(table).map(({ address, port, isLoopback }) => `${address} ${port} ${isLoopback}`),
    [
      '127.0.0.1 3000 true',
      '0.0.0.0 8000 false',
      ':: 80 false',
      '::1 81 true',
      '::ffff:127.0.0.1 82 true',
      '2001:db8::1 83 false',
    ],
  );
});
