/** `rest-ours FILE`: our interface behind our HTTP port. Prints `listening PORT`, runs until its input ends. */
import { startRestServer } from '../lib/rest-server.ts';

const [file = ''] = process.argv.slice(2);
const { server, port } = await startRestServer(file);
console.log(`listening ${port}`);
process.stdin.resume();
process.stdin.once('close', () => void server.stop().then(() => process.exit(0)));
