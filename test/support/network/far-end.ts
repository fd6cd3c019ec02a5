/** A telephone inside a network namespace: calls the given URI, and reports SIP responses and received audio. */
import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { NetworkNamespace } from './network-namespace.ts';

/** The tone that the telephone speaks, in hertz. */
export const FAR_END_HZ = 400;

const REPORTS_MS_MAX = 90_000;

/** A call as the telephone saw it, from its first request to its BYE. */
export interface FarEndCall {
  /** `answer` where the other side called. */
  readonly kind: 'call' | 'answer';
  readonly callId: string;
  readonly heardPackets: number;
  /** RTP packets that were louder than the noise of a line. */
  readonly voicedPackets: number;
  /** Whether the BYE was answered, or came. */
  readonly isEnded: boolean;
  /** URI of the other side's Contact. */
  readonly contact: string;
  /** Host of the top Via of a call that came in; empty otherwise. */
  readonly via: string;
  /** Address of the o-line. */
  readonly origin: string;
  /** Address of the c-line. */
  readonly media: string;
  /** Hold and resume: status and address of the c-line of each answer. */
  readonly reinvites: readonly string[];
}

export type FarEndReport =
  | FarEndCall
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly why: string };

export class FarEnd {
  readonly #child: ChildProcess;
  readonly #calls: FarEndCall[] = [];
  readonly #failures: string[] = [];
  readonly #ready = Promise.withResolvers<void>();
  #errors = '';

  /** Starts it; await `ready` before use. It ends with the namespace. */
  constructor(
    namespace: NetworkNamespace,
    { address, port = 5060 }: { address: string; port?: number },
  ) {
    this.#child = namespace.startNode('far-end-process.ts', address, String(port));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors += chunk.toString();
    });
    this.#child.on('exit', () =>
      this.#ready.reject(new Error(`The telephone ended: ${this.#errors}`)),
    );
    this.#ready.promise.catch(() => undefined);
    const { stdout } = this.#child;
    if (stdout !== null) createInterface(stdout).on('line', (line) => this.#take(JSON.parse(line)));
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Begins a call. */
  call(uri: string): void {
    this.#child.stdin?.write(`${JSON.stringify({ call: uri })}\n`);
  }

  /**
   * Takes the reports of the next calls that are over.
   *
   * @throws {Error} when a call has failed, or they are not over in 90 s.
   */
  async reports(count: number): Promise<readonly FarEndCall[]> {
    const deadlineMs = performance.now() + REPORTS_MS_MAX;
    while (this.#calls.length < count) {
      const [failure] = this.#failures;
      if (failure !== undefined) throw new Error(`A call failed: ${failure}`);
      if (performance.now() > deadlineMs) {
        throw new Error(`${this.#calls.length} of ${count} calls are over ${this.#errors}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return this.#calls.splice(0, count);
  }

  #take(report: FarEndReport): void {
    switch (report.kind) {
      case 'ready':
        this.#ready.resolve();
        break;
      case 'failed':
        this.#failures.push(report.why);
        break;
      case 'call':
      case 'answer':
        this.#calls.push(report);
        break;
      default:
        report satisfies never;
    }
  }
}
