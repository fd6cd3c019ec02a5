/** Whether this process may give real-time priority, which media threads then have. */
import { execFileSync } from 'node:child_process';

export function mayRunRealTime(): boolean {
  try {
    execFileSync('chrt', ['-f', '10', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
