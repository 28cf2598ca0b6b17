/**
 * Git starts this in place of ssh. It joins its standard input and output to the channel it inherited, at whose other
 * end the service speaks SSH itself: no key, no known_hosts and no ssh client are needed here.
 */
import { Socket } from 'node:net';

const service = new Socket({ fd: 3 });
process.stdin.pipe(service);
service.pipe(process.stdout);
