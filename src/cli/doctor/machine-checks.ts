/** `admin doctor`: Node, open files, the data folder, its disk, the database, and the clock. */
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { type Config, databaseFileOf } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { silentLogger } from '../../lib/logger.ts';
import { openStore } from '../../store/store.ts';
import type { Finding } from './finding.ts';

const NODE_MAJOR_MIN = 24;

/** Sockets of a call (RTP and RTCP), its recording, and its share of connections to models. */
const FILES_PER_CALL = 6;

/** Of the process itself: database, logs, models, listeners. */
const FILES_BESIDES = 200;

const MIB = 1024 * 1024;

/** A record that is younger than now by more than this means that the clock went back. */
const FUTURE_MS_MAX = 60_000;

/** Everything that needs neither the network nor a model. */
export async function machineFindings(config: Config): Promise<readonly Finding[]> {
  return [
    nodeFinding(process.versions.node),
    openFilesFinding(config.MAX_CALLS, readFileSync('/proc/self/limits', 'utf8')),
    folderFinding(config.DATA_DIR),
    diskFinding(config),
    await databaseFinding(config),
    clockFinding(config, Date.now()),
  ];
}

export function nodeFinding(version: string): Finding {
  const isNew = Number(version.split('.')[0]) >= NODE_MAJOR_MIN;
  return {
    check: 'Node',
    state: isNew ? 'ok' : 'wrong',
    found: `version ${version}`,
    advice: isNew ? undefined : `use Node ${NODE_MAJOR_MIN} or newer; "npm start" brings its own`,
  };
}

/** @param limits of `/proc/self/limits` */
export function openFilesFinding(maxCalls: number, limits: string): Finding {
  const check = 'open files';
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1];
  const needed = maxCalls * FILES_PER_CALL + FILES_BESIDES;
  if (soft === undefined) return { check, state: 'ok', found: 'the limit is unknown here' };
  const isEnough = soft === 'unlimited' || Number(soft) >= needed;
  return {
    check,
    state: isEnough ? 'ok' : 'wrong',
    found: `${soft} allowed, ${maxCalls} calls need about ${needed}`,
    advice: isEnough
      ? undefined
      : `raise the limit (LimitNOFILE=${needed} in the systemd unit, or ulimit -n), or lower MAX_CALLS`,
  };
}

function folderFinding(folder: string): Finding {
  const check = 'data folder';
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return { check, state: 'ok', found: `"${folder}" can be written` };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { check, state: 'ok', found: `"${folder}" is made at the first start` };
    }
    const advice = 'give it to the user of the server, or set DATA_DIR to another folder';
    return { check, state: 'wrong', found: `"${folder}" cannot be written`, advice };
  }
}

function diskFinding({ DATA_DIR, DISK_FREE_MIN_MB }: Config): Finding {
  const check = 'disk';
  try {
    const { bavail, bsize } = statfsSync(DATA_DIR);
    const freeMb = Math.floor((bavail * bsize) / MIB);
    const isEnough = freeMb >= DISK_FREE_MIN_MB;
    return {
      check,
      state: isEnough ? 'ok' : 'wrong',
      found: `${freeMb} MB free, DISK_FREE_MIN_MB is ${DISK_FREE_MIN_MB}`,
      advice: isEnough
        ? undefined
        : 'no recording begins: make room, or set a retention (PATCH /api/account)',
    };
  } catch {
    return { check, state: 'ok', found: 'known after the first start' };
  }
}

async function databaseFinding(config: Config): Promise<Finding> {
  const check = 'database';
  const file = databaseFileOf(config);
  try {
    accessSync(file);
  } catch {
    return { check, state: 'ok', found: `"${file}" is made at the first start` };
  }
  try {
    const sqlite = new Sqlite(file, { readonly: true, fileMustExist: true });
    const answer = sqlite.pragma('quick_check(1)', { simple: true });
    sqlite.close();
    if (answer !== 'ok') throw new Error(`it is damaged: ${String(answer)}`);
    const options = { file, clock: systemClock, log: silentLogger, mayMigrate: false };
    await (await openStore({ ...options, secretsKey: config.SECRETS_KEY })).close();
    return { check, state: 'ok', found: `"${file}" is sound` };
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    const advice = 'bring back a backup with "npm run admin -- restore <folder> --force"';
    return { check, state: 'wrong', found, advice };
  }
}

/** Compares the clock with the newest event on record: certificates, rate limits and webhooks need the right time. */
function clockFinding(config: Config, nowMs: number): Finding {
  const check = 'clock';
  const now = new Date(nowMs).toISOString();
  const newestMs = newestEventMs(databaseFileOf(config));
  if (newestMs === undefined || newestMs <= nowMs + FUTURE_MS_MAX) {
    return { check, state: 'ok', found: `${now}` };
  }
  const found = `${now}, and the newest event on record is of ${new Date(newestMs).toISOString()}`;
  return { check, state: 'wrong', found, advice: 'set the clock, and run an NTP client' };
}

function newestEventMs(file: string): number | undefined {
  try {
    const sqlite = new Sqlite(file, { readonly: true, fileMustExist: true });
    try {
      const query = sqlite.prepare('select max(created_at) from events').pluck();
      return (query.get() as number | null) ?? undefined;
    } finally {
      sqlite.close();
    }
  } catch {
    // Without a usable database there is nothing to compare with; the database has its own line.
    return undefined;
  }
}
