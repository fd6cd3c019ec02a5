/** `admin operator …`: the one who signs in to the dashboard. */
import type { Command } from 'commander';
import { PASSWORD_SECRET } from '../operator/operator-password.ts';
import {
  atDesk,
  type Console,
  type Desk,
  patiently,
  type Result,
  showing,
} from './admin-command.ts';

export function addOperatorCommands(root: Command, console: Console): void {
  const operator = root.command('operator').description('the password of the dashboard');
  const command = operator
    .command('reset')
    .description(
      'forgets the password; the next start of the server prints a link that sets a new one',
    );
  showing(command, console, () => atDesk(console, reset));
}

/** A server that runs ends its sessions by itself: theirs is no longer the password. */
function reset({ store }: Desk): Result {
  const { secrets } = store;
  const known = secrets.find(PASSWORD_SECRET);
  const wasSet = known !== undefined;
  if (!patiently(() => secrets.exchange(PASSWORD_SECRET, known, undefined))) {
    throw new Error('Cannot forget the password: it was changed at the same moment; try again');
  }
  const news = wasSet
    ? 'The password is forgotten, and everybody is signed out.'
    : 'There was no password.';
  const text = `${news}\nStart the server again: it prints a link that sets one.`;
  return { text, json: { wasSet } };
}
