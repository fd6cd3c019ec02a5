/**
 * Preload of a server (`node --import`): writes which functions of `src` the main thread enters between an INVITE's
 * arrival and its first 200, one file of JSON per call, to the folder that the query of its URL names.
 */
import { Socket } from 'node:dgram';
import { writeFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

const folder = new URL(import.meta.url).searchParams.get('folder') ?? '.';

if (isMainThread && process.argv[1]?.endsWith('src/main.ts') === true) watch();

function watch(): void {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const answered = new Set<string>();
  const { emit, send } = Socket.prototype;
  Socket.prototype.emit = function (event: string, ...rest: unknown[]) {
    const isInvite = event === 'message' && String(rest[0]).startsWith('INVITE ');
    // Counts begin again at zero.
    if (isInvite) session.post('Profiler.takePreciseCoverage');
    return Reflect.apply(emit, this, [event, ...rest]) as boolean;
  };
  Socket.prototype.send = function (...values: unknown[]) {
    Reflect.apply(send, this, values);
    const text = String(values[0]);
    const callId = /^Call-ID: *(\S+)/im.exec(text)?.[1];
    if (!/^SIP\/2\.0 200/.test(text) || callId === undefined || answered.has(callId)) return;
    answered.add(callId);
    session.post('Profiler.takePreciseCoverage', (_error, taken) => {
      const path = join(folder, `${answered.size}.json`);
      writeFileSync(path, JSON.stringify(entered(taken.result)));
    });
  };
}

/** Names of entered functions, by file below `src`. */
function entered(scripts: readonly Profiler.ScriptCoverage[]): Record<string, string[]> {
  const files: Record<string, string[]> = {};
  for (const { url, functions } of scripts) {
    const file = /^(?!.*node_modules).*\/src\/(.*)$/.exec(url)?.[1];
    const names = functions
      .filter(({ ranges }) => ranges.some(({ count, startOffset }) => count > 0 && startOffset > 0))
      .map(({ functionName }) => functionName || '(anonymous)');
    if (file !== undefined && names.length > 0) files[file] = names;
  }
  return files;
}
