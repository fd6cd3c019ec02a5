/**
 * Stands in a network namespace and passes connections on: from a Unix socket, which every namespace sees, to a port
 * of its own 127.0.0.1.
 *
 * `namespace-relay PATH PORT`: prints `listening`, and runs until its input ends.
 */
import { connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

const [path = '', port] = process.argv.slice(2);
const server = createServer((inside) => {
  const outside = connect(Number(port), '127.0.0.1');
  // Whichever side ends or fails, the other one is closed with it.
  pipeline(inside, outside, () => undefined);
  pipeline(outside, inside, () => undefined);
});
server.listen(path, () => process.stdout.write('listening\n'));
process.stdin.resume();
process.stdin.once('close', () => process.exit());
