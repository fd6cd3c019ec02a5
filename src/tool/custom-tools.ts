/** Custom tools of agents, for calls and for trials over REST. */
import type { AccountStore } from '../domain/account/account-rules.ts';
import type { Agent, Scope } from '../domain/agent/agent.ts';
import type { NewId } from '../domain/ids.ts';
import type { CustomTool, CustomToolStore, ToolTrial } from '../domain/tool/custom-tool.ts';
import type { WebhookUrlRules } from '../domain/webhook/webhook-url.ts';
import type { Clock } from '../lib/clock.ts';
import type { SigningKeys } from '../webhook/signature.ts';
import { createHttpTool, type HttpToolParts } from './http-tool.ts';
import type { HttpToolClient } from './http-tool-client.ts';
import type { Tool } from './tool.ts';
import { Toolbox } from './toolbox.ts';

/** Trials that run at one time. */
const TRIALS_MAX = 4;

interface Options {
  readonly rules: WebhookUrlRules;
  readonly tools: CustomToolStore;
  readonly accounts: Pick<AccountStore, 'signingSecrets'>;
  /** Version of the server, for the `User-Agent`. */
  readonly version: string;
  readonly newId: NewId;
  readonly clock: Clock;
}

/** Makes tools of the records that agents list; all of them share one client. */
export class CustomTools {
  readonly #options: Options;
  #client: Promise<HttpToolClient> | undefined;
  #trials = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Tools of the next call of an agent. */
  async toolsOf(agent: Agent): Promise<readonly Tool[]> {
    const tools = await this.#options.tools.findAll(agent, agent.tools);
    return tools.map((tool) => createHttpTool(tool, this.#partsFor(agent)));
  }

  /** Runs a tool without a call. */
  readonly trial: ToolTrial = {
    run: async (tool, args, signal) => {
      if (this.#trials >= TRIALS_MAX) return null;
      this.#trials += 1;
      try {
        return await this.#try(tool, args, signal);
      } finally {
        this.#trials -= 1;
      }
    },
  };

  /** Ends requests in progress. Safe to call twice. */
  async stop(): Promise<void> {
    await (await this.#client)?.close();
  }

  async #try(tool: CustomTool, args: Readonly<Record<string, unknown>>, signal: AbortSignal) {
    const { clock } = this.#options;
    const startMs = clock.nowMs();
    const tools = [createHttpTool(tool, this.#partsFor(tool))];
    const box = new Toolbox({ tools, clock });
    const call = { id: 'trial', name: tool.name, arguments: args };
    const nothing = () => undefined;
    const noCall = {
      transfer: async () => undefined,
      sendDigits: nothing,
      collectDigits: async () => '',
      appointmentBooked: nothing,
    };
    const { isDone = false, text, problem = null } = await box.run(call, noCall, signal);
    return { isDone, text, problem, tookMs: Math.round(clock.nowMs() - startMs) };
  }

  /** The client of all tools; loads undici's hundred modules with the first request. */
  openClient(): Promise<HttpToolClient> {
    this.#client ??= this.#loadClient();
    return this.#client;
  }

  /** Keys that sign the requests of an account and environment. */
  async keysOf({ accountId, environment }: Scope): Promise<SigningKeys> {
    const { accounts, clock } = this.#options;
    const secrets = await accounts.signingSecrets(accountId, environment, clock.now());
    if (secrets === undefined) throw new Error('the account of the tool is gone');
    const others = [secrets.prepared, secrets.previous];
    return { secret: secrets.current, otherSecrets: others.filter((secret) => secret !== null) };
  }

  #partsFor(scope: Scope): HttpToolParts {
    const { clock, newId, rules } = this.#options;
    return {
      rules,
      client: () => this.openClient(),
      newRequestId: () => newId('req'),
      now: () => clock.now(),
      keys: () => this.keysOf(scope),
    };
  }

  async #loadClient(): Promise<HttpToolClient> {
    const { HttpToolClient } = await import('./http-tool-client.ts');
    const { rules, version } = this.#options;
    return new HttpToolClient({ rules, version });
  }
}
